#include "executor/kernels/pointwise_step.h"

#include "executor/kernels/pointwise_blocks.h"
#include "executor/kernels/reduction.h"
#include "executor/kernels/scalar_functions.h"
#include "plans/random/random.h"

namespace shard {

namespace {

// to[i] = f(args[i]...), both of the element type T; bf16 results are rounded.
template<typename T, typename F>
void unary(Register& to, const LaneBlock args[3], i64 width, F&& f) {
    using H = Held<T>;
    H* out = to.as<H>();
    const H* a = args[0].as<H>();
    for (i64 i = 0; i < width; ++i) {
        if constexpr (std::is_same_v<T, Bf16>)
            out[i] = static_cast<float>(Bf16(f(a[i])));
        else
            out[i] = f(a[i]);
    }
}

template<typename T, typename F>
void binary(Register& to, const LaneBlock args[3], i64 width, F&& f) {
    using H = Held<T>;
    H* out = to.as<H>();
    const H *a = args[0].as<H>(), *b = args[1].as<H>();
    for (i64 i = 0; i < width; ++i) {
        if constexpr (std::is_same_v<T, Bf16>)
            out[i] = static_cast<float>(Bf16(f(a[i], b[i])));
        else
            out[i] = f(a[i], b[i]);
    }
}

// Functions of T with a boolean result.
template<typename T, typename F>
void predicate(Register& to, const LaneBlock args[3], i64 width, F&& f) {
    using H = Held<T>;
    std::uint8_t* out = to.as<std::uint8_t>();
    const H *a = args[0].as<H>(), *b = args[1].bytes != nullptr ? args[1].as<H>() : a;
    for (i64 i = 0; i < width; ++i) out[i] = f(a[i], b[i]) ? 1 : 0;
}

template<typename T>
bool float_step(ScalarOp op, Register& to, const LaneBlock args[3], i64 width) {
    using H = Held<T>;
    switch (op) {
    case ScalarOp::exp:
        unary<T>(to, args, width, [](H x) { return std::exp(x); });
        return true;
    case ScalarOp::expm1:
        unary<T>(to, args, width, [](H x) { return std::expm1(x); });
        return true;
    case ScalarOp::log:
        unary<T>(to, args, width, [](H x) { return std::log(x); });
        return true;
    case ScalarOp::log1p:
        unary<T>(to, args, width, [](H x) { return std::log1p(x); });
        return true;
    case ScalarOp::sqrt:
        unary<T>(to, args, width, [](H x) { return std::sqrt(x); });
        return true;
    case ScalarOp::rsqrt:
        unary<T>(to, args, width, [](H x) { return H{1} / std::sqrt(x); });
        return true;
    case ScalarOp::sin:
        unary<T>(to, args, width, [](H x) { return std::sin(x); });
        return true;
    case ScalarOp::cos:
        unary<T>(to, args, width, [](H x) { return std::cos(x); });
        return true;
    case ScalarOp::tanh:
        unary<T>(to, args, width, [](H x) { return std::tanh(x); });
        return true;
    case ScalarOp::logistic:
        unary<T>(to, args, width, [](H x) { return logistic_of(x); });
        return true;
    case ScalarOp::erf:
        unary<T>(to, args, width, [](H x) { return std::erf(x); });
        return true;
    case ScalarOp::floor:
        unary<T>(to, args, width, [](H x) { return std::floor(x); });
        return true;
    case ScalarOp::ceil:
        unary<T>(to, args, width, [](H x) { return std::ceil(x); });
        return true;
    case ScalarOp::round:
        unary<T>(to, args, width, [](H x) { return std::nearbyint(x); });
        return true;
    case ScalarOp::neg:
        unary<T>(to, args, width, [](H x) { return -x; });
        return true;
    case ScalarOp::abs:
        unary<T>(to, args, width, [](H x) { return std::fabs(x); });
        return true;
    case ScalarOp::is_finite:
        predicate<T>(to, args, width, [](H x, H) { return std::isfinite(x); });
        return true;
    case ScalarOp::add:
        binary<T>(to, args, width, [](H x, H y) { return x + y; });
        return true;
    case ScalarOp::sub:
        binary<T>(to, args, width, [](H x, H y) { return x - y; });
        return true;
    case ScalarOp::mul:
        binary<T>(to, args, width, [](H x, H y) { return x * y; });
        return true;
    case ScalarOp::div:
        binary<T>(to, args, width, [](H x, H y) { return x / y; });
        return true;
    case ScalarOp::rem:
        binary<T>(to, args, width, [](H x, H y) { return std::fmod(x, y); });
        return true;
    case ScalarOp::pow:
        binary<T>(to, args, width, [](H x, H y) { return std::pow(x, y); });
        return true;
    case ScalarOp::atan2:
        binary<T>(to, args, width, [](H x, H y) { return std::atan2(x, y); });
        return true;
    default:
        return false;
    }
}

template<typename T>
bool integer_step(ScalarOp op, Register& to, const LaneBlock args[3], i64 width) {
    using U = std::uint64_t;
    switch (op) {
    case ScalarOp::neg:
        unary<T>(to, args, width, [](T x) { return static_cast<T>(U{0} - static_cast<U>(x)); });
        return true;
    case ScalarOp::abs:
        unary<T>(to, args, width, [](T x) { return x < 0 ? static_cast<T>(U{0} - static_cast<U>(x)) : x; });
        return true;
    case ScalarOp::floor:
    case ScalarOp::ceil:
    case ScalarOp::round:
        unary<T>(to, args, width, [](T x) { return x; });
        return true;
    case ScalarOp::is_finite:
        predicate<T>(to, args, width, [](T, T) { return true; });
        return true;
    case ScalarOp::add:
        binary<T>(to, args, width, [](T x, T y) { return wrapping_add(x, y); });
        return true;
    case ScalarOp::sub:
        binary<T>(to, args, width, [](T x, T y) { return static_cast<T>(static_cast<U>(x) - static_cast<U>(y)); });
        return true;
    case ScalarOp::mul:
        binary<T>(to, args, width, [](T x, T y) { return wrapping_multiply(x, y); });
        return true;
    case ScalarOp::div:
        binary<T>(to, args, width, [](T x, T y) { return integer_divide(x, y); });
        return true;
    case ScalarOp::rem:
        binary<T>(to, args, width, [](T x, T y) { return integer_remainder(x, y); });
        return true;
    case ScalarOp::pow:
        binary<T>(to, args, width, [](T x, T y) { return integer_power(x, y); });
        return true;
    default:
        return false;
    }
}

// What every element type has.
template<typename T>
bool common_step(ScalarOp op, Register& to, const LaneBlock args[3], i64 width) {
    using H = Held<T>;
    switch (op) {
    case ScalarOp::sign:
        unary<T>(to, args, width, [](H x) { return sign_of(x); });
        return true;
    case ScalarOp::max:
        binary<T>(to, args, width, [](H x, H y) { return larger(x, y); });
        return true;
    case ScalarOp::min:
        binary<T>(to, args, width, [](H x, H y) { return smaller(x, y); });
        return true;
    case ScalarOp::logical_not:
        predicate<T>(to, args, width, [](H x, H) { return x == H{}; });
        return true;
    case ScalarOp::logical_and:
        predicate<T>(to, args, width, [](H x, H y) { return x != H{} && y != H{}; });
        return true;
    case ScalarOp::logical_or:
        predicate<T>(to, args, width, [](H x, H y) { return x != H{} || y != H{}; });
        return true;
    case ScalarOp::eq:
        predicate<T>(to, args, width, [](H x, H y) { return x == y; });
        return true;
    case ScalarOp::ne:
        predicate<T>(to, args, width, [](H x, H y) { return x != y; });
        return true;
    case ScalarOp::lt:
        predicate<T>(to, args, width, [](H x, H y) { return x < y; });
        return true;
    case ScalarOp::le:
        predicate<T>(to, args, width, [](H x, H y) { return x <= y; });
        return true;
    case ScalarOp::gt:
        predicate<T>(to, args, width, [](H x, H y) { return x > y; });
        return true;
    case ScalarOp::ge:
        predicate<T>(to, args, width, [](H x, H y) { return x >= y; });
        return true;
    default:
        return false;
    }
}

void select_step(DType type, Register& to, const LaneBlock args[3], i64 width) {
    visit_dtype(type, [&](auto zero) {
        using H = Held<decltype(zero)>;
        const std::uint8_t* chosen = args[0].as<std::uint8_t>();
        const H *a = args[1].as<H>(), *b = args[2].as<H>();
        H* out = to.as<H>();
        for (i64 i = 0; i < width; ++i) out[i] = chosen[i] != 0 ? a[i] : b[i];
    });
}

void cast_step(DType from, DType to_type, Register& to, const LaneBlock args[3], i64 width) {
    visit_dtype(from, [&](auto from_zero) {
        visit_dtype(to_type, [&](auto to_zero) {
            using From = Held<decltype(from_zero)>;
            using To = decltype(to_zero);
            const From* a = args[0].as<From>();
            Held<To>* out = to.as<Held<To>>();
            for (i64 i = 0; i < width; ++i) out[i] = convert_value<Held<To>>(convert_value<To>(a[i]));
        });
    });
}

void fold_in_step(size_t word, Register& to, const LaneBlock args[3], i64 width) {
    const std::uint32_t *key_0 = args[0].as<std::uint32_t>(), *key_1 = args[1].as<std::uint32_t>(),
                        *data = args[2].as<std::uint32_t>();
    std::uint32_t* out = to.as<std::uint32_t>();
    for (i64 i = 0; i < width; ++i) out[i] = threefry2x32({key_0[i], key_1[i]}, 0, data[i])[word];
}

} // namespace

void scalar_block(ScalarOp op, DType type, DType result, Register& to, const LaneBlock args[3], i64 width) {
    if (op == ScalarOp::select) {
        internal_check(type == DType::boolean, "pointwise: select by a boolean");
        return select_step(result, to, args, width);
    }
    if (op == ScalarOp::fold_in_0 || op == ScalarOp::fold_in_1)
        return fold_in_step(op == ScalarOp::fold_in_1 ? 1 : 0, to, args, width);
    if (op == ScalarOp::cast) return cast_step(type, result, to, args, width);
    const bool known = visit_dtype(type, [&](auto zero) {
        using T = decltype(zero);
        if (common_step<T>(op, to, args, width)) return true;
        if constexpr (is_float_element<T>)
            return float_step<T>(op, to, args, width);
        else
            return integer_step<T>(op, to, args, width);
    });
    internal_check(known, "pointwise: instruction not defined for the element type");
}

} // namespace shard
