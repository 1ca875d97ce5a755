// A redistribution as XLA's SPMD partitioner makes it (spmd_partitioner.cc, Reshard), from a description of it alone. It
// looks at the numbers of blocks of each dim, and takes the first of these that fits:
//
//     permute          as many blocks on every dim: each device passes its block on
//     all-to-all       dims exchange their numbers of blocks: [x | -] -> [- | x]; a permutation puts blocks in order
//     slice            every dim has as many blocks or a multiple; then a permutation
//     all-gather       as many or a divisor; a permutation before
//     in parts         a dim that is split further, or that two others feed, seen as two; dims that stay left out
//     (a vector's gather is an all-reduce of blocks among zeros, as XLA:TPU makes it)
//     gather all       "involuntary full rematerialization": everything is gathered, and each device takes its part
//
//     {a: 4, b: 2}, [b | - | a] -> [- | a,b | -]: two dims feed one, which none of them can do, so all is gathered
//
// A sum over devices is reduced first, whatever its result is split over: a slice by the same axes then makes it a
// reduce-scatter (planner/optimize/optimize.cpp, as XLA's reduce-scatter creator does).
#pragma once

#include "planner/redistribute/redistribute.h"

namespace shard {

// Where XLA would pad because a dim does not divide by what a step puts on it, the way is `redistribute`'s.
Redistribution reshard_as_xla(const Mesh& mesh, const Hardware& hardware, const TensorType& global,
                              const Sharding& from, const Sharding& to);

} // namespace shard
