#include "plans/base/in_parallel.h"

#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

using namespace shard;

TEST_CASE("every part of parallel work is done once") {
    for (const size_t count : {0, 1, 2, 100}) {
        std::vector<int> done(count);
        in_parallel(count, [&](size_t i) { ++done[i]; });
        CHECK(done == std::vector<int>(count, 1));
    }
}

TEST_CASE("of parallel work that throws, all is done, and the first by its number is what is thrown") {
    std::atomic<int> done = 0;
    std::string said;
    try {
        in_parallel(50, [&](size_t i) {
            ++done;
            if (i % 20 == 7) throw std::runtime_error(std::to_string(i));
        });
    } catch (const std::runtime_error& error) {
        said = error.what();
    }
    CHECK(said == "7");
    CHECK(done == 50);
}
