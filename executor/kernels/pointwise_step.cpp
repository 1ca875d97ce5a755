#include "executor/kernels/pointwise_step.h"

#include "executor/kernels/pointwise_blocks.h"
#include "executor/kernels/reduction.h"

#include "instruction_headers.inc"

namespace shard {

namespace {

// to[i] = f(operands at i...), where element types name the operands and the result; narrow results are rounded.
template<typename Result, typename F, typename... Operands>
void apply(Register& to, i64 width, F&& f, const Operands*... operands) {
    Computed<Result>* out = to.as<Computed<Result>>();
    for (i64 i = 0; i < width; ++i) {
        if constexpr (is_narrow<Result>)
            out[i] = static_cast<Computed<Result>>(Result(f(operands[i]...)));
        else
            out[i] = f(operands[i]...);
    }
}

// The instruction over operands of one element type T.
template<typename I, typename T, typename Result>
void over_equal_types(Register& to, const LaneBlock args[3], i64 width) {
    using H = Computed<T>;
    if constexpr (I::operands == 1)
        apply<Result>(
            to, width, [](H x) { return I::of(x); }, args[0].as<H>());
    else if constexpr (I::operands == 2)
        apply<Result>(
            to, width, [](H x, H y) { return I::of(x, y); }, args[0].as<H>(), args[1].as<H>());
    else
        apply<Result>(
            to, width, [](H x, H y, H z) { return I::of(x, y, z); }, args[0].as<H>(), args[1].as<H>(), args[2].as<H>());
}

template<typename I>
void instruction_block(DType type, DType result, Register& to, const LaneBlock args[3], i64 width) {
    if constexpr (I::types == ScalarTypes::words) {
        over_equal_types<I, std::uint32_t, std::uint32_t>(to, args, width);
    } else if constexpr (I::types == ScalarTypes::choice) {
        internal_check(type == DType::boolean, "pointwise: a choice by a boolean");
        visit_dtype(result, [&](auto zero) {
            using H = Computed<decltype(zero)>;
            apply<H>(
                to, width, [](std::uint8_t chosen, H x, H y) { return I::of(chosen, x, y); },
                args[0].as<std::uint8_t>(), args[1].as<H>(), args[2].as<H>());
        });
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

} // namespace

void scalar_block(ScalarOp op, DType type, DType result, Register& to, const LaneBlock args[3], i64 width) {
    switch (op) {
    case ScalarOp::cast:
        return cast_block(type, result, to, args, width);
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
