// Arrays whose dims carry logical names, and the rules that a layout has for them.
#pragma once

#include "planner/graph/graph.h"
#include "planner/seed/rule_outcome.h"

namespace shard {

// An input, a parameter, or what a constraint says of a value.
struct NamedArray {
    std::vector<std::string> names;   // per dim; "" unnamed, "?" unconstrained
    std::vector<AxisRule> own;        // the variable's own rules
    Span span;                        // its declaration, or the constraint
    std::string what = {};            // "parameter 'w1'", for messages
    std::vector<ValueId> values = {}; // inputs and parameters that are declared so; none of a constraint
};

// Inputs and parameters with axes, then constraints by logical axes; the copies of a repeated module count once.
std::vector<NamedArray> named_arrays(const Graph& graph);

// The rules in the order in which RuleOutcome numbers them. Linen: a variable's own rules stand in for the layout's;
// nnx: they follow them.
std::vector<AxisRule> rules_of(const Layout& layout, const NamedArray& array);

// By the rules' semantics, linen or nnx; nullopt after reporting.
std::optional<RuleOutcome> apply_rules(const Layout& layout, const NamedArray& array, Diagnostics& diagnostics);

} // namespace shard
