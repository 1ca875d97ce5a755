#include "planner/pipeline/gradients_as_values.h"

#include "plans/sharding/axis_lists.h"

namespace shard {

std::optional<Seeds> seed_gradients_as_values(const Graph& graph, const Seeds& seeds, const Propagation& propagation) {
    std::optional<Seeds> drawn;
    for (ValueId id = 0; id < static_cast<ValueId>(graph.values.size()); ++id) {
        const Value& value = graph.value(id);
        if (value.role != Role::value || value.of < 0 || value.producer < 0 || seeds.values[id] ||
            is_constraint(graph.node(value.producer)) || // it says where
            value.type.shape != graph.value(value.of).type.shape ||
            !lie_across(propagation.values[id], propagation.values[value.of]))
            continue;
        if (!drawn) drawn = seeds;
        Sharding as_value = propagation.values[value.of];
        for (size_t d = 0; d < as_value.dims.size(); ++d) {
            as_value.dims[d].open = as_value.dims[d].axes.empty();
            if (as_value.dims[d].open) continue;
            Decision why;
            why.value = id;
            why.dim = static_cast<int>(d);
            why.axes = as_value.dims[d].axes;
            why.cause = Decision::Cause::parameter;
            why.from = value.of;
            why.span = value.span;
            drawn->log.push_back(std::move(why));
        }
        drawn->values[id] = std::move(as_value);
    }
    return drawn;
}

} // namespace shard
