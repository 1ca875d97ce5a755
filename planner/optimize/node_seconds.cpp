#include "planner/optimize/node_seconds.h"

#include "planner/graph/types_of.h"
#include "planner/graph/view.h"
#include "plans/kernel/kernel_cost.h"
#include "plans/kernel/kernel_in_place.h"

#include <algorithm>

namespace shard {

double node_seconds(const Graph& graph, const Node& node, const Mesh& mesh, const Hardware& hardware) {
    if (node.collective() != nullptr)
        return node.collective()->def->seconds(*node.collective(), mesh, hardware,
                                               graph.value(node.inputs[0]).type.bytes());
    if (node.kernel() == nullptr || is_view(graph, node)) return 0;
    const std::vector<TensorType> types = types_of(graph, node.inputs);
    const TensorType& result = graph.value(node.outputs[0]).type;
    int in_place = -1;
    for (size_t i = types.size(); i-- > 0;)
        if (can_run_in_place(*node.kernel(), i, types[i], result)) in_place = static_cast<int>(i);
    const i64 bytes = kernel_bytes(*node.kernel(), types, result, in_place);
    const auto on_host = [&graph](ValueId id) { return graph.value(id).on_host; };
    if (on_host(node.outputs[0]) || std::any_of(node.inputs.begin(), node.inputs.end(), on_host))
        return types.empty() ? 0 : host_seconds(hardware, bytes / 2);
    return kernel_seconds(hardware, *node.kernel(), types, result, flops(*node.kernel(), types, result), bytes);
}

} // namespace shard
