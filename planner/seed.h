// The seed pass: rules, overrides, fsdp and constraints -> the initial sharding of inputs, parameters, their states and
// gradients, and constrained values.
#pragma once

#include "planner/decision.h"
#include "planner/graph.h"
#include "planner/layout.h"

namespace shard {

class Allowances;

// Logical names of one array -> one mesh-axes list per dim, with the reason of every assignment.
struct RuleOutcome {
    struct Dim {
        std::vector<AxisRef> axes;
        bool open = false; // unconstrained
        int rule = -1;     // the rule that assigned it, -1 = none; nnx: own rules count on from the layout's
    };
    struct Rejected {
        int rule = -1;
        std::string reason; // "mesh axis 'model' is already used by dim 0 (hidden)"
    };
    std::vector<Dim> dims;
    std::vector<Rejected> rejected;
};
// One name per dim, "" = unnamed, "?" = unconstrained. Reports duplicate names and duplicate mesh axes. Mesh axes that
// the mesh lacks are left out of rules (seed_shardings reports them first); nnx: `missing` is about names without a
// rule.
std::optional<RuleOutcome> apply_rules_linen(const Mesh& mesh, std::span<const AxisRule> rules,
                                             std::span<const std::string> names, Span span, Diagnostics& diagnostics);
std::optional<RuleOutcome> apply_rules_nnx(const Mesh& mesh, std::span<const AxisRule> context,
                                           std::span<const AxisRule> own, std::span<const std::string> names, Span span,
                                           Diagnostics& diagnostics, MissingAxes missing = MissingAxes::error);

// A sharding written by mesh axes, checked against mesh, rank and shape: axis exists, at most once, dim divides
// (the message names dim, size, parts and what would divide).
std::optional<Sharding> resolve_spec(const Mesh& mesh, const ShardingSpec& spec, const TensorType& type,
                                     Diagnostics& diagnostics);

// Dims of parameters, states and gradients that are split for storage alone have this priority, which comes after all
// that a user may write. How something is stored never leads: these dims only propagate through the optimizer's update.
constexpr int storage_priority = 1001;

struct Seeds {
    std::vector<std::optional<Sharding>> values; // by ValueId; nullopt = none (open)
    // Constrain nodes: by NodeId, what the result must be; nullopt for other nodes.
    std::vector<std::optional<Sharding>> constraints;
    // Outputs: by output index, what the layout asks of the returned value.
    std::vector<std::optional<Sharding>> outputs;
    // By ValueId, parameters that `fsdp` splits: what ops read instead (planner/gather_parameters.h).
    std::vector<std::optional<Sharding>> gathered;
    DecisionLog log; // a decision per axis seeded
    std::vector<std::string>
        rejected_by_value; // by ValueId, text for explain: which rules were rejected and why; empty if none
};

std::optional<Seeds> seed_shardings(const Graph& graph, const Layout& layout, Diagnostics& diagnostics);
// Warnings about the rule set: unused, shadowed, blocked everywhere, logical axis without a rule, linen/nnx
// disagreement, large parameters left replicated. What is allowed is left out.
void lint_rules(const Graph& graph, const Layout& layout, const Seeds& seeds, Allowances& allowances,
                Diagnostics& diagnostics);

} // namespace shard
