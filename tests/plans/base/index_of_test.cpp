#include "plans/base/index_of.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace shard;

TEST_CASE("index_of is the first place of a value, or the size of the list") {
    const std::vector<std::string> names = {"a", "b", "a"};
    CHECK(index_of(names, "a") == 0);
    CHECK(index_of(names, "b") == 1);
    CHECK(index_of(names, "c") == 3);
    CHECK(index_of(std::vector<int>(), 1) == 0);
}
