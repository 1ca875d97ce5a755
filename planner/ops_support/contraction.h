// What dot and einsum share: a contraction of two operands, written with one label a dim (as in index notation).
//
//     dot (8, 32)(32, 16):  operands {"ik", "kj"}, result "ij"
#pragma once

#include "planner/graph/op_def.h"

namespace shard {

struct Contraction {
    std::vector<std::string> operands; // one character a dim
    std::string result;
};

// What a contract kernel holds: two operands, no label twice in one of them, and every label of only one operand is in
// the result.
bool is_plain(const Contraction& contraction);
// The next two are for plain contractions. Factors in the order batch, left only, right only, contracted.
IndexRule contraction_rule(const Contraction& contraction, std::span<const TensorType> operands);
Contract contraction_kernel(const Contraction& contraction);
// Operands have one type, or are narrow ones whose sums are asked for in the type that they add up in.
bool check_factors(const InferContext& context);
// The argument `result`, the type of the result; what it may be is for contraction_dtype to say: that of the operands, or
// the one in which sums of it add up (nullopt after reporting).
AttributeDef result_type_argument();
std::optional<DType> contraction_dtype(const InferContext& context);
// Each operand's gradient is a contraction of the cotangent with the other operand.
std::vector<ValueId> contraction_gradient(const Contraction& contraction, const GradientContext& context);

} // namespace shard
