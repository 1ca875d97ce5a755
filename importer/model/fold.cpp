#include "importer/model/fold.h"

#include "dtype_headers.inc"

#include <algorithm>
#include <cmath>
#include <limits>

namespace shard {

namespace {

template<typename Real>
std::optional<double> real_result(std::string_view op, Real a, Real b) {
    if (op == "add") return a + b;
    if (op == "sub") return a - b;
    if (op == "mul") return a * b;
    if (op == "div" && b != 0) return a / b;
    return std::nullopt;
}

bool fits(i64 number, const DTypeInfo& type) {
    return number >= type.lowest && (number <= 0 || static_cast<std::uint64_t>(number) <= type.highest);
}

// In 64 bits; nullopt where the result does not fit the type.
std::optional<i64> whole_result(std::string_view op, i64 a, i64 b, const DTypeInfo& type) {
    i64 result = 0;
    if (op == "add"   ? __builtin_add_overflow(a, b, &result)
        : op == "sub" ? __builtin_sub_overflow(a, b, &result)
        : op == "mul" ? __builtin_mul_overflow(a, b, &result)
                      : false)
        return std::nullopt;
    if (op == "max")
        result = std::max(a, b);
    else if (op == "min")
        result = std::min(a, b);
    else if (op == "and" || op == "bit_and")
        result = a & b;
    else if (op == "or" || op == "bit_or")
        result = a | b;
    else if (op == "bit_xor")
        result = a ^ b;
    else if (op == "shift_right" && b >= 0)
        result = b < 63 ? a >> b : (a < 0 ? -1 : 0);
    else if (op == "rem" && a >= 0 && b > 0)
        result = a % b;
    else if (op != "add" && op != "sub" && op != "mul")
        return std::nullopt;
    return fits(result, type) ? std::optional(result) : std::nullopt;
}

} // namespace

std::optional<double> rounded(double number, DType to) {
    const float narrow = static_cast<float>(number);
    if (to == DType::bf16) return static_cast<float>(ElementType<DType::bf16>::Element(narrow));
    if (to == DType::f16) return static_cast<float>(ElementType<DType::f16>::Element(narrow));
    if (to == DType::f32) return narrow;
    return to == DType::f64 ? std::optional<double>(number) : std::nullopt;
}

std::optional<DraftId> fold(Draft& draft, std::string_view op, const std::vector<DraftId>& operands,
                            const DraftType& type) {
    std::vector<DraftNumber> numbers;
    for (const DraftId operand : operands) {
        if (!draft[operand].number) return std::nullopt;
        numbers.push_back(*draft[operand].number);
    }
    if (op == "select") return draft.broadcast(operands[numbers[0].integer != 0 ? 1 : 2], type.shape, {});
    const DType from = draft.type(operands[0]).dtype;
    if (op == "cast" && is_floating(from) && from != DType::f64) {
        const std::optional<double> real = rounded(numbers[0].real, type.dtype);
        return real ? std::optional<DraftId>(draft.number(type, {*real, 0})) : std::nullopt;
    }
    if (op == "cast") {
        // A whole number beyond 2^24 has no f32, and a fraction no whole number: left to the plan.
        if (is_floating(from) || type.dtype == DType::boolean) return std::nullopt;
        if (is_integer(type.dtype) && fits(numbers[0].integer, info(type.dtype)))
            return draft.number(type, {0, numbers[0].integer});
        const i64 most = i64{1} << 24; // beyond, f32 has gaps
        if (numbers[0].integer > most || numbers[0].integer < -most || !is_floating(type.dtype)) return std::nullopt;
        const std::optional<double> real = rounded(static_cast<double>(numbers[0].integer), type.dtype);
        return real ? std::optional<DraftId>(draft.number(type, {*real, numbers[0].integer})) : std::nullopt;
    }
    if (op == "not") return draft.number(type, {0, numbers[0].integer == 0});
    if (op == "neg" && is_floating(from)) return draft.number(type, {-numbers[0].real, 0});
    if (op == "sqrt" && from == DType::f32 && numbers[0].real >= 0)
        return draft.number(type, {std::sqrt(static_cast<float>(numbers[0].real)), 0});
    if (numbers.size() != 2) return std::nullopt;
    const std::optional<bool> truth = is_floating(from) ? compared(op, numbers[0].real, numbers[1].real)
                                                        : compared(op, numbers[0].integer, numbers[1].integer);
    if (truth) return draft.number(type, {0, *truth});
    if (is_floating(from)) {
        std::optional<double> real;
        if (from == DType::f32 || from == DType::bf16 || from == DType::f16)
            real = real_result(op, static_cast<float>(numbers[0].real), static_cast<float>(numbers[1].real));
        if (from == DType::f64) real = real_result(op, numbers[0].real, numbers[1].real);
        if (real) real = rounded(*real, from);
        return real ? std::optional<DraftId>(draft.number(type, {*real, 0})) : std::nullopt;
    }
    const std::optional<i64> whole = whole_result(op, numbers[0].integer, numbers[1].integer, info(from));
    return whole ? std::optional<DraftId>(draft.number(type, {0, *whole})) : std::nullopt;
}

} // namespace shard
