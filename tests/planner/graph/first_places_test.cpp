#include "planner/graph/first_places.h"

#include <doctest/doctest.h>

#include <numeric>

namespace shard {

TEST_CASE("the first place of each value among the operands of a node") {
    CHECK(first_places(std::vector<ValueId>{}) == std::vector<size_t>{});
    CHECK(first_places(std::vector<ValueId>{7, 3, 7, 3, 5}) == std::vector<size_t>{0, 1, 0, 1, 4});
    // So many that comparing each with all before it would take a minute.
    std::vector<ValueId> values(1'000'000);
    std::iota(values.begin(), values.end(), 0);
    values.push_back(3);
    const std::vector<size_t> places = first_places(values);
    CHECK(places[999'999] == 999'999);
    CHECK(places.back() == 3);
}

} // namespace shard
