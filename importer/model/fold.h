// Ops over numbers that are known: what a loop counts, and factors that a program computes from constants.
#pragma once

#include "importer/model/draft.h"

namespace shard {

// nullopt if the op compares nothing.
template<typename Number>
std::optional<bool> compared(std::string_view op, Number a, Number b) {
    if (op == "lt") return a < b;
    if (op == "le") return a <= b;
    if (op == "gt") return a > b;
    if (op == "ge") return a >= b;
    if (op == "eq") return a == b;
    if (op == "ne") return a != b;
    return std::nullopt;
}

// The nearest number of the type: of bf16, f16, f32 and f64; nullopt of the others. f64 is left as it is.
std::optional<double> rounded(double number, DType to);

// The value, if all operands are one number in every element, and the op is one whose result is the same wherever it is
// computed: whole numbers, comparisons, the four operations in f32 and f64 and casts between floating-point types, which
// IEEE 754 fixes.
std::optional<DraftId> fold(Draft& draft, std::string_view op, const std::vector<DraftId>& operands,
                            const DraftType& type);

} // namespace shard
