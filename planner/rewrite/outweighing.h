// Parameters that `fsdp` splits and that are larger than what they meet: with few tokens, as where one token a sequence
// is decoded, it is less to move the tokens to the shards than to gather the shards.
//
//     x [data | -]  256 tokens of 64    w [- | data]  64 x 1024
//     gathered: 7/8 of w to each device; left split: 7/8 of x to each device, and y comes back by an all_to_all
#pragma once

#include "planner/seed/seed.h"

namespace shard {

// Those that have a reader, gradients among them, whose other operands or whose result have fewer elements; with any,
// also those that meet values element by element alone, as norms' scales do. None if none does.
std::vector<ValueId> outweighing_parameters(const Graph& graph, const Seeds& seeds);

} // namespace shard
