#include "plans/plan/report_totals.h"

#include <doctest/doctest.h>

using namespace shard;

TEST_CASE("a plan fits if the device has the memory, and its host what is kept there") {
    MemoryReport memory;
    memory.peak = 10;
    memory.host_peak = 5;
    CHECK(fits(memory)); // nobody says how much there is
    memory.capacity = 10;
    memory.host_capacity = 5;
    CHECK(fits(memory));
    memory.host_capacity = 4;
    CHECK_FALSE(fits(memory));
    memory.host_capacity = 0;
    memory.capacity = 9;
    CHECK_FALSE(fits(memory));
}
