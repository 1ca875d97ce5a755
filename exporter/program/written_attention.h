// Attention for engines that have no kernel of it, or one of their own that they find again: its scores as a value, by
// contractions, pointwise kernels and reductions.
#pragma once

#include "plans/kernel/kernel.h"

namespace shard {

struct WrittenStep {
    Kernel kernel;
    std::vector<int> inputs; // of those of the attend kernel, which are followed by the results of the steps before
    TensorType type;
    std::string name; // of what it makes
};

// The last step makes the result.
std::vector<WrittenStep> written_attention(const Attend& attend, std::span<const TensorType> inputs,
                                           const TensorType& output);

} // namespace shard
