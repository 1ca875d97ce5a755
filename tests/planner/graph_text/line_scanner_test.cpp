#include "planner/graph_text/line_scanner.h"

#include "tests/support/reading.h"

#include <doctest/doctest.h>

using namespace shard;

TEST_CASE(
    "a line ends where it ends: what stands behind it is not read, and what it lacks is missed at its last byte") {
    const std::string text = "at -12-34";
    Diagnostics diagnostics;
    LineScanner line(std::string_view(text).substr(0, 6), {0, 7, 1, 1}, diagnostics); // "at -12"
    CHECK(line.word() == "at");
    CHECK(line.integer() == -12);
    CHECK(line.at_end());
    CHECK(line.ok());
    CHECK(line.integer() == 0);
    CHECK_FALSE(line.ok());
    CHECK(report_text(diagnostics) == "E0508 7:6+1 expected a whole number\n");
    Diagnostics of_nothing;
    LineScanner nothing("", {0, 1, 1, 1}, of_nothing);
    CHECK(nothing.integer() == 0);
    CHECK(report_text(of_nothing) == "E0508 1:1+1 expected a whole number\n");
}
