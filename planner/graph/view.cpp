#include "planner/graph/view.h"

#include "planner/graph/op_def.h"
#include "planner/graph/types_of.h"

#include <algorithm>
#include <variant>

namespace shard {

bool is_view(const Graph& graph, const Node& node) {
    if (node.kernel() == nullptr) return false;
    const Move* move = std::get_if<Move>(node.kernel());
    return move != nullptr && move->flat &&
           graph.value(node.inputs[0]).type.dtype == graph.value(node.outputs[0]).type.dtype;
}

std::vector<int> updates_by_output(const Graph& graph) {
    std::vector<int> result(graph.outputs.size(), -1);
    if (graph.updates.empty()) return result;
    // One value may be several outputs: the one that is called like the input, else the first.
    std::multimap<ValueId, size_t> places;
    for (size_t o = 0; o < graph.outputs.size(); ++o) places.emplace(graph.outputs[o], o);
    for (size_t u = 0; u < graph.updates.size(); ++u) {
        const auto [begin, end] = places.equal_range(graph.updates[u].output);
        internal_check(begin != end, "an update is an output");
        const std::string& name = graph.value(graph.updates[u].input).name;
        std::multimap<ValueId, size_t>::iterator at =
            std::find_if(begin, end, [&](const auto& place) { return graph.output_names[place.second] == name; });
        if (at == end) at = begin;
        result[at->second] = static_cast<int>(u);
        places.erase(at);
    }
    return result;
}

bool has_reduction(const Graph& graph, const Node& node) {
    const std::vector<TensorType> operands = types_of(graph, node.inputs), results = types_of(graph, node.outputs);
    const IndexRule rule = node.op()->rule(operands, results, node.attributes());
    return std::any_of(rule.factors.begin(), rule.factors.end(),
                       [](const Factor& factor) { return factor.kind == FactorKind::reduction; });
}

} // namespace shard
