#include "planner/graph/step_count.h"

#include <algorithm>

namespace shard {

std::optional<ValueId> find_step_count(const Graph& graph) {
    const std::vector<ValueId>::const_iterator found =
        std::find_if(graph.inputs.begin(), graph.inputs.end(),
                     [&graph](ValueId id) { return graph.value(id).role == Role::state && graph.value(id).of < 0; });
    return found == graph.inputs.end() ? std::nullopt : std::optional(*found);
}

ValueId step_count(Builder& builder) {
    if (const std::optional<ValueId> known = find_step_count(builder.graph())) return *known;
    Value count;
    count.name = builder.unique_name("count", "#");
    count.type.dtype = DType::i32;
    count.role = Role::state;
    count.span = builder.place().span;
    count.init = Generate{Fill{0}, {}, {}};
    const ValueId id = builder.add_input(std::move(count));
    builder.mark_used(id);
    return id;
}

} // namespace shard
