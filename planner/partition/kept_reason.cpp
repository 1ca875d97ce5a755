#include "planner/partition/kept_reason.h"

#include "planner/graph/view.h"

namespace shard {

Reason kept_reason(const Mesh& mesh, const Graph& graph, const std::vector<std::vector<NodeId>>& users,
                   std::span<const Sharding> shardings, const Node& node, const Sharding& made) {
    const ValueId result = node.outputs[0];
    const Sharding& kept = shardings[result];
    for (NodeId reader : users[result]) {
        const Node& constraint = graph.node(reader);
        if (is_constraint(constraint) && same_layout(shardings[constraint.outputs[0]], kept))
            return constraint_reason(mesh, graph, constraint, made, kept);
    }
    return result_reason(mesh, graph, node, result, made, kept);
}

} // namespace shard
