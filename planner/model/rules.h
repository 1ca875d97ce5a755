// What the two semantics of logical-axis rules share.
#pragma once

#include "planner/model/layout.h"

namespace shard {

// The entry of a dim in a list of logical names.
inline bool is_unnamed(std::string_view name) { return name.empty(); }
inline bool is_unconstrained(std::string_view name) { return name == "?"; }

// As the user wrote it: "{embed: [fsdp, tensor]}".
std::string text(const AxisRule& rule);

// The rule's mesh axes, major to minor. Axes that the mesh lacks are left out: check_rule_axes has judged them.
std::vector<AxisRef> rule_axes(const Mesh& mesh, const AxisRule& rule);

// Reports E0310 for every mesh axis that a rule names and the mesh lacks.
void check_rule_axes(const Mesh& mesh, std::span<const AxisRule> rules, Diagnostics& diagnostics);

// "the mesh has data, model", for messages.
std::string mesh_axes_text(const Mesh& mesh);
std::vector<std::string_view> mesh_axis_names(const Mesh& mesh);

// Which axes there are, and what to write in place of a name that is none of them.
void suggest_axis(DiagnosticBuilder& error, std::string_view name, const Mesh& mesh);

// "dim 1 (embed)" or "dim 1".
std::string dim_text(size_t dim, std::string_view logical);

} // namespace shard
