// Tensors that are explained in the same words but for the index of a repeated layer, or the numbers in names and the
// lines of layers that are written out: one explanation.
#pragma once

#include "planner/explain/explanation.h"

#include <span>

namespace shard {

// In the order of the first of each; a tensor that is named twice counts once. Remedies are not known yet.
std::vector<Explanation> explain_alike(const Compilation& compilation, const Sources& sources,
                                       std::span<const TensorReport* const> tensors);

// "block.{0..11}.o", "einsum, einsum_2, einsum_4 and 3 more", of what is alone its name.
std::string called_together(const Explanation& explanation);

} // namespace shard
