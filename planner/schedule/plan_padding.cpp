#include "planner/schedule/plan_padding.h"

namespace shard {

void say_what_is_real(Plan& plan, const Graph& graph, const Padding& padding) {
    const auto say = [&](ValueId id, int buffer) {
        if (padding.is_padded(id))
            plan.buffers[static_cast<size_t>(buffer)].unpadded_shape = padding.real_shape(graph, id);
    };
    for (size_t n = 0; n < plan.inputs.size(); ++n) {
        PlanInput& input = plan.inputs[n];
        say(graph.inputs[n], input.buffer);
        input.init.shape = plan.buffers[static_cast<size_t>(input.buffer)].real_shape();
    }
    for (size_t o = 0; o < plan.outputs.size(); ++o) say(graph.outputs[o], plan.outputs[o].buffer);
}

} // namespace shard
