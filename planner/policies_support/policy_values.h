// What values of policies are written as.
#pragma once

#include "planner/model/declarations.h"
#include "planner/model/policy.h"
#include "planner/policies_support/contributors.h"

namespace shard {

// Each reports what is wrong.
std::optional<i64> read_limit_count(const Yaml& yaml, std::string_view what, i64 least, Diagnostics& diagnostics);
std::optional<std::string> read_collective_kind(const Yaml& yaml, std::string_view what, Diagnostics& diagnostics);
// Not empty, a name alone stands for a list of it.
std::optional<std::vector<Name>> read_axis_names(const Yaml& yaml, std::string_view what, Diagnostics& diagnostics);
std::string axes_text(std::span<const Name> axes); // "data and model"
// The items of a list; none, after reporting, of anything else. `example` says how it is written.
const YamlList& read_policy_list(const Yaml& yaml, std::string_view what, std::string_view example,
                                 Diagnostics& diagnostics);

// Arrays by path and size: "block.*.w1", or {match: "**", role: param, min_bytes: 16 MiB, over: model}.
struct ArrayPattern {
    std::string glob = "**";
    std::optional<Role> role;
    i64 min_bytes = 0;      // of the whole array
    std::vector<Name> over; // mesh axes, where the policy speaks of some
};
std::optional<ArrayPattern> read_array_pattern(const Yaml& yaml, std::string_view what, bool with_axes,
                                               Diagnostics& diagnostics);
// What it matches; W0402 if no name is as the pattern says.
TensorReports matching(const ArrayPattern& pattern, const Plan& plan, Span place, Diagnostics& diagnostics);

// Where in the text of `place` the name stands.
Span place_of(const Name& name, Span place);
// "did you mean 'model'?", of an axis that the mesh does not have, or empty.
std::string near_axis(const Mesh& mesh, std::string_view name);
// nullopt where the mesh has none of this name, which a policy of several layouts is not about; W0402 where it is nearly
// the name of one.
std::optional<int> find_axis(const Mesh& mesh, const Name& name, Span place, Diagnostics& diagnostics);

// Whether a list of axes has some or all of this mesh axis.
bool has_axis(std::span<const AxisRef> axes, int axis);

} // namespace shard
