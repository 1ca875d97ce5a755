#include "planner/graph/train_phases.h"

#include <algorithm>

namespace shard {

std::vector<Phase> train_phases_of(const Graph& graph) {
    std::vector<bool> of_gradients(graph.values.size()), forward(graph.values.size()), backward(graph.values.size());
    for (size_t v = 0; v < graph.values.size(); ++v)
        of_gradients[v] = backward[v] = graph.values[v].role == Role::gradient;
    const auto any = [](const std::vector<bool>& flags, const std::vector<ValueId>& ids) {
        return std::any_of(ids.begin(), ids.end(), [&](ValueId id) { return flags[id]; });
    };
    const auto mark = [](std::vector<bool>& flags, const std::vector<ValueId>& ids) {
        for (ValueId id : ids) flags[id] = true;
    };
    // At a loop's markers each value goes its own way: the end of the loop over microbatches yields loss and gradients.
    const auto pairs = [](std::vector<bool>& flags, const std::vector<ValueId>& from, const std::vector<ValueId>& to) {
        for (size_t i = 0; i < from.size(); ++i)
            if (flags[from[i]]) flags[to[i]] = true;
    };
    for (const Node& node : graph.nodes) {
        if (node.op() == nullptr)
            pairs(of_gradients, node.inputs, node.outputs);
        else if (any(of_gradients, node.inputs))
            mark(of_gradients, node.outputs);
    }
    for (ValueId id : graph.outputs)
        if (!of_gradients[id]) forward[id] = true;
    if (graph.loss >= 0) forward[graph.loss] = true;
    std::vector<Phase> phases(graph.nodes.size(), Phase::update);
    const auto sweep = [&] {
        for (size_t n = graph.nodes.size(); n-- > 0;) {
            const Node& node = graph.nodes[n];
            if (node.op() == nullptr) {
                phases[n] = any(forward, node.outputs) ? Phase::forward : Phase::backward;
                pairs(forward, node.outputs, node.inputs);
                pairs(backward, node.outputs, node.inputs);
            } else if (any(forward, node.outputs)) {
                phases[n] = Phase::forward;
                mark(forward, node.inputs);
            } else if (any(backward, node.outputs) && !any(of_gradients, node.inputs)) { // else it clips gradients
                phases[n] = Phase::backward;
                mark(backward, node.inputs);
            }
        }
    };
    // What the next trip reads is of the pass that reads it, also where nobody reads what the last trip made.
    const auto carry = [&graph](std::vector<bool>& flags) {
        bool more = false;
        for (const GraphLoop& loop : graph.loops)
            for (const GraphLoop::Carried& carried : loop.carried)
                if (flags[carried.argument] && !flags[carried.yield]) more = flags[carried.yield] = true;
        return more;
    };
    for (bool more = true; more;) {
        sweep();
        const bool more_forward = carry(forward);
        more = carry(backward) || more_forward;
    }
    return phases;
}

} // namespace shard
