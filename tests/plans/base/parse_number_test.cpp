#include "plans/base/parse_number.h"

#include "plans/base/base.h"

#include <doctest/doctest.h>

using namespace shard;

TEST_CASE("parse_number reads a text that is a number and nothing else") {
    CHECK(parse_number<i64>("-12") == -12);
    CHECK(parse_number<i64>("9223372036854775807") == 9223372036854775807);
    CHECK(parse_number<double>("2.5e-1") == 0.25);
    CHECK(parse_number<std::uint32_t>("cbf4", 16) == 0xcbf4);
    for (const char* text : {"", " 1", "1 ", "+1", "12 GiB", "0x1", "1.5", "9223372036854775808"})
        CHECK_FALSE(parse_number<i64>(text).has_value());
    CHECK_FALSE(parse_number<std::uint32_t>("-1").has_value());
}
