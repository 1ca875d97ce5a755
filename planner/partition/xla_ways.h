// How XLA's SPMD partitioner computes one op: over which axes each factor of its rule is split. From a description of
// its handlers alone (spmd_partitioner.cc, dot_handler.cc); what counts is where axes are, never a price:
//
//     moves, pointwise ops, broadcasts  as the result is kept: operands are resharded to it; a reshape that cannot be
//                                       computed so as its operand is kept
//     a reduction                       as the operand is kept: the sum is resharded to where the result is kept
//     a contraction                     summed axes that both operands have alike; batch dims and free dims as an operand
//                                       and the result have them alike; then as the result wants them
#pragma once

#include "planner/partition/compute_sharding.h"

namespace shard {

// Axes by factor, in the order in which they are tried; none where XLA tries several ways and takes the cheapest, as
// shardc does (gathers, scatters, windows).
std::vector<std::vector<std::vector<AxisRef>>> factor_axes_as_xla(const ComputeQuery& query, const IndexRule& rule);

// What XLA makes of a partial sum before it reshards it, one form after the other: of a reduction the whole sum, of a
// convolution the sum over one axis after the other. That of a product is scattered as far as its axes are wanted.
std::vector<Sharding> xla_sum_stages(const OpDef* op, const Sharding& pending);

// Indices of a gather that has to have them whole, from a table whose rows are split: XLA first lets the devices that hold
// the same rows hold the same indices. What the operand is then; nullopt: it is gathered as it is.
std::optional<Sharding> xla_way_stop(const ComputeQuery& query, const IndexRule& rule, const ComputeSharding& choice,
                                     size_t operand);

} // namespace shard
