#include "planner/passes.h"

#include <algorithm>

namespace shard {

std::vector<Pass> passes_of(const Graph& graph) {
    std::vector<bool> of_gradients(graph.values.size()), forward(graph.values.size()), backward(graph.values.size());
    for (size_t v = 0; v < graph.values.size(); ++v)
        of_gradients[v] = backward[v] = graph.values[v].role == Role::gradient;
    const auto any = [](const std::vector<bool>& flags, const std::vector<ValueId>& ids) {
        return std::any_of(ids.begin(), ids.end(), [&](ValueId id) { return flags[static_cast<size_t>(id)]; });
    };
    const auto mark = [](std::vector<bool>& flags, const std::vector<ValueId>& ids) {
        for (ValueId id : ids) flags[static_cast<size_t>(id)] = true;
    };
    for (const Node& node : graph.nodes)
        if (any(of_gradients, node.inputs)) mark(of_gradients, node.outputs);
    for (ValueId id : graph.outputs)
        if (!of_gradients[static_cast<size_t>(id)]) forward[static_cast<size_t>(id)] = true;
    if (graph.loss >= 0) forward[static_cast<size_t>(graph.loss)] = true;
    std::vector<Pass> passes(graph.nodes.size(), Pass::update);
    for (size_t n = graph.nodes.size(); n-- > 0;) {
        const Node& node = graph.nodes[n];
        if (any(forward, node.outputs)) {
            passes[n] = Pass::forward;
            mark(forward, node.inputs);
        } else if (any(backward, node.outputs)) {
            passes[n] = Pass::backward;
            mark(backward, node.inputs);
        }
    }
    return passes;
}

} // namespace shard
