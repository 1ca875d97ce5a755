// The steps of pointwise kernels, and what is known of their instructions by name (plans/instruction/instruction.h).
#pragma once

#include "plans/base/number.h"
#include "plans/instruction/instruction.h"
#include "plans/sharding/affine.h"

#include <array>

namespace shard {

std::span<const ScalarOp> scalar_ops(); // all
std::string_view name(ScalarOp op);
std::optional<ScalarOp> parse_scalar_op(std::string_view text);
int arity(ScalarOp op); // number of step operands: 0 for input, constant, index

// Whether the instruction is defined on operands of these types, as many as it takes, with a result of that type.
bool types_fit(ScalarOp op, std::span<const DType> operands, DType result);

// Integer division and remainder truncate; round is half to even; max and min propagate NaN; comparisons yield boolean.
// bf16 steps compute in f32 and round their result to bf16.
struct ScalarStep {
    ScalarOp op = ScalarOp::constant;
    std::array<int, 3> args = {-1, -1, -1}; // earlier steps; of input and index as ScalarOp says
    DType dtype = DType::f32;               // of the result
    Number value = 0;                       // constant
    Affine start;                           // index
    bool operator==(const ScalarStep&) const = default;
};

} // namespace shard
