#include "executor/kernels/softmax_row.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace shard {

TEST_CASE("exponentials of a row of f32 are within two units in the last place, and 0 or infinity beyond the ends") {
    double most = 0;
    for (int first = -870; first < 840; first += 7) {
        std::vector<float> row;
        for (int i = 0; i < 21; ++i) row.push_back(static_cast<float>(0.1 * first + 0.0333 * i));
        std::vector<float> made = row;
        const float sum = exponentials(made.data(), 21, 0.0f);
        double exact = 0;
        for (size_t i = 0; i < row.size(); ++i) {
            const double want = std::exp(static_cast<double>(row[i]));
            exact += want;
            most = std::max(most, std::fabs(made[i] - want) / want);
        }
        CHECK(sum == doctest::Approx(exact).epsilon(1e-5));
    }
    CHECK(most < 2 * std::numeric_limits<float>::epsilon());

    constexpr float infinity = std::numeric_limits<float>::infinity();
    std::vector<float> ends = {-infinity, -200, 200, infinity, NAN};
    exponentials(ends.data(), 5, 0.0f);
    CHECK(ends[0] == 0);
    CHECK(ends[1] == 0);
    CHECK(ends[2] == infinity);
    CHECK(ends[3] == infinity);
    CHECK(std::isnan(ends[4]));
}

TEST_CASE("the largest of a row is found in every place, and of none it is -infinity") {
    for (size_t place = 0; place < 37; ++place) {
        std::vector<float> row(37, -3);
        row[place] = -2;
        CHECK(largest_of(row.data(), 37) == -2);
    }
    CHECK(largest_of(static_cast<const float*>(nullptr), 0) == -std::numeric_limits<float>::infinity());
    CHECK(largest_of(static_cast<const double*>(nullptr), 0) == -std::numeric_limits<double>::infinity());
}

} // namespace shard
