#include "plans/dtype/element_bits.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace shard;

namespace {

std::string again(std::string_view text, DType dtype) {
    const std::optional<std::vector<ElementNumber>> numbers = read_element_bytes(text, dtype);
    return numbers ? element_bytes(*numbers, dtype) : "none";
}

} // namespace

TEST_CASE("bytes of elements are read as StableHLO writes them") {
    const std::optional<std::vector<ElementNumber>> numbers = read_element_bytes("0x0000803F000000c0", DType::f32);
    REQUIRE(numbers);
    REQUIRE(numbers->size() == 2);
    CHECK((*numbers)[0].real == 1);
    CHECK((*numbers)[1].real == -2);
    CHECK((*read_element_bytes("0x803f", DType::bf16))[0].real == 1);
    CHECK((*read_element_bytes("0xfeffffff", DType::i32))[0].integer == -2);
    CHECK((*read_element_bytes("0xfeffffff", DType::u32))[0].integer == 4294967294);
    CHECK(std::isnan((*read_element_bytes("0x0000c07f", DType::f32))[0].real));
    CHECK((*read_element_bytes("0x0000807f", DType::f32))[0].real == std::numeric_limits<double>::infinity());
}

TEST_CASE("bytes of every type are written as they were read") {
    CHECK(again("0x00ff7f80017e", DType::i8) == "0x00ff7f80017e");
    CHECK(again("0x0180ffffff7f", DType::i16) == "0x0180ffffff7f");
    CHECK(again("0x0102030405060788", DType::i64) == "0x0102030405060788");
    CHECK(again("0x0001", DType::boolean) == "0x0001");
    CHECK(again("0x0102030405060748", DType::f64) == "0x0102030405060748");
    CHECK(again("0x01000080dbfa", DType::f16) == "0x01000080dbfa");
    for (unsigned low = 0; low < 256; ++low) {
        const std::string byte = {"0123456789abcdef"[low / 16], "0123456789abcdef"[low % 16]};
        const std::string text = "0x01" + byte;
        if (const ElementNumber number = (*read_element_bytes(text, DType::bf16))[0]; !std::isnan(number.real))
            CHECK(again(text, DType::bf16) == text);
    }
}

TEST_CASE("what are no whole elements is not read") {
    for (const char* text : {"", "0x", "0000803f", "0x0000803", "0x0000803f00", "0x0000803g", "0x0000 80f", "1.5"})
        CHECK_FALSE(read_element_bytes(text, DType::f32).has_value());
    CHECK_FALSE(read_element_bytes("0xffffffffffffffff", DType::u64).has_value()); // above what i64 holds
}
