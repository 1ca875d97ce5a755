// The instruction set of pointwise kernels: functions of one element. It is closed; graph ops are written over it.
#pragma once

#include "plans/base/number.h"
#include "plans/sharding/affine.h"

#include <array>

namespace shard {

enum class ScalarOp {
    input,    // args[0]: which input of the kernel
    constant, // value
    index,    // the global index along output dim args[0]: local index + start
    cast,     // to dtype
    neg,
    abs,
    sign,
    exp,
    expm1,
    log,
    log1p,
    sqrt,
    rsqrt,
    sin,
    cos,
    tanh,
    logistic,
    erf,
    floor,
    ceil,
    round,
    is_finite,
    logical_not,
    add,
    sub,
    mul,
    div,
    rem,
    pow,
    max,
    min,
    atan2,
    logical_and,
    logical_or,
    eq,
    ne,
    lt,
    le,
    gt,
    ge,
    select,    // args: predicate, on true, on false
    fold_in_0, // args: the two words of a key, and what is folded in; the first word of the key that comes of it
    fold_in_1, // the second word
};
std::string_view name(ScalarOp op);
std::optional<ScalarOp> parse_scalar_op(std::string_view text);
int arity(ScalarOp op); // number of step operands: 0 for input, constant, index

// Integer division and remainder truncate; round is half to even; max and min propagate NaN; comparisons yield boolean.
// bf16 steps compute in f32 and round their result to bf16.
struct ScalarStep {
    ScalarOp op = ScalarOp::constant;
    std::array<int, 3> args = {-1, -1, -1}; // earlier steps (input, index: see above)
    DType dtype = DType::f32;               // of the result
    Number value = 0;                       // constant
    Affine start;                           // index
    bool operator==(const ScalarStep&) const = default;
};

} // namespace shard
