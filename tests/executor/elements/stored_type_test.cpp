// Element types of files: what fits what, and every value.
#include "executor/elements/stored_type.h"

#include "executor/elements/element.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <vector>

namespace shard {
namespace {

template<typename T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
    std::vector<std::byte> bytes(values.size() * sizeof(T));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

template<typename To, typename From>
std::vector<To> convert(DType dtype, std::string_view numpy, const std::vector<From>& values) {
    const std::optional<StoredType> type = parse_numpy_type(numpy);
    REQUIRE(type);
    std::vector<std::byte> from = bytes_of(values);
    if (type->is_big_endian)
        for (size_t i = 0; i < values.size(); ++i)
            std::reverse(from.begin() + static_cast<i64>(i * sizeof(From)),
                         from.begin() + static_cast<i64>((i + 1) * sizeof(From)));
    std::vector<To> to(values.size());
    convert_stored(reinterpret_cast<std::byte*>(to.data()), dtype, from.data(), *type, std::ssize(values));
    return to;
}

} // namespace

TEST_CASE("f16: every one of its 65536 values is what IEEE 754 says") {
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
        ElementType<DType::f16>::Element half;
        half.bits = static_cast<std::uint16_t>(bits);
        const float value = static_cast<float>(half);
        const int exponent = static_cast<int>(bits >> 10) & 31;
        const double fraction = bits & 1023, sign = bits >> 15 != 0 ? -1 : 1;
        CAPTURE(bits);
        REQUIRE(std::signbit(value) == (sign < 0));
        if (exponent == 31 && fraction != 0) {
            REQUIRE(std::isnan(value));
        } else if (exponent == 31) {
            REQUIRE(std::isinf(value));
        } else {
            const double expected =
                exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1 + fraction / 1024, exponent - 15);
            REQUIRE(static_cast<double>(value) == sign * expected);
            REQUIRE(ElementType<DType::f16>::Element(value).bits == bits);
        }
    }
}

TEST_CASE("types of files: a name in numpy and in safetensors, and no more than there are") {
    CHECK(parse_numpy_type("<f2") == StoredType{DType::f16});
    CHECK(parse_numpy_type(">i8") == StoredType{DType::i64, true});
    CHECK(parse_numpy_type("|u1") == StoredType{DType::u8});
    CHECK(parse_numpy_type(">u1") == StoredType{DType::u8}); // one byte has no order
    CHECK(name(*parse_numpy_type(">f4")) == "big-endian f32");
    for (const std::string_view bad : {"", "<", "f4", "|f4", "=f4", "<f16", "<c8", "|V2", "<U4", "|O", "<f"})
        CHECK_MESSAGE(!parse_numpy_type(bad), bad);
    CHECK(parse_safetensors_type("F16") == StoredType{DType::f16});
    CHECK(parse_safetensors_type("BF16") == StoredType{DType::bf16});
    CHECK(parse_safetensors_type("F8_E4M3") == StoredType{DType::f8e4m3fn});
    CHECK_FALSE(parse_safetensors_type("F8_E8M0"));
    std::string without;
    for (const DType dtype : all_dtypes()) {
        CHECK(parse_safetensors_type(safetensors_name(dtype)) == StoredType{dtype});
        if (has_numpy_name(dtype))
            CHECK(parse_numpy_type(numpy_name(dtype)) == StoredType{dtype});
        else
            without += fmt::format("{} ", name(dtype));
        CHECK(name(StoredType{dtype}) == name(dtype));
    }
    CHECK(without == "bf16 f8e4m3fn f8e5m2 ");
}

TEST_CASE(
    "types of files: a type is read as one that holds all of it, floats also rounded to bf16, others not at all") {
    // By the file's type, in the order of the columns: = same, + converted, ~ rounded, - refused.
    const DType columns[] = {DType::f32, DType::f64, DType::bf16,    DType::i32, DType::i64,
                             DType::u32, DType::f16, DType::boolean, DType::u64};
    const std::pair<const char*, const char*> rows[] = {
        {"F32", "=+~------"},  {"F64", "-=-------"},     {"BF16", "++=------"},    {"F16", "++~---=--"},
        {"I8", "---++----"},   {"U8", "---+++--+"},      {"I16", "---++----"},     {"U16", "---+++--+"},
        {"I32", "---=+----"},  {"U32", "----+=--+"},     {"I64", "----=----"},     {"U64", "--------="},
        {"BOOL", "-------=-"}, {"F8_E4M3", "+++---+--"}, {"F8_E5M2", "+++---+--"},
    };
    for (const std::pair<const char*, const char*>& row : rows)
        for (size_t c = 0; c < std::size(columns); ++c) {
            CAPTURE(row.first);
            CAPTURE(name(columns[c]));
            CHECK("=+~-"[static_cast<size_t>(fit_of(*parse_safetensors_type(row.first), columns[c]))] == row.second[c]);
        }
    CHECK(fit_of({DType::f32, true}, DType::f32) == Fit::converted);
    CHECK(fit_of({DType::f64, true}, DType::f32) == Fit::refused);
}

TEST_CASE("types of files: converted values are the values, in either byte order") {
    const std::vector<float> floats = {0.0f, -1.5f, 3e38f, 1e-40f};
    CHECK(convert<float>(DType::f32, ">f4", floats) == floats);
    CHECK(convert<double>(DType::f64, "<f4", floats) == std::vector<double>(floats.begin(), floats.end()));
    const std::vector<std::uint16_t> halves = {0x3C00, 0xC000, 0x7BFF, 0x0001};
    CHECK(convert<float>(DType::f32, "<f2", halves) == std::vector<float>{1, -2, 65504, 0x1p-24f});
    CHECK(convert<double>(DType::f64, ">f2", halves) == std::vector<double>{1, -2, 65504, 0x1p-24});
    CHECK(convert<std::uint16_t>(DType::bf16, "<f2", halves) ==
          std::vector<std::uint16_t>{0x3F80, 0xC000, 0x4780, 0x3380});
    CHECK(convert<std::int32_t>(DType::i32, "|i1", std::vector<std::int8_t>{-128, 127}) ==
          std::vector<std::int32_t>{-128, 127});
    CHECK(convert<std::uint32_t>(DType::u32, "|u1", std::vector<std::uint8_t>{255, 0}) ==
          std::vector<std::uint32_t>{255, 0});
    CHECK(convert<i64>(DType::i64, ">i2", std::vector<std::int16_t>{-32768, 258}) == std::vector<i64>{-32768, 258});
    CHECK(convert<std::int32_t>(DType::i32, ">u2", std::vector<std::uint16_t>{65535, 258}) ==
          std::vector<std::int32_t>{65535, 258});
    CHECK(convert<i64>(DType::i64, "<u4", std::vector<std::uint32_t>{4294967295u}) == std::vector<i64>{4294967295});
    CHECK(convert<i64>(DType::i64, ">i8", std::vector<i64>{INT64_MIN, 258}) == std::vector<i64>{INT64_MIN, 258});
    CHECK(convert<std::uint8_t>(DType::boolean, "|b1", std::vector<std::uint8_t>{0, 1, 7}) ==
          std::vector<std::uint8_t>{0, 1, 1});           // any byte but 0 is true
    const std::vector<std::uint16_t> many(5000, 0x3C00); // more than are converted at a time
    CHECK(convert<double>(DType::f64, "<f2", many) == std::vector<double>(5000, 1.0));
}

} // namespace shard
