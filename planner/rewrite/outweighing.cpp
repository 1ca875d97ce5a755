#include "planner/rewrite/outweighing.h"

#include "planner/graph/op_def.h"
#include "planner/graph/train_phases.h"

#include <algorithm>

namespace shard {

namespace {

i64 elements(const Graph& graph, ValueId id) { return graph.value(id).type.elements(); }

// The largest of what a reader multiplies it with: numbers, not places.
i64 largest_other(const Graph& graph, const Node& node, ValueId of) {
    i64 largest = -1;
    for (const ValueId input : node.inputs)
        if (input != of && is_floating(graph.value(input).type.dtype))
            largest = std::max(largest, elements(graph, input));
    return largest;
}

enum class Met { by_none, as_elements, by_more, by_less };

// By whom the values are met that are made of one parameter alone, from `first` on.
struct Meetings {
    const Graph& graph;
    const std::vector<Phase>& phases;
    const std::vector<std::vector<NodeId>>& readers;

    Met of(ValueId first) const {
        Met met = Met::by_none;
        std::vector<ValueId> open = {first};
        while (!open.empty()) {
            const ValueId value = open.back();
            open.pop_back();
            for (const NodeId id : readers[static_cast<size_t>(value)]) {
                const Node& node = graph.node(id);
                if (node.op() == nullptr || phases[static_cast<size_t>(id)] == Phase::update) continue;
                met = std::max(met, Met::as_elements);
                if (node.inputs.size() == 1) {
                    if (node.op()->op_class != OpDef::Class::broadcast)
                        open.insert(open.end(), node.outputs.begin(), node.outputs.end());
                    continue;
                }
                if (node.op()->op_class == OpDef::Class::pointwise) continue;
                const i64 made = elements(graph, node.outputs[0]), other = largest_other(graph, node, value);
                if ((other < 0 ? made : std::min(made, other)) < elements(graph, value)) return Met::by_less;
                met = Met::by_more;
            }
        }
        return met;
    }
};

} // namespace

std::vector<ValueId> outweighing_parameters(const Graph& graph, const Seeds& seeds) {
    const std::vector<Phase> phases = train_phases_of(graph);
    std::vector<std::vector<NodeId>> readers(graph.values.size());
    for (NodeId id = 0; id < std::ssize(graph.nodes); ++id)
        for (const ValueId input : graph.node(id).inputs) readers[static_cast<size_t>(input)].push_back(id);
    const Meetings meetings{graph, phases, readers};
    std::vector<ValueId> found;
    bool any = false;
    for (size_t id = 0; id < seeds.gathered.size(); ++id) {
        if (!seeds.gathered[id]) continue;
        const Met met = meetings.of(static_cast<ValueId>(id));
        any = any || met == Met::by_less;
        if (met == Met::as_elements || met == Met::by_less) found.push_back(static_cast<ValueId>(id));
    }
    if (!any) found.clear();
    return found;
}

} // namespace shard
