#include "plans/disk/file.h"
#include "plans/json/json_tree.h"

#include <doctest/doctest.h>

using namespace shard;

TEST_CASE("read_file: a file without an end is refused at the limit") {
    std::string problem;
    CHECK_FALSE(read_file("/dev/zero", problem, size_t{1} << 20).has_value());
    CHECK(problem == "it has more than 1 MiB, which is the most that is read");
    CHECK(read_file("/dev/null", problem, 0) == "");
}

TEST_CASE("parse_json: the number of values is limited") {
    CHECK(parse_json("[1, [2], {\"a\": 3}]", 6).ok); // three numbers, two lists, an object
    const JsonParse parsed = parse_json("[1, [2], {\"a\": 3}]", 5);
    CHECK_FALSE(parsed.ok);
    CHECK(parsed.problem == "more than 5 values");
}
