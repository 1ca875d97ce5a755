// Convolutions of groups as engines have them: the first operand has the groups in what is summed, the second one and
// the result in what the second one makes. In gradients they are elsewhere, and are moved there and back.
#pragma once

#include "exporter/program/written_step.h"

namespace shard {

// None if engines have it as it is. The last step makes the result.
std::vector<WrittenStep> written_convolution(const Convolve& convolve, std::span<const TensorType> inputs,
                                             const TensorType& output);

// The dims of one operand or of the result in an engine's notation: one character for each dim of `kept`, `made` and
// `summed` as that tensor has them, and the numbers of windows.
struct ConvolveLetters {
    std::string lhs, rhs, out; // of these characters: N, I, O, and 0, 1, 2 for the windows
};
ConvolveLetters convolve_letters(const Convolve& convolve);
// What is added behind along each window, for a result of this type.
std::vector<i64> convolve_high(const Convolve& convolve, std::span<const TensorType> inputs, const TensorType& output);

} // namespace shard
