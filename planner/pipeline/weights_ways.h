// Which products lie as their weights (planner/pipeline/products_as_weights.h): what makes the step that costs least, with
// what the later passes make of it.
#pragma once

#include "planner/pipeline/follow.h"
#include "planner/pipeline/products_as_weights.h"

namespace shard {

// The kinds of products that go so. Of none, all, those with one kind the other way, and those with every kind the other
// way that gains so: at most `most_kinds` are tried apart, of which there is most, and none in a larger graph.
inline constexpr size_t most_kinds = 8, most_nodes = 20000;
std::set<std::string> kinds_as_weights(const Graph& graph, const Seeds& seeds, const Propagation& propagation,
                                       const std::vector<CrossedProduct>& crossed, Pricing pricing);

} // namespace shard
