#include "plans/base/units.h"

#include <doctest/doctest.h>

using namespace shard;

TEST_CASE("bytes are shown in binary units with three digits") {
    CHECK(human_bytes(0) == "0 B");
    CHECK(human_bytes(1023) == "1023 B");
    CHECK(human_bytes(1024) == "1.00 KiB");
    CHECK(human_bytes(24576) == "24.0 KiB");
    CHECK(human_bytes(102400) == "100 KiB");
    CHECK(human_bytes(i64{1} << 20) == "1.00 MiB");
    CHECK(human_bytes((i64{1} << 20) - 1) == "1.00 MiB"); // not "1024 KiB"
    CHECK(human_bytes(i64{16} << 30) == "16.0 GiB");
    CHECK(human_bytes(i64{1} << 62) == "4.00 EiB");
    CHECK(exact_bytes(24576) == "24.0 KiB (24,576 B)");
    CHECK(exact_bytes(12) == "12 B");
}

TEST_CASE("seconds, FLOPs, counts and shares keep three digits") {
    CHECK(human_seconds(0) == "0 s");
    CHECK(human_seconds(2.33e-5) == "23.3 us");
    CHECK(human_seconds(1e-6) == "1.00 us");
    CHECK(human_seconds(4.5e-8) == "45.0 ns");
    CHECK(human_seconds(0.25) == "250 ms");
    CHECK(human_seconds(90) == "90.0 s");
    CHECK(human_flops(999) == "999 FLOP");
    CHECK(human_flops(4194304) == "4.19 MFLOP");
    CHECK(grouped(-1234567) == "-1,234,567");
    CHECK(grouped(123) == "123");
    CHECK(percent(1, 8) == "12.5%");
    CHECK(percent(1, 100000) == "<0.1%");
    CHECK(percent(0, 8) == "0.0%");
    CHECK(percent(1, 0) == "-");
    CHECK(counted(1, "collective") == "1 collective");
    CHECK(counted(1200, "device") == "1,200 devices");
}

TEST_CASE("a bar shows a part, and never hides a small one") {
    CHECK(bar(5, 10, 10) == "[#####.....]");
    CHECK(bar(1, 1000000, 10) == "[#.........]");
    CHECK(bar(0, 10, 4) == "[....]");
    CHECK(bar(1, 0, 4) == "[....]");
    CHECK(bar(20, 10, 4) == "[####]");
}
