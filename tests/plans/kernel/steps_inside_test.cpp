// Steps inside a dim, against walking through all of them.
#include "plans/kernel/steps_inside.h"

#include "plans/base/division.h"

#include <doctest/doctest.h>

#include <cmath>

namespace shard {

TEST_CASE("whole numbers are divided downwards and upwards, whatever their signs") {
    for (i64 a = -7; a <= 7; ++a)
        for (const i64 b : {-3, -2, -1, 1, 2, 3}) {
            const double quotient = static_cast<double>(a) / static_cast<double>(b);
            CHECK(floor_div(a, b) == std::floor(quotient));
            CHECK(ceil_div(a, b) == std::ceil(quotient));
        }
}

TEST_CASE("the steps inside a dim are those that a walk finds there") {
    for (const i64 size : {1, 4, 5})
        for (i64 start = -6; start <= 9; ++start)
            for (i64 stride = -3; stride <= 3; ++stride) {
                CAPTURE(size);
                CAPTURE(start);
                CAPTURE(stride);
                const StepRange found = steps_inside({1, 6}, start, stride, size);
                for (i64 t = -20; t <= 20; ++t) {
                    const i64 at = start + stride * t;
                    const bool inside = t >= 1 && t < 6 && at >= 0 && at < size;
                    CHECK(inside == (found.low <= t && t < found.high));
                }
            }
}

} // namespace shard
