#include "exporter/chakra/message.h"

#include <doctest/doctest.h>

#include <array>

namespace shard {

using namespace std::string_literals;

// The examples of protobuf.dev/programming-guides/encoding.
TEST_CASE("messages have the bytes that the description of the format shows") {
    Message number;
    number.number(1, 150);
    CHECK(number.bytes() == "\x08\x96\x01"s);
    CHECK(number.delimited() == "\x03\x08\x96\x01"s);
    Message text;
    text.text(2, "testing");
    CHECK(text.bytes() == "\x12\x07testing"s);
    Message inside;
    inside.message(3, number);
    CHECK(inside.bytes() == "\x1a\x03\x08\x96\x01"s);
    Message packed;
    packed.numbers(6, std::array<std::uint64_t, 3>{3, 270, 86942});
    CHECK(packed.bytes() == "\x32\x06\x03\x8e\x02\x9e\xa7\x05"s);
    packed.numbers(7, {});
    CHECK(packed.bytes().size() == 8);
    Message largest;
    largest.number(20, ~std::uint64_t{0});
    CHECK(largest.bytes() == "\xa0\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s);
}

} // namespace shard
