// Logical-axis rules as flax.nnx applies them (docs/layout.md).
#pragma once

#include "planner/seed/rule_outcome.h"

namespace shard {

// `context` are the layout's rules; the variable's own may repeat them, not contradict them (E0315). A name without a
// rule is that of a mesh axis, or E0316. `names`: by dim of the array.
std::optional<RuleOutcome> apply_rules_nnx(const Mesh& mesh, std::span<const AxisRule> context,
                                           std::span<const AxisRule> own, std::span<const std::string> names, Span span,
                                           Diagnostics& diagnostics, MissingAxes missing = MissingAxes::error);

} // namespace shard
