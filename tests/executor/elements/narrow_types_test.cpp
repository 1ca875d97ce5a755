// Types that C++ does not have: every value, and the rounding of what lies between, from their definitions.
#include "executor/elements/element.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

namespace shard {

namespace {

// All finite numbers of a type, in order of their bits from 0 on.
template<typename T>
std::vector<double> numbers() {
    std::vector<double> found;
    for (unsigned bits = 0; bits < 1u << (8 * sizeof(T) - 1); ++bits) {
        T element;
        element.bits = static_cast<decltype(element.bits)>(bits);
        if (const double value = convert_value<double>(element); std::isfinite(value)) found.push_back(value);
    }
    return found;
}

// Round to nearest, ties to the even one, by search.
double nearest(const std::vector<double>& numbers, double value) {
    size_t above = 0;
    while (numbers[above] < value) ++above;
    if (above == 0 || numbers[above] == value) return numbers[above];
    const double up = numbers[above] - value, down = value - numbers[above - 1];
    return up < down || (up == down && above % 2 == 0) ? numbers[above] : numbers[above - 1];
}

template<typename T>
void check_rounding() {
    const std::vector<double> all = numbers<T>();
    for (size_t i = 1; i < all.size(); ++i) {
        REQUIRE(all[i] > all[i - 1]);
        for (const double share : {0.25, 0.5, 0.75}) {
            const double value = all[i - 1] + (all[i] - all[i - 1]) * share;
            REQUIRE(convert_value<double>(T(static_cast<float>(value))) == nearest(all, value));
            REQUIRE(convert_value<double>(T(static_cast<float>(-value))) == -nearest(all, value));
        }
    }
    CHECK(std::isnan(convert_value<double>(T(NAN))));
}

template<DType dtype>
using Element = typename ElementType<dtype>::Element;

} // namespace

TEST_CASE("narrow floats: every number comes back, and what lies between is rounded to the nearest, ties to even") {
    check_rounding<Element<DType::f8e4m3fn>>();
    check_rounding<Element<DType::f8e5m2>>();
    check_rounding<Element<DType::f16>>();
    check_rounding<Element<DType::bf16>>();
}

TEST_CASE("narrow floats: the largest and the smallest numbers of the definitions, and what is too large") {
    const auto stored = [](auto element, double value) {
        return convert_value<double>(convert_value<decltype(element)>(value));
    };
    const Element<DType::f8e4m3fn> e4m3;
    CHECK(numbers<Element<DType::f8e4m3fn>>().back() == 448);
    CHECK(numbers<Element<DType::f8e4m3fn>>()[1] == 0x1p-9);
    CHECK(stored(e4m3, 464) == 448);
    CHECK(std::isnan(stored(e4m3, 465)));
    CHECK(std::isnan(stored(e4m3, INFINITY)));
    const Element<DType::f8e5m2> e5m2;
    CHECK(numbers<Element<DType::f8e5m2>>().back() == 57344);
    CHECK(numbers<Element<DType::f8e5m2>>()[1] == 0x1p-16);
    CHECK(stored(e5m2, 61440) == INFINITY);
    CHECK(stored(e5m2, -INFINITY) == -INFINITY);
    const Element<DType::f16> f16;
    CHECK(numbers<Element<DType::f16>>()[1] == 0x1p-24);
    CHECK(stored(f16, 65519) == 65504);
    CHECK(stored(f16, 65520) == INFINITY);
}

TEST_CASE("narrow integers: floats saturate, whole numbers wrap") {
    const auto as = [](auto element, auto value) {
        return convert_value<i64>(convert_value<decltype(element)>(value));
    };
    CHECK(as(Element<DType::i8>(), 200.7) == 127);
    CHECK(as(Element<DType::i8>(), -200.7f) == -128);
    CHECK(as(Element<DType::i8>(), -1.9) == -1);
    CHECK(as(Element<DType::i8>(), NAN) == 0);
    CHECK(as(Element<DType::i8>(), i64{200}) == -56);
    CHECK(as(Element<DType::u8>(), -1.0) == 0);
    CHECK(as(Element<DType::u8>(), i64{-1}) == 255);
    CHECK(as(Element<DType::u16>(), i64{65536 + 7}) == 7);
    CHECK(as(Element<DType::i16>(), std::uint32_t{32768}) == -32768);
    CHECK(convert_value<double>(std::uint64_t{1} << 63) == 0x1p63);
    CHECK(convert_value<std::uint64_t>(1e30) == ~std::uint64_t{0});
    CHECK(convert_value<std::uint8_t>(Element<DType::u8>(2)) == 1); // as a boolean
}

} // namespace shard
