#include "planner/seed/split_states.h"

#include <algorithm>
#include <set>
#include <vector>

namespace shard {

namespace {

bool is_split_further(const Sharding& whole, const Sharding& parts) {
    for (size_t d = 0; d < whole.dims.size(); ++d) {
        const std::vector<AxisRef>&a = whole.dims[d].axes, &b = parts.dims[d].axes;
        if (a.size() > b.size() || !std::equal(a.begin(), a.end(), b.begin())) return false;
    }
    return !same_layout(whole, parts);
}

} // namespace

std::map<ValueId, ValueId> split_states(const Graph& graph, const Seeds& seeds) {
    std::map<ValueId, std::vector<ValueId>> states; // by parameter
    for (ValueId id = 0; id < static_cast<ValueId>(graph.values.size()); ++id)
        if (graph.value(id).role == Role::state) states[graph.value(id).of].push_back(id);
    std::set<ValueId> added_up;
    for (const GraphLoop& loop : graph.loops)
        for (const GraphLoop::Sum& sum : loop.sums) added_up.insert(sum.becomes);
    std::map<ValueId, ValueId> found;
    for (ValueId id = 0; id < static_cast<ValueId>(graph.values.size()); ++id) {
        const Value& value = graph.value(id);
        if (value.role != Role::gradient || value.of < 0 || !seeds.values[value.of] || added_up.contains(id)) continue;
        std::vector<ValueId> own;
        for (const ValueId state : states[value.of])
            if (graph.value(state).type.shape == value.type.shape) own.push_back(state);
        const auto is_as_first = [&](ValueId state) {
            return seeds.values[state] && seeds.values[own[0]] &&
                   same_layout(*seeds.values[state], *seeds.values[own[0]]);
        };
        if (!own.empty() && std::all_of(own.begin(), own.end(), is_as_first) &&
            is_split_further(*seeds.values[value.of], *seeds.values[own[0]]))
            found.emplace(id, own[0]);
    }
    return found;
}

} // namespace shard
