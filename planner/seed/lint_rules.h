// What is odd about a rule set.
#pragma once

#include "planner/seed/seed.h"

#include <span>

namespace shard {

// Warnings about the rule set: unused, shadowed, blocked everywhere, logical axis without a rule, linen/nnx
// disagreement, large parameters left replicated. What is allowed is left out.
void lint_rules(const Graph& graph, const Layout& layout, const Seeds& seeds, Allowances& allowances,
                Diagnostics& diagnostics);

// Whether W0306 would be said: linen and nnx semantics give some array other shardings, and the layout does not say which
// is meant.
bool depends_on_semantics(const Graph& graph, const Layout& layout);

// W0302 for rules whose logical axis no array has: one warning for all of them.
void warn_of_unused(std::span<const AxisRule> rules, Diagnostics& diagnostics);

} // namespace shard
