#include "planner/partition/xla_gathers.h"

#include "planner/graph/op_def.h"
#include "planner/graph/verify_loops.h"

#include <algorithm>

namespace shard {

namespace {

constexpr int most_distance = 103, inside_attention = 6;

// Attention is one op here, and to XLA two products with a softmax between them, to which the values come last.
int ops_inside(const Node& node, int operand) {
    if (!node.op() || node.op()->op_class != OpDef::Class::contraction || node.inputs.size() <= 2) return 0;
    const std::vector<int>& linear = node.op()->linear_in;
    return std::find(linear.begin(), linear.end(), operand) != linear.end() ? 0 : inside_attention;
}

std::vector<int> heights_of(const Graph& graph) {
    std::vector<int> heights(graph.nodes.size()), of_value(graph.values.size());
    for (NodeId id = static_cast<NodeId>(graph.nodes.size()); id-- > 0;) {
        const Node& node = graph.node(id);
        for (ValueId output : node.outputs) heights[id] = std::max(heights[id], of_value[output] + 1);
        if (node.opens() >= 0) heights[id] = heights[graph.loops[node.opens()].closes];
        if (node.closes() >= 0) continue; // what it reads is at the end of a body
        for (size_t i = 0; i < node.inputs.size(); ++i) {
            const ValueId input = node.inputs[i];
            if (graph.value(input).loop == node.loop || node.opens() >= 0)
                of_value[input] = std::max(of_value[input], heights[id] + ops_inside(node, static_cast<int>(i)));
        }
    }
    return heights;
}

} // namespace

XlaGathers::XlaGathers(const Graph& graph) : heights_(heights_of(graph)) {}

void XlaGathers::make(ValueId form, NodeId reader) {
    if (reader >= 0) readers_[form] = heights_[reader];
}

bool XlaGathers::keeps(ValueId form, NodeId reader) {
    const std::map<ValueId, int>::iterator known = readers_.find(form);
    if (known == readers_.end() || reader < 0) return true;
    if (known->second > heights_[reader] + most_distance) return false;
    known->second = std::min(known->second, heights_[reader]);
    return true;
}

} // namespace shard
