// Collectives as the ops of a manual region.
#pragma once

#include "planner/redistribute/redistribute.h"

namespace shard {

// "data", or "[data, model]"; nullopt where an axis is a part of a mesh axis, which a region cannot name.
std::optional<std::string> over_form(const Mesh& mesh, std::span<const AxisRef> axes);
// One op for each dim that grows or shrinks, with {} in the place of its operand: "psum: {}, over: data". nullopt for
// what has no such op.
std::optional<std::vector<std::string>> manual_form(const Mesh& mesh, const Collective& collective);
std::optional<std::vector<std::string>> manual_form(const Mesh& mesh, const RedistributionStep& step);

} // namespace shard
