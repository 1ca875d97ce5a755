// Who holds what, where ranks meet, and what becomes of those that others wait for.
#include "executor/engine/ranks.h"
#include "tests/support/thread_ranks.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <thread>

namespace shard {

TEST_CASE("ranks hold blocks of neighbouring positions") {
    on_thread_ranks(4, [](Ranks& ranks) {
        CHECK(ranks.held(8) == 2);
        CHECK(ranks.first_position(8) == 2 * ranks.rank());
        CHECK(ranks.holder(2 * ranks.rank() + 1, 8) == ranks.rank());
    });
}

TEST_CASE("what the first rank makes of everybody's message is what all go on with") {
    std::array<std::optional<std::string>, 3> heard;
    std::array<std::optional<std::vector<i64>>, 3> largest, sum;
    std::array<bool, 3> all = {true, true, true}, fine = {};
    on_thread_ranks(3, [&](Ranks& ranks) {
        const int rank = ranks.rank();
        heard[rank] = ranks.meet("a test", std::to_string(rank), [](std::vector<std::string>& messages) {
            return fmt::format("{}", fmt::join(messages, "+"));
        });
        largest[rank] = ranks.largest("a test", {rank, -rank});
        sum[rank] = ranks.sum("a test", {rank, 10});
        all[rank] = ranks.all("a test", rank != 1);
        fine[rank] = ranks.all("a test", true);
    });
    for (int rank = 0; rank < 3; ++rank) {
        CHECK(heard[rank] == "0+1+2");
        CHECK(largest[rank] == std::vector<i64>{2, 0});
        CHECK(sum[rank] == std::vector<i64>{3, 30});
        CHECK_FALSE(all[rank]);
        CHECK(fine[rank]);
    }
}

TEST_CASE("where one rank ends early, the others meet nobody any more, and all hear its last words") {
    for (int early = 0; early < 3; ++early) {
        std::array<std::string, 3> last;
        std::array<bool, 3> met = {};
        on_thread_ranks(3, [&](Ranks& ranks) {
            const int rank = ranks.rank();
            if (rank != early) met[rank] = ranks.all("a test", true) || ranks.all("another", true);
            last[rank] = ranks.finish(std::to_string(rank), [](std::vector<std::string>& messages) {
                return fmt::format("{}", fmt::join(messages, " "));
            });
        });
        for (int rank = 0; rank < 3; ++rank) {
            CHECK_FALSE(met[rank]);
            CHECK(last[rank] == "0 1 2");
        }
    }
}

TEST_CASE("a rank that does not come is found by those that wait, who do not suspect each other") {
    std::array<std::set<int>, 4> missing;
    std::atomic<int> ended = 0;
    on_thread_ranks(
        4,
        [&](Ranks& ranks) {
            if (ranks.rank() == 2) { // it hangs: neither meets nor polls
                while (ended < 3) std::this_thread::sleep_for(std::chrono::milliseconds(10));
                return;
            }
            try {
                ranks.all("the end of a step", true);
            } catch (const MissingRanks& found) {
                missing[ranks.rank()] = found.ranks;
                CHECK(found.what() == std::string("the end of a step"));
            }
            ++ended;
        },
        0.2);
    for (int rank : {0, 1, 3}) CHECK(missing[rank] == std::set<int>{2});
}

} // namespace shard
