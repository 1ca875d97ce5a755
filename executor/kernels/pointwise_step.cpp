#include "executor/kernels/pointwise_step.h"

#include "executor/kernels/pointwise_blocks.h"
#include "executor/kernels/reduction.h"
#include "executor/machine/wide_registers.h"
#include "plans/base/inline.h"

#include "instruction_headers.inc"

#include <bit>

namespace shard {

namespace {

// to[i] = the instruction over operands of one element type T; narrow results are rounded. A step never writes where it
// reads.
template<typename I, typename T, typename Result>
SHARD_INLINE void over_equal_types(Register& to, const LaneBlock args[3], i64 width) {
    using H = Computed<T>;
    using R = Computed<Result>;
    R* __restrict const out = to.as<R>();
    const H *__restrict const x = args[0].as<H>(), *__restrict const y = args[1].as<H>(),
                                *__restrict const z = args[2].as<H>();
    for (i64 i = 0; i < width; ++i) {
        R value;
        if constexpr (I::operands == 1)
            value = I::of(x[i]);
        else if constexpr (I::operands == 2)
            value = I::of(x[i], y[i]);
        else
            value = I::of(x[i], y[i], z[i]);
        if constexpr (is_narrow<Result>)
            out[i] = static_cast<R>(Result(value));
        else
            out[i] = value;
    }
}

// By a boolean, one of two of type H.
template<typename I, typename H>
SHARD_INLINE void choose(Register& to, const LaneBlock args[3], i64 width) {
    H* __restrict const out = to.as<H>();
    const std::uint8_t* __restrict const chosen = args[0].as<std::uint8_t>();
    const H* __restrict const x = args[1].as<H>(), * __restrict const y = args[2].as<H>();
    for (i64 i = 0; i < width; ++i) out[i] = I::of(chosen[i], x[i], y[i]);
}

template<typename I>
constexpr bool is_of_floats = I::types == ScalarTypes::same || I::types == ScalarTypes::floating ||
                              I::types == ScalarTypes::test || I::types == ScalarTypes::choice;

// The same loops over f32, what most models compute in, for the registers of newer processors: no product and sum is
// contracted, so the bits are the same.
template<typename I>
SHARD_INLINE void over_floats(Register& to, const LaneBlock args[3], i64 width) {
    if constexpr (I::types == ScalarTypes::choice)
        choose<I, float>(to, args, width);
    else if constexpr (I::types == ScalarTypes::test)
        over_equal_types<I, float, std::uint8_t>(to, args, width);
    else
        over_equal_types<I, float, float>(to, args, width);
}

template<typename I>
SHARD_WIDE void wide_over_floats(Register& to, const LaneBlock args[3], i64 width) {
    over_floats<I>(to, args, width);
}

template<typename I>
void instruction_block(DType type, DType result, Register& to, const LaneBlock args[3], i64 width) {
    if constexpr (is_of_floats<I>)
        if (has_wide_registers() && (I::types == ScalarTypes::choice ? result : type) == DType::f32)
            return wide_over_floats<I>(to, args, width);
    if constexpr (I::types == ScalarTypes::words) {
        over_equal_types<I, std::uint32_t, std::uint32_t>(to, args, width);
    } else if constexpr (I::types == ScalarTypes::choice) {
        internal_check(type == DType::boolean, "pointwise: a choice by a boolean");
        visit_dtype(result, [&](auto zero) { choose<I, Computed<decltype(zero)>>(to, args, width); });
    } else {
        visit_dtype(type, [&](auto zero) {
            using T = decltype(zero);
            if constexpr (I::types == ScalarTypes::test)
                over_equal_types<I, T, std::uint8_t>(to, args, width);
            else if constexpr (I::types == ScalarTypes::whole) {
                if constexpr (!is_float_element<T> && !std::is_same_v<T, std::uint8_t>)
                    over_equal_types<I, T, T>(to, args, width);
            } else if constexpr (I::types == ScalarTypes::same || is_float_element<T>)
                over_equal_types<I, T, T>(to, args, width);
            else
                internal_error("pointwise: instruction not defined for the element type");
        });
    }
}

void cast_block(DType from, DType to_type, Register& to, const LaneBlock args[3], i64 width) {
    visit_dtype(from, [&](auto from_zero) {
        visit_dtype(to_type, [&](auto to_zero) {
            using From = Computed<decltype(from_zero)>;
            using To = decltype(to_zero);
            const From* a = args[0].as<From>();
            Computed<To>* out = to.as<Computed<To>>();
            for (i64 i = 0; i < width; ++i) out[i] = convert_value<Computed<To>>(convert_value<To>(a[i]));
        });
    });
}

void bitcast_block(DType from, DType to_type, Register& to, const LaneBlock args[3], i64 width) {
    visit_dtype(from, [&](auto from_zero) {
        visit_dtype(to_type, [&](auto to_zero) {
            using From = decltype(from_zero);
            using To = decltype(to_zero);
            if constexpr (sizeof(From) == sizeof(To)) {
                const Computed<From>* a = args[0].as<Computed<From>>();
                Computed<To>* out = to.as<Computed<To>>();
                for (i64 i = 0; i < width; ++i)
                    out[i] = convert_value<Computed<To>>(std::bit_cast<To>(convert_value<From>(a[i])));
            } else
                internal_error("pointwise: bits of numbers of two sizes");
        });
    });
}

} // namespace

void scalar_block(ScalarOp op, DType type, DType result, Register& to, const LaneBlock args[3], i64 width) {
    switch (op) {
    case ScalarOp::cast:
        return cast_block(type, result, to, args, width);
    case ScalarOp::bitcast:
        return bitcast_block(type, result, to, args, width);
#define REGISTER(stem)                                                                                                 \
    case ScalarOp::stem:                                                                                               \
        return instruction_block<Instruction<ScalarOp::stem>>(type, result, to, args, width);
#include "instruction_registry.inc"
#undef REGISTER
    case ScalarOp::input:
    case ScalarOp::constant:
    case ScalarOp::index:
        break;
    }
    internal_error("pointwise: a step that computes nothing of its operands");
}

} // namespace shard
