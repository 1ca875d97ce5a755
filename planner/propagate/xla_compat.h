// `rng: {compat: xla_concatenate_2024}`: a defect of XLA's partitioner of 2024, reproduced so that numbers which were
// printed then can be printed again.
//
// Legacy random bits end in a concatenation of two halves. Where a parameter is made inside jit and its first dim is
// split over some mesh axes, XLA split that concatenation too, wrote each part into zeros and summed over all devices,
// so the copies along the other axes were counted: the bits are multiplied by the number of copies. Values then depend
// on the layout, which they never do otherwise. (Inferred from printed numbers, for two copies; jax issue 21232 is the
// symptom.)
#pragma once

#include "planner/propagate/propagate.h"

namespace shard {

// Sets Random::multiplier of the parameters that it concerns, and warns of them (W0202).
void count_copies_in_bits(Graph& graph, const Mesh& mesh, const Propagation& propagation, Diagnostics& diagnostics);

} // namespace shard
