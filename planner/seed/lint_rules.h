// What is odd about a rule set.
#pragma once

#include "planner/seed/seed.h"

namespace shard {

// Warnings about the rule set: unused, shadowed, blocked everywhere, logical axis without a rule, linen/nnx
// disagreement, large parameters left replicated. What is allowed is left out.
void lint_rules(const Graph& graph, const Layout& layout, const Seeds& seeds, Allowances& allowances,
                Diagnostics& diagnostics);

} // namespace shard
