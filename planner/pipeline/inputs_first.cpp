#include "planner/pipeline/inputs_first.h"

#include "plans/sharding/axis_lists.h"

#include <algorithm>

namespace shard {

namespace {

// Parameters, and what lies as they do: its split comes to values by way of the optimizer's update.
bool is_stored(Role role) {
    return role == Role::param || role == Role::variable || role == Role::state || role == Role::gradient;
}

} // namespace

std::optional<Seeds> seed_inputs_first(const Graph& graph, const Seeds& seeds) {
    std::vector<AxisRef> of_inputs, of_stored;
    for (ValueId id = 0; id < std::ssize(graph.values); ++id) {
        const std::optional<Sharding>& seed = seeds.values[static_cast<size_t>(id)];
        const Role role = graph.value(id).role;
        if (!seed || (role != Role::input && !is_stored(role))) continue;
        for (const DimSharding& dim : seed->dims) {
            if (dim.priority == storage_priority) continue;
            if (dim.priority != 0) return std::nullopt;
            std::vector<AxisRef>& axes = role == Role::input ? of_inputs : of_stored;
            axes.insert(axes.end(), dim.axes.begin(), dim.axes.end());
        }
    }
    if (std::none_of(of_inputs.begin(), of_inputs.end(),
                     [&](const AxisRef& axis) { return overlaps_any(axis, of_stored); }))
        return std::nullopt;
    Seeds drawn = seeds;
    for (ValueId id = 0; id < std::ssize(graph.values); ++id) {
        std::optional<Sharding>& seed = drawn.values[static_cast<size_t>(id)];
        if (!seed || !is_stored(graph.value(id).role)) continue;
        for (DimSharding& dim : seed->dims)
            if (dim.priority == 0) dim.priority = after_inputs;
    }
    return drawn;
}

} // namespace shard
