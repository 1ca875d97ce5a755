#include "planner/seed/join_alike.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

void add(Diagnostics& diagnostics, Span cause, std::string array, std::string size, int declared) {
    diagnostics
        .error("E0313", cause,
               "dim 0 (embed) of '" + array + "' has size " + size + ", which does not divide into 8 parts")
        .label({1, declared, 1, 1}, "declared here")
        .note("sizes that divide: 8 and 16");
}

} // namespace

TEST_CASE("arrays that one rule splits unevenly are one error, which names them and their places") {
    const Span rule = {0, 3, 6, 5}, other_rule = {0, 4, 6, 5};
    Diagnostics found;
    for (int i = 0; i < 7; ++i) add(found, rule, "w" + std::to_string(i), "12", i < 3 ? 1 : 2);
    add(found, rule, "v", "10", 3);
    add(found, other_rule, "w0", "12", 1);
    found.error("E0312", rule, "another");
    found.error("E0312", rule, "another");
    const Diagnostics joined = join_alike(found);
    REQUIRE(joined.all().size() == 5);
    const Diagnostic& first = joined.all()[0];
    CHECK(first.message == "dim 0 (embed) of 'w0' has size 12, which does not divide into 8 parts");
    REQUIRE(first.labels.size() == 3); // the rule, and two places
    CHECK(first.labels[2].span.line == 2);
    CHECK(first.notes ==
          std::vector<std::string>{"sizes that divide: 8 and 16", "so has 'w1', 'w2', 'w3', 'w4' and 2 more"});
    CHECK(joined.all()[1].labels[1].span.line == 3);
    CHECK(joined.all()[2].labels[0].span == other_rule);
    CHECK(joined.error_count() == 5);
}

TEST_CASE("a logical axis that arrays have twice is one error, with all their places") {
    Diagnostics found;
    for (int line = 1; line < 7; ++line)
        found.error("E0314", {0, line, 3, 1}, "the logical axis 'a' names dims 0 and 1");
    found.error("E0314", {0, 9, 3, 1}, "the logical axis 'b' names dims 0 and 1");
    const Diagnostics joined = join_alike(found);
    REQUIRE(joined.all().size() == 2);
    CHECK(joined.all()[0].labels.size() == 6);
    CHECK(joined.all()[1].labels.size() == 1);
}

TEST_CASE("errors that are alone stay as they are") {
    Diagnostics found;
    add(found, {0, 3, 6, 5}, "w", "12", 1);
    found.warning("W0302", {0, 1, 1, 1}, "no array has it");
    CHECK(join_alike(found).all() == found.all());
}
