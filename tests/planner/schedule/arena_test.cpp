#include "planner/schedule/arena.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

using namespace shard;

namespace {

bool overlap_in_time(const Extent& a, const Extent& b) { return a.begin < b.end && b.begin < a.end; }

// Checks every pair: quadratic, unlike the code under test.
void check_disjoint(const std::vector<Extent>& extents, const std::vector<i64>& offsets) {
    REQUIRE(offsets.size() == extents.size());
    i64 wrong = 0;
    for (size_t i = 0; i < extents.size(); ++i) {
        wrong += offsets[i] % 64 != 0 || offsets[i] < 0;
        for (size_t j = 0; j < i; ++j) {
            const bool apart =
                offsets[i] + extents[i].bytes <= offsets[j] || offsets[j] + extents[j].bytes <= offsets[i];
            wrong += overlap_in_time(extents[i], extents[j]) && !apart;
        }
    }
    CHECK(wrong == 0);
}

// Best fit by births as it is defined: every extent against all that were placed.
std::vector<i64> by_birth_and_definition(const std::vector<Extent>& extents, i64 first, i64 last) {
    std::vector<i64> offsets(extents.size());
    std::vector<size_t> order, placed;
    i64 floor = 0;
    const auto rounded = [&](size_t id) { return (extents[id].bytes + 63) / 64 * 64; };
    for (size_t i = 0; i < extents.size(); ++i) {
        if (extents[i].begin > first || extents[i].end < last) {
            order.push_back(i);
            continue;
        }
        offsets[i] = floor;
        floor += rounded(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        return std::pair(extents[a].begin, -extents[a].bytes) < std::pair(extents[b].begin, -extents[b].bytes);
    });
    for (const size_t id : order) {
        std::vector<std::pair<i64, i64>> taken;
        for (const size_t other : placed)
            if (overlap_in_time(extents[id], extents[other]))
                taken.emplace_back(offsets[other], offsets[other] + rounded(other));
        std::sort(taken.begin(), taken.end());
        i64 top = floor, best = -1, best_size = 0;
        for (const auto& [begin, end] : taken) {
            if (begin - top >= rounded(id) && (best < 0 || begin - top < best_size))
                best = top, best_size = begin - top;
            top = std::max(top, end);
        }
        offsets[id] = best >= 0 ? best : top;
        placed.push_back(id);
    }
    return offsets;
}

} // namespace

TEST_CASE("arena: extents that are not alive together share bytes") {
    const std::vector<Extent> extents = {{100, 0, 2}, {60, 1, 3}, {100, 2, 4}};
    CHECK(place(extents) == std::vector<i64>{0, 128, 0});
}

TEST_CASE("arena: what lives all the time lies at the bottom in the order given") {
    const std::vector<Extent> extents = {{64, 0, 9}, {64, 3, 4}, {640, 0, 9}, {128, 4, 5}};
    const std::vector<i64> offsets = place(extents);
    CHECK(offsets == std::vector<i64>{0, 704, 64, 704});
    CHECK(placed_end(extents, offsets) == 832);
}

TEST_CASE("arena: the smallest gap that fits is taken") {
    // Alive at time 2: the two large ones, with a gap of 128 and one of 64 below them; the small one fits both.
    const std::vector<Extent> extents = {{1024, 0, 4}, {512, 0, 2}, {512, 2, 4}, {256, 1, 3}};
    check_disjoint(extents, place(extents));
    CHECK(placed_end(extents, place(extents)) == most_alive(extents));
}

TEST_CASE("arena: thousands of random extents never overlap and stay near the lower bound") {
    std::uint32_t state = 7;
    const auto draw = [&state](i64 limit) {
        state = state * 1664525 + 1013904223;
        return static_cast<i64>(state >> 8) % limit;
    };
    std::vector<Extent> extents;
    for (int i = 0; i < 3000; ++i) {
        const i64 begin = draw(3000);
        extents.push_back({1 + draw(100000), begin, begin + 1 + draw(40)});
    }
    extents.push_back({5000, 0, 4000});
    const std::vector<i64> offsets = place(extents);
    check_disjoint(extents, offsets);
    CHECK(placed_end(extents, offsets) >= most_alive(extents) - 64);
    CHECK(static_cast<double>(placed_end(extents, offsets)) < 1.35 * static_cast<double>(most_alive(extents)));
}

TEST_CASE("arena: placing by birth is best fit by its definition") {
    std::mt19937 random(3);
    const auto draw = [&random](i64 limit) { return static_cast<i64>(random() % static_cast<std::uint32_t>(limit)); };
    for (int round = 0; round < 300; ++round) {
        const i64 time = 4 + draw(60), most = round % 3 == 0 ? 3 : 40;
        std::vector<Extent> extents = {{640, 0, time}, {64, 0, 1}, {64, time - 1, time}};
        for (i64 i = draw(80); i > 0; --i) {
            const i64 begin = draw(time);
            extents.push_back({64 * draw(most) + 1, begin, begin + 1 + draw(time - begin)});
        }
        CHECK(place_by_birth(extents) == by_birth_and_definition(extents, 0, time));
    }
}

TEST_CASE("arena: a hundred thousand extents that are all alive at the end take no more than they have together") {
    std::vector<Extent> extents;
    for (i64 i = 0; i < 100000; ++i) extents.push_back({64 * (1 + i % 5), i, 100000});
    const std::vector<i64> offsets = place(extents); // of each against each this would be minutes
    CHECK(placed_end(extents, offsets) == most_alive(extents));
}
