// The dims of a convolution, read from what `dims` of it says (plans/kernel/convolve.h).
#pragma once

#include "plans/base/base.h"

#include <optional>
#include <string>
#include <string_view>

namespace shard {

struct ConvolveDims {
    struct Tensor {
        std::string letters; // one a dim
        int grouped = -1;    // the dim that holds the groups too
        int dim(char letter) const { return static_cast<int>(letters.find(letter)); }
        bool has(char letter) const { return letters.find(letter) != std::string::npos; }
    };
    Tensor lhs, rhs, out;
    char kept = 0, made = 0, summed = 0; // of lhs and out, of rhs and out, of lhs and rhs
    std::string windows;                 // of all three, in the order of lhs
    char group = 0;                      // 0: none
};

// nullopt, and what is wrong with it. At most 3 windows, at least 1.
std::optional<ConvolveDims> parse_convolve_dims(std::string_view text, std::string& problem);
std::string text(const ConvolveDims& dims);

} // namespace shard
