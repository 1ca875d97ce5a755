// Values behind a sum over devices, which leave the sum's axes idle until an op uses them again, may be split over them
// meanwhile: then the sum is a reduce_scatter, what lies between is shared out, and an all_gather stands where the axes
// are used again. It sends as much as the all_reduce and computes less. Of a transformer with tensor parallelism that
// is sequence parallelism (Korthikanti et al. 2022, arXiv:2205.05198), here of any dim that divides:
//
//     y = h w2      all_reduce over model      reduce_scatter over model, along length
//     r = x + y     on every device            each its rows
//     n = norm(r)   on every device            each its rows
//     g = n w1      w1 split over model        all_gather over model
//
// What lies between: ops that carry the dim from an operand to a result and have no other use for the axes, loops
// included. Values that the layout or a constraint speaks of, and what the model returns, stay as they are.
#pragma once

#include "planner/partition/graph_facts.h"
#include "planner/partition/local.h"
#include "planner/propagate/propagate.h"

namespace shard {

// Values that an all_reduce makes as they are kept, over those axes over which the most is; in the order in which they
// are made.
struct SpreadRoots {
    std::vector<AxisRef> axes;
    std::vector<ValueId> values;
};
// `alone`: the graph partitioned with sums reduced where they are made.
SpreadRoots roots_to_spread(const Graph& graph, const GraphFacts& facts, const Local& alone);

// Along this one of the dims that could be split, of each root; there are so many ways.
inline constexpr size_t ways_to_spread = 2;
// What the propagated shardings would be; nullopt: nothing can be split so. Whether it is faster is for who asks.
std::optional<Propagation> spread_along(const Graph& graph, const GraphFacts& facts, const Seeds& seeds,
                                        const Propagation& propagation, const SpreadRoots& roots, size_t way);

} // namespace shard
