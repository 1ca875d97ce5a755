// Attention for engines that have no kernel of it, or one of their own that they find again: its scores as a value, by
// contractions, pointwise kernels and reductions.
#pragma once

#include "exporter/program/written_step.h"

namespace shard {

// The last step makes the result.
std::vector<WrittenStep> written_attention(const Attend& attend, std::span<const TensorType> inputs,
                                           const TensorType& output);

} // namespace shard
