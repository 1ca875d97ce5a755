// What the backward pass reads of the forward pass stays in memory from one to the other. A pointwise result costs less
// to compute again than to keep, if what it is computed from is kept anyway: then the backward pass gets a copy of its
// chain. So gelu keeps its operand only, and rms_norm its operand and one number a row.
//
//     h = dot(x, w)  t = tanh(h)  ...   backward: g * (1 - t * t)       keeps t
//                                       backward: t' = tanh(h), ...     keeps h, if another gradient reads it
//
// A module may say `remat: full` or `remat: dots`: then the backward pass computes again whatever it needs of the
// module's values, from the module's inputs and, with dots, from the results of its contractions (jax.checkpoint and
// its policy dots_saveable). With `remat: {save: [...], offload: [...]}` all but the values that it names is computed
// again (its policies save_only_these_names and save_and_offload_only_these_names); those that are offloaded reach the
// backward pass through the op host_copy.
//
// Kept as they are: results of other ops, results that a backward op other than a pointwise one reads (it would have to
// be written to memory again), and outputs of the graph.
#pragma once

#include "planner/graph/builder.h"

namespace shard {

// Two passes are two runs of nodes, or the bodies of two loops. Between loops everything that is kept is stacked up,
// trip by trip; what the forward body cut from a stack is not kept but cut again.
struct Passes {
    NodeId first = 0, last = 0; // the forward nodes [first, last)
    NodeId backward = 0;        // the backward nodes are all from here on
    int forward_loop = -1, backward_loop = -1;
};

// Copies are put in front of their first readers in the backward pass.
void recompute_pointwise(Builder& builder, const Passes& passes);

} // namespace shard
