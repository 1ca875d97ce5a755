#include "planner/seed/moved_seeds.h"

namespace shard {

void move_seeds(Seeds& seeds, const Graph& graph, std::span<const NodeId> moved) {
    const std::vector<std::optional<Sharding>> before = std::move(seeds.constraints);
    seeds.constraints.assign(graph.nodes.size(), std::nullopt);
    for (size_t n = 0; n < before.size(); ++n) seeds.constraints[static_cast<size_t>(moved[n])] = before[n];
    for (Decision& decision : seeds.log)
        if (decision.node >= 0) decision.node = moved[static_cast<size_t>(decision.node)];
    seeds.values.resize(graph.values.size());
    seeds.gathered.resize(graph.values.size());
    seeds.rejected_by_value.resize(graph.values.size());
}

} // namespace shard
