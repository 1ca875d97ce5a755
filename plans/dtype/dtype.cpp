#include "plans/dtype/dtype.h"

#include "dtype_headers.inc"

#include <cmath>
#include <limits>

namespace shard {

namespace {

using Kind = DTypeInfo::Kind;

template<typename Limits>
constexpr void describe_integer(DTypeInfo& info) {
    info.kind = Limits::is_signed ? Kind::signed_integer : Kind::unsigned_integer;
    info.lowest = Limits::min();
    info.highest = Limits::max();
}

template<DType dtype>
constexpr DTypeInfo made() {
    using Type = ElementType<dtype>;
    using Element = typename Type::Element;
    using Limits = std::numeric_limits<Element>;
    DTypeInfo made{Type::name, Kind::floating, sizeof(Element), dtype, 0, 0, 0, 0, Type::also};
    if constexpr (dtype == DType::boolean) {
        made.kind = Kind::boolean;
        made.highest = 1;
    } else if constexpr (std::is_integral_v<Element>) {
        describe_integer<Limits>(made);
    } else if constexpr (!is_narrow<Element>) {
        made.significand = Limits::digits;
        made.largest = Limits::max();
    } else if constexpr (std::is_integral_v<typename Element::Wide>) {
        describe_integer<typename Element::Limits>(made);
        made.computed = std::is_signed_v<typename Element::Wide> ? DType::i32 : DType::u32;
    } else {
        made.computed = DType::f32;
        made.significand = Element::significand;
        made.largest = Type::largest;
    }
    return made;
}

// In the order of the enum, so that a lookup is an index.
constexpr DTypeInfo infos[] = {
#define REGISTER(stem) made<DType::stem>(),
#include "dtype_registry.inc"
#undef REGISTER
};
constexpr DType dtypes[] = {
#define REGISTER(stem) DType::stem,
#include "dtype_registry.inc"
#undef REGISTER
};

} // namespace

const DTypeInfo& info(DType dtype) { return infos[static_cast<size_t>(dtype)]; }
std::span<const DType> all_dtypes() { return dtypes; }

std::optional<DType> parse_dtype(std::string_view text) {
    for (DType dtype : dtypes)
        if (name(dtype) == text) return dtype;
    return std::nullopt;
}

bool is_integer(DType dtype) {
    return info(dtype).kind == Kind::signed_integer || info(dtype).kind == Kind::unsigned_integer;
}

bool is_signed(DType dtype) { return is_floating(dtype) || info(dtype).kind == Kind::signed_integer; }

double epsilon(DType dtype) { return is_floating(dtype) ? std::ldexp(1, 1 - info(dtype).significand) : 0; }

// Half a step beyond the largest number, or just above that where the largest is the even one, which rounding to nearest
// takes.
double overflow(DType dtype) {
    internal_check(is_floating(dtype), "only floating-point types overflow");
    int exponent = 0;
    std::frexp(info(dtype).largest, &exponent);
    const double step = std::ldexp(1, exponent - info(dtype).significand), half = info(dtype).largest + step / 2;
    return std::fmod(info(dtype).largest / step, 2) == 0 ? std::nextafter(static_cast<float>(half), INFINITY) : half;
}

} // namespace shard
