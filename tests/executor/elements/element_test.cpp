#include "executor/elements/element.h"
#include "plans/base/number.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace shard;

// What a type's file says of its numbers, held against its own rounding.
TEST_CASE("the C++ type of every element type has the bytes, range and precision that are said") {
    for (DType dtype : all_dtypes()) {
        CAPTURE(name(dtype));
        CHECK(parse_dtype(name(dtype)) == dtype);
        CHECK(computed_as(computed_as(dtype)) == computed_as(dtype));
        visit_dtype(dtype, [dtype](auto zero) {
            using T = decltype(zero);
            const auto rounded = [](double x) { return convert_value<double>(convert_value<T>(x)); };
            const DTypeInfo& type = info(dtype);
            CHECK(type.bytes == sizeof(T));
            if (!is_floating(dtype)) {
                CHECK(epsilon(dtype) == 0);
                CHECK(convert_value<i64>(convert_value<T>(type.lowest)) == type.lowest);
                CHECK(convert_value<std::uint64_t>(convert_value<T>(type.highest)) == type.highest);
                return;
            }
            CHECK(rounded(type.largest) == type.largest);
            const double beyond = overflow(dtype); // of f64 infinity itself
            const double below = std::isfinite(beyond) ? type.largest + (beyond - type.largest) * 0.999 : type.largest;
            CHECK(rounded(below) == type.largest);
            CHECK_FALSE(std::isfinite(rounded(beyond)));
            CHECK(rounded(1 + epsilon(dtype)) == 1 + epsilon(dtype));
            CHECK(rounded(1 + epsilon(dtype) / 2) == 1);
        });
    }
    CHECK(byte_size(DType::bf16) == 2);
    CHECK(epsilon(DType::bf16) == 0x1p-7);
    CHECK(info(DType::u32).highest == 4294967295);
    CHECK(is_signed(DType::i64));
    CHECK_FALSE(is_signed(DType::u32));
    CHECK_FALSE(is_integer(DType::boolean));
    CHECK_FALSE(parse_dtype("float32").has_value());
}

TEST_CASE("numbers of a plan become elements at once, not by way of float") {
    CHECK(convert_value<double>(Number(0.1)) == 0.1);
    CHECK(convert_value<i64>(Number(0x1p40 + 1)) == (i64{1} << 40) + 1);
    CHECK(static_cast<float>(convert_value<ElementType<DType::bf16>::Element>(Number(0.1))) == 0.10009765625f);
}
