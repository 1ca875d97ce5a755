#include "planner/pipeline/gradients_as_values.h"

#include "planner/seed/seed_value.h"
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
        Decision why;
        why.cause = Decision::Cause::parameter;
        why.from = value.of;
        why.span = value.span;
        seed_value(*drawn, id, propagation.values[value.of], std::move(why));
    }
    return drawn;
}

} // namespace shard
