#include "planner/pipeline/weights_ways.h"

#include "plans/base/in_parallel.h"

#include <algorithm>
#include <map>

namespace shard {

namespace {

using Kinds = std::set<std::string>;

// Those with the largest weights.
std::vector<std::string> largest(const Graph& graph, const std::vector<CrossedProduct>& crossed) {
    std::map<std::string, i64> bytes;
    for (const CrossedProduct& product : crossed) bytes[product.kind] += graph.value(product.weight).type.bytes();
    std::vector<std::string> kinds;
    for (const auto& [kind, all] : bytes) kinds.push_back(kind);
    std::stable_sort(kinds.begin(), kinds.end(),
                     [&](const std::string& a, const std::string& b) { return bytes[a] > bytes[b]; });
    kinds.resize(std::min(kinds.size(), most_kinds));
    return kinds;
}

Kinds turned(Kinds kinds, const std::string& kind) {
    if (kinds.erase(kind) == 0) kinds.insert(kind);
    return kinds;
}

} // namespace

std::set<std::string> kinds_as_weights(const Graph& graph, const Seeds& seeds, const Propagation& propagation,
                                       const std::vector<CrossedProduct>& crossed, Pricing pricing) {
    const auto cost_of = [&](const Kinds& kinds) {
        PropagatedGraph made{graph, seeds, propagation};
        if (!kinds.empty()) {
            made.seeds = seed_products_as_weights(graph, seeds, crossed, kinds);
            made.propagation = propagate(graph, pricing.layout.mesh, made.seeds);
        }
        follow_all(made, pricing);
        return price_jointly(made.graph, made.propagation, pricing.layout, pricing.decisions);
    };
    const auto costs_of = [&](const std::vector<Kinds>& ways) {
        std::vector<StepCost> costs(ways.size());
        in_parallel(ways.size(), [&](size_t i) { costs[i] = cost_of(ways[i]); });
        return costs;
    };
    Kinds all, best;
    for (const CrossedProduct& product : crossed) all.insert(product.kind);
    const std::vector<StepCost> ends = costs_of({{}, all});
    StepCost least = ends[0];
    if (costs_less(ends[1], ends[0], least_gain)) best = all, least = ends[1];
    if (all.size() == 1 || graph.nodes.size() > most_nodes) return best;

    const Kinds begun = best;
    const StepCost before = least;
    const std::vector<std::string> kinds = largest(graph, crossed);
    std::vector<Kinds> ways;
    for (const std::string& kind : kinds) ways.push_back(turned(begun, kind));
    const std::vector<StepCost> costs = costs_of(ways);
    Kinds together = begun;
    int gaining = 0;
    for (size_t i = 0; i < ways.size(); ++i) {
        if (!costs_less(costs[i], before, least_gain)) continue;
        together = turned(together, kinds[i]);
        ++gaining;
        if (costs_less(costs[i], least, 0)) best = ways[i], least = costs[i];
    }
    if (gaining > 1 && costs_less(cost_of(together), least, 0)) best = together;
    return best;
}

} // namespace shard
