// The seed pass: rules, overrides, fsdp and constraints -> the initial sharding of inputs, parameters, their states and
// gradients, and constrained values.
#pragma once

#include "planner/graph/decision.h"
#include "planner/graph/graph.h"
#include "planner/model/layout.h"

namespace shard {

class Allowances;

// Dims of parameters, states and gradients that are split for storage alone have this priority, which comes after all
// that a user may write. How something is stored never leads: these dims only propagate through the optimizer's update.
constexpr int storage_priority = 1001;

struct Seeds {
    std::vector<std::optional<Sharding>> values; // by ValueId; nullopt = none (open)
    // Constrain nodes: by NodeId, what the result must be; nullopt for other nodes.
    std::vector<std::optional<Sharding>> constraints;
    // Outputs: by output index, what the layout asks of the returned value.
    std::vector<std::optional<Sharding>> outputs;
    // By ValueId, parameters that `fsdp` splits: what ops read instead (planner/rewrite/gather_parameters.h).
    std::vector<std::optional<Sharding>> gathered;
    DecisionLog log;                            // a decision per axis seeded
    std::vector<std::string> rejected_by_value; // by ValueId, for explain: which rules were rejected and why
};

// The pass; nullopt after reporting.
std::optional<Seeds> seed_shardings(const Graph& graph, const Layout& layout, Diagnostics& diagnostics);

} // namespace shard
