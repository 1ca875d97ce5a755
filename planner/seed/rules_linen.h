// Logical-axis rules as flax.linen applies them (docs/layout.md).
#pragma once

#include "planner/seed/rule_outcome.h"

namespace shard {

// One name per dim, "" = unnamed, "?" = unconstrained. Reports duplicate names and duplicate mesh axes. Mesh axes that
// the mesh lacks are left out of rules (seed_shardings reports them first).
std::optional<RuleOutcome> apply_rules_linen(const Mesh& mesh, std::span<const AxisRule> rules,
                                             std::span<const std::string> names, Span span, Diagnostics& diagnostics);

} // namespace shard
