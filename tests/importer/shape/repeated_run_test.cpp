#include "importer/shape/repeated_run.h"

#include <doctest/doctest.h>

using namespace shard;

TEST_CASE("a run is the longest part that repeats, and its period the shortest") {
    const std::optional<RepeatedRun> run = longest_run({5, 1, 2, 3, 1, 2, 3, 1, 2, 9});
    REQUIRE(run.has_value());
    CHECK(run->begin == 1);
    CHECK(run->end == 9);
    CHECK(run->period == 3);
    CHECK(longest_run({7, 7, 7, 7})->period == 1);
    CHECK(!longest_run({1, 2, 3, 4}).has_value());
    CHECK(!longest_run({}).has_value());
}

TEST_CASE("a run is found where each of its members stands in it once, or several times") {
    for (const std::vector<int>& period : {std::vector{1, 2, 3, 4, 5, 6}, {1, 2, 1, 2, 3, 3}, {1, 2, 1, 1, 2, 2}}) {
        std::vector<int> sequence = {8, 9};
        for (int times = 0; times < 5; ++times) sequence.insert(sequence.end(), period.begin(), period.end());
        sequence.push_back(7);
        const std::optional<RepeatedRun> run = longest_run(sequence);
        REQUIRE(run.has_value());
        CHECK(run->begin == 2);
        CHECK(run->end == 32);
        CHECK(run->period == 6);
    }
    CHECK(!longest_run({1, 2, 3}).has_value());
}
