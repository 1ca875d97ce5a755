#include "planner/partition/graph_facts.h"

#include "planner/graph/memo_key.h"
#include "planner/graph/op_def.h"
#include "planner/graph/types_of.h"
#include "planner/graph/view.h"
#include "planner/partition/gradient_sums.h"

namespace shard {

namespace {

std::string content_of(const Graph& graph, NodeId id) {
    const Node& node = graph.node(id);
    MemoKey key;
    key.add(node.op()->name).add(node.attributes()).add(static_cast<i64>(node.inputs.size()));
    for (const ValueId input : node.inputs) key.add(graph.value(input).type);
    for (const ValueId output : node.outputs) key.add(graph.value(output).type);
    return key.text();
}

std::vector<int> passed_on(const Graph& graph, const Node& node) {
    std::vector<int> passed;
    if (node.op()->jointly_linear) {
        for (size_t i = 0; i < node.inputs.size(); ++i) passed.push_back(static_cast<int>(i));
        return passed;
    }
    const std::vector<TensorType> operands = types_of(graph, node.inputs), results = types_of(graph, node.outputs);
    for (int i : linear_operands(*node.op(), operands, results)) {
        bool scales = true;
        for (size_t other = 0; other < operands.size(); ++other)
            scales = scales && (static_cast<int>(other) == i || operands[other].rank() == 0);
        if (scales) passed.push_back(i);
    }
    return passed;
}

} // namespace

GraphFacts::GraphFacts(const Graph& graph) : users(graph), classes(graph) {
    for (int number = 0; number < classes.count(); ++number) {
        const NodeId first = classes.first_of(number);
        const Node& node = graph.node(first);
        contents.push_back(content_of(graph, first));
        sums_.push_back({node.op()->rule != nullptr && shard::has_reduction(graph, node), passed_on(graph, node)});
    }
    GradientSums sums = shard::gradient_sums(graph, *this);
    gradient_sums = std::move(sums.made);
    held_sums = std::move(sums.held);
}

} // namespace shard
