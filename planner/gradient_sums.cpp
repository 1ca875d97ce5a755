#include "planner/gradient_sums.h"

#include "planner/op_def.h"

#include <algorithm>

namespace shard {

bool has_reduction(const Graph& graph, const Node& node) {
    std::vector<TensorType> operands, results;
    for (ValueId input : node.inputs) operands.push_back(graph.value(input).type);
    for (ValueId output : node.outputs) results.push_back(graph.value(output).type);
    const IndexRule rule = node.op->rule(operands, results, node.attributes);
    return std::any_of(rule.factors.begin(), rule.factors.end(),
                       [](const Factor& factor) { return factor.kind == FactorKind::reduction; });
}

namespace {

// The operands whose sums the op passes on: it is linear in them, and others are numbers that scale them.
std::vector<ValueId> passes_on(const Graph& graph, const Node& node) {
    if (node.op->jointly_linear) return node.inputs;
    std::vector<ValueId> passed;
    std::vector<TensorType> operands, results;
    for (ValueId id : node.inputs) operands.push_back(graph.value(id).type);
    for (ValueId id : node.outputs) results.push_back(graph.value(id).type);
    for (int i : linear_operands(*node.op, operands, results)) {
        bool scales = true;
        for (size_t other = 0; other < node.inputs.size(); ++other)
            scales = scales && (static_cast<int>(other) == i || graph.value(node.inputs[other]).type.rank() == 0);
        if (scales) passed.push_back(node.inputs[static_cast<size_t>(i)]);
    }
    return passed;
}

} // namespace

std::vector<bool> gradient_sums(const Graph& graph) {
    std::vector<bool> found(graph.nodes.size());
    std::vector<ValueId> open;
    for (ValueId id = 0; id < static_cast<ValueId>(graph.values.size()); ++id)
        if (graph.value(id).role == Role::gradient) open.push_back(id);
    while (!open.empty()) {
        const ValueId id = open.back();
        const NodeId producer = graph.value(id).producer;
        open.pop_back();
        if (producer < 0 || found[static_cast<size_t>(producer)]) continue;
        const Node& node = graph.node(producer);
        if (node.closes >= 0) // a sum over trips, or a stack of gradients, is a gradient in every trip
            for (size_t n = 0; n < node.outputs.size(); ++n)
                if (node.outputs[n] == id) open.push_back(node.inputs[n]);
        if (node.op == nullptr) continue;
        if (has_reduction(graph, node))
            found[static_cast<size_t>(producer)] = true;
        else
            for (ValueId input : passes_on(graph, node)) {
                open.push_back(input);
                found[static_cast<size_t>(producer)] = node.loop >= 0;
            }
    }
    return found;
}

void store_sums_as_gradients(const Graph& graph, Shardings& shardings) {
    for (const GraphLoop& loop : graph.loops)
        for (const GraphLoop::Sum& sum : loop.sums) {
            if (sum.becomes < 0 || sum.reduce == GradientReduce::end) continue;
            const Sharding& gradient = shardings[static_cast<size_t>(sum.becomes)];
            const NodeId producer = graph.value(sum.term).producer;
            shardings[static_cast<size_t>(sum.result)] = gradient;
            if (producer >= 0 && graph.node(producer).closes >= 0) shardings[static_cast<size_t>(sum.term)] = gradient;
        }
}

} // namespace shard
