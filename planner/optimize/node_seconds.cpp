#include "planner/optimize/node_seconds.h"

#include "planner/graph/types_of.h"
#include "planner/graph/view.h"
#include "plans/kernel/kernel_cost.h"
#include "plans/kernel/kernel_in_place.h"

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
    return kernel_seconds(hardware, *node.kernel(), types.empty() ? result.dtype : types[0].dtype,
                          flops(*node.kernel(), types, result), kernel_bytes(*node.kernel(), types, result, in_place));
}

} // namespace shard
