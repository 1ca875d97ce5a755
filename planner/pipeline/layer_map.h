// Layers that are written out, and are alike: which values of a model of many are those of a model of few. A layer stands
// as a number in the paths of its values: block.0.h, block.1.h, ... The first is the first, the last the last, and those
// between are the second.
#pragma once

#include "planner/graph/graph.h"

namespace shard {

inline constexpr i64 few_layers = 3; // the first, one between others, the last

// Most values of the graph are of layers of which there are many times as many.
bool has_many_layers(const Graph& graph);

// By value of `all`, the one of `few` that has its place; -1: none has, as of numbers that are added up over all layers.
std::vector<ValueId> values_in_few(const Graph& all, const Graph& few);

} // namespace shard
