#include "plans/sharding/axis_lists.h"

#include <doctest/doctest.h>

using namespace shard;

TEST_CASE("the minor axes of a list are dropped, and to drop any other is a bug") {
    // Axis 0 of 8 devices and axis 1 of 4, the latter minor.
    const std::vector<AxisRef> both = {{0, 1, 8}, {1, 1, 4}};
    const auto without_suffix = [&](std::vector<AxisRef> suffix) {
        std::vector<AxisRef> list = both;
        drop_suffix(list, suffix);
        return list;
    };
    CHECK(without_suffix({}) == both);
    CHECK(without_suffix({{1, 1, 4}}) == std::vector<AxisRef>{{0, 1, 8}});
    CHECK(without_suffix({{1, 2, 2}}) == std::vector<AxisRef>{{0, 1, 8}, {1, 1, 2}}); // its minor half
    CHECK(without_suffix({{0, 4, 2}, {1, 1, 4}}) == std::vector<AxisRef>{{0, 1, 4}});
    CHECK(without_suffix(both).empty());
    CHECK_THROWS_AS(without_suffix({{0, 1, 8}}), InternalError);            // the major one
    CHECK_THROWS_AS(without_suffix({{0, 1, 4}}), InternalError);            // of the other axis, as large
    CHECK_THROWS_AS(without_suffix({{1, 1, 2}}), InternalError);            // its major half
    CHECK_THROWS_AS(without_suffix({{1, 1, 4}, {1, 1, 4}}), InternalError); // twice
}
