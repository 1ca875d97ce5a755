// What the backward pass reads of the forward pass stays in memory from one to the other. A pointwise result costs less
// to compute again than to keep, if what it is computed from is kept anyway: then the backward pass gets a copy of its
// chain. So gelu keeps its operand only, and rms_norm its operand and one number a row.
//
//     h = dot(x, w)  t = tanh(h)  ...   backward: g * (1 - t * t)       keeps t
//                                       backward: t' = tanh(h), ...     keeps h, if another gradient reads it
//
// Kept as they are: results of other ops, results that a backward op other than a pointwise one reads (it would have to
// be written to memory again), and outputs of the graph.
#pragma once

#include "planner/builder.h"

namespace shard {

// Nodes from `backward` on are the backward pass; copies are put in front of their first readers there.
void recompute_pointwise(Builder& builder, NodeId backward);

} // namespace shard
