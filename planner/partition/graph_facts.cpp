#include "planner/partition/graph_facts.h"

#include "planner/graph/memo_key.h"
#include "planner/graph/op_def.h"
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

} // namespace

GraphFacts::GraphFacts(const Graph& graph)
    : users(users_of(graph)), gradient_sums(shard::gradient_sums(graph)), classes(graph) {
    for (int number = 0; number < classes.count(); ++number)
        contents.push_back(content_of(graph, classes.first_of(number)));
}

} // namespace shard
