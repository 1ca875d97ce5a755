// Which nodes sum up a parameter's gradient: the contraction over the batch that makes it, or each of several whose
// results are added, reshaped or cast into it.
//
// Where the batch is split, every device sums over its own part and the parts are reduced, also where the batch is so
// small that sending it to every device would take less time. That is what data parallelism means to people, and only a
// partial sum can be added up over microbatches before it is reduced.
#pragma once

#include "planner/partition/graph_facts.h"
#include "planner/propagate/propagate.h"

namespace shard {

// By node.
struct GradientSums {
    std::vector<bool> made; // in loops, those too that such a sum may pass through
    // Of these, those through which it passes on its way to be added up over trips, and what makes it.
    std::vector<bool> held;
};
GradientSums gradient_sums(const Graph& graph, const GraphFacts& facts);

// What is added up over microbatches, or stacked over layers, lies as the gradient that it becomes, and so does what only
// other shapes and types of it are made of, be it the stack of a loop inside. With `reduce: end` it is the whole that is added up.
Shardings store_sums_as_gradients(const Graph& graph, Shardings shardings);

// The value of which only other shapes are made on the way to this one.
ValueId before_reshapes(const Graph& graph, ValueId id);
// By value: the gradient that it is, or that loops make of it by adding up and stacking alone; -1 if none.
std::vector<ValueId> gradients_of_parts(const Graph& graph);

} // namespace shard
