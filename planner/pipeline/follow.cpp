#include "planner/pipeline/follow.h"

#include "planner/pipeline/gradients_as_values.h"
#include "planner/pipeline/values_as_read.h"

namespace shard {

namespace {

void seed_if_faster(const Graph& graph, Seeds& seeds, Propagation& propagation, std::optional<Seeds> other,
                    Pricing pricing) {
    if (!other) return;
    Propagation drawn = propagate(graph, pricing.layout.mesh, *other);
    const auto cost = [&](const Propagation& made) {
        return price_alone(graph, made, pricing.layout, pricing.decisions).cost;
    };
    if (!costs_less(cost(drawn), cost(propagation), least_gain)) return;
    seeds = std::move(*other);
    propagation = std::move(drawn);
}

} // namespace

void follow_gradients(const Graph& graph, Seeds& seeds, Propagation& propagation, Pricing pricing) {
    seed_if_faster(graph, seeds, propagation, seed_gradients_as_values(graph, seeds, propagation), pricing);
}

void follow_readers(const Graph& graph, Seeds& seeds, Propagation& propagation, Pricing pricing) {
    seed_if_faster(graph, seeds, propagation, seed_values_as_read(graph, seeds, propagation), pricing);
}

void follow_all(PropagatedGraph& made, Pricing pricing) {
    follow_gradients(made.graph, made.seeds, made.propagation, pricing);
    Diagnostics unheard;
    choose_attention_ways(made, pricing.layout, pricing.decisions, unheard);
    follow_readers(made.graph, made.seeds, made.propagation, pricing);
}

} // namespace shard
