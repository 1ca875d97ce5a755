// Values that lie as the products read them that they are made for, where that makes a faster step.
//
// Propagation carries a split from where it begins as far as it goes, and what reads it otherwise moves it there, which may
// be where it has grown: behind a copy of each head for the heads that share it, or behind a padding.
//
//     k [data | - | model]               4 x 8 x 16, heads and their width in one dim
//     k [data | - | model:(1)2 | model:(2)2]         as 2 heads of 8
//     k [data | - | model:(1)2 | model:(2)2]         each twice: 4 heads, which the product with q reads split over model
//
// As read, the 4 heads lie over model, and the 2 of which they are copies are gathered over model:(2)2 before that.
#pragma once

#include "planner/propagate/propagate.h"

namespace shard {

// The seeds, and for each value that uses an axis along another dim than its reader needs it, up to where it is made: how
// it is read, dims that are whole open. nullopt: there are none.
std::optional<Seeds> seed_values_as_read(const Graph& graph, const Seeds& seeds, const Propagation& propagation);

} // namespace shard
