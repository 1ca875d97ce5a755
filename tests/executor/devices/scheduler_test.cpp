#include "executor/devices/scheduler.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>

namespace shard {

TEST_CASE("what a task shares is done once each, by workers without a device too, before the task goes on") {
    for (int workers : {1, 2, 4}) {
        CAPTURE(workers);
        Scheduler scheduler(workers, 2);
        constexpr i64 parts = 200;
        std::vector<std::atomic<int>> done(2 * parts);
        std::atomic<int> missing = 0;
        for (int step = 0; step < 20; ++step) {
            scheduler.run([&](int device) {
                scheduler.share(parts, [&](i64 part) { ++done[static_cast<size_t>(device * parts + part)]; });
                for (i64 part = 0; part < parts; ++part)
                    if (done[static_cast<size_t>(device * parts + part)] != step + 1) ++missing;
                return Progress::done;
            });
        }
        CHECK(missing == 0);
    }
}

TEST_CASE("workers without a device do parts of what another shares") {
    Scheduler scheduler(2, 1);
    std::atomic<int> begun = 0;
    bool met = false;
    scheduler.run([&](int) {
        // Each part waits for the other: one worker alone would wait until the limit.
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (!met && std::chrono::steady_clock::now() < limit) {
            begun = 0;
            std::atomic<bool> both = false;
            scheduler.share(2, [&](i64) {
                ++begun;
                const auto soon = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
                while (begun < 2 && std::chrono::steady_clock::now() < soon) std::this_thread::yield();
                if (begun == 2) both = true;
            });
            met = both;
        }
        return Progress::done;
    });
    CHECK(met);
}

TEST_CASE("what a part throws is thrown by the run, and the team goes on") {
    for (int workers : {1, 3}) {
        CAPTURE(workers);
        Scheduler scheduler(workers, 1);
        const auto fails = [&](int) {
            scheduler.share(50, [](i64 part) {
                if (part == 7) throw std::runtime_error("part 7");
            });
            return Progress::done;
        };
        CHECK_THROWS_WITH_AS(scheduler.run(fails), "part 7", std::runtime_error);
        std::atomic<int> done = 0;
        scheduler.run([&](int) {
            scheduler.share(50, [&](i64) { ++done; });
            return Progress::done;
        });
        CHECK(done == 50);
    }
}

} // namespace shard
