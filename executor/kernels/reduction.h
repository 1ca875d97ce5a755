// The four ways of combining values, shared by the reduce kernel and by collectives. Sums and products of floats
// accumulate in f64 inside a kernel, so their error does not grow with the length. max and min propagate NaN. Sums and
// products of integers wrap. Booleans: sum and max are "or", product and min are "and".
#pragma once

#include "executor/elements/element.h"
#include "plans/instructions/add.h"
#include "plans/instructions/max.h"
#include "plans/instructions/min.h"
#include "plans/instructions/mul.h"
#include "plans/sharding/sharding.h"

namespace shard {

struct SumOp {
    template<typename T>
    using Accumulator = std::conditional_t<is_float_element<T>, double, Computed<T>>;
    template<typename T>
    static Accumulator<T> identity() {
        return Accumulator<T>{0};
    }
    template<typename T>
    static T combine(T a, T b) {
        return Instruction<ScalarOp::add>::of(a, b);
    }
};
struct ProdOp {
    template<typename T>
    using Accumulator = std::conditional_t<is_float_element<T>, double, Computed<T>>;
    template<typename T>
    static Accumulator<T> identity() {
        return Accumulator<T>{1};
    }
    template<typename T>
    static T combine(T a, T b) {
        return Instruction<ScalarOp::mul>::of(a, b);
    }
};
struct MaxOp {
    template<typename T>
    using Accumulator = Computed<T>;
    template<typename T>
    static Accumulator<T> identity() {
        if constexpr (is_float_element<T>)
            return -std::numeric_limits<Accumulator<T>>::infinity();
        else
            return WholeLimits<T>::min(); // false for booleans
    }
    template<typename T>
    static T combine(T a, T b) {
        return Instruction<ScalarOp::max>::of(a, b);
    }
};
struct MinOp {
    template<typename T>
    using Accumulator = Computed<T>;
    template<typename T>
    static Accumulator<T> identity() {
        if constexpr (is_float_element<T>)
            return std::numeric_limits<Accumulator<T>>::infinity();
        else if constexpr (std::is_same_v<T, std::uint8_t>)
            return 1;
        else
            return WholeLimits<T>::max();
    }
    template<typename T>
    static T combine(T a, T b) {
        return Instruction<ScalarOp::min>::of(a, b);
    }
};

template<typename F>
decltype(auto) visit_reduction(ReduceOp op, F&& f) {
    switch (op) {
    case ReduceOp::sum:
        return f(SumOp{});
    case ReduceOp::prod:
        return f(ProdOp{});
    case ReduceOp::max:
        return f(MaxOp{});
    case ReduceOp::min:
        return f(MinOp{});
    }
    internal_error("reduction without a definition");
}

} // namespace shard
