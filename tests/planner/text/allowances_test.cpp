#include "planner/text/allowances.h"
#include "tests/support/reading.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

struct Reading {
    Sources sources;
    Allowances allowances;
    Diagnostics diagnostics;

    explicit Reading(const std::string& text) {
        allowances.read(sources, sources.add("layout.yaml", text), diagnostics);
    }
    bool covers(std::string_view code, int line) { return allowances.covers(code, {0, line, 1, 1}); }
    std::string problems() const { return report_text(diagnostics); }
};

} // namespace

TEST_CASE("an allowance speaks of its line, or from a line of its own of the next that is not a comment") {
    Reading r("mesh: {data: 2}   # shardc: allow W0302 shared rules\n"
              "# shardc: allow W0304, P0101  small enough\n"
              "\n"
              "# another comment\n"
              "rules: [{embed: ~}]\n");
    CHECK(r.problems() == "");
    CHECK(r.covers("W0302", 1));
    CHECK_FALSE(r.covers("W0302", 2));
    CHECK_FALSE(r.covers("W0304", 1));
    CHECK(r.covers("W0304", 5));
    CHECK(r.covers("P0101", 5));
    CHECK_FALSE(r.covers("W0303", 5));
    CHECK_FALSE(r.allowances.covers("W0304", {1, 5, 1, 1})); // another file
    CHECK_FALSE(r.allowances.covers("W0304", {}));
}

TEST_CASE("what is not a comment allows nothing") {
    CHECK_FALSE(Reading("a: \"# shardc: allow W0302 x\"\n").covers("W0302", 1));
    CHECK_FALSE(Reading("a: 'it''s # shardc: allow W0302 x'\n").covers("W0302", 1));
    CHECK_FALSE(Reading("a: b# shardc: allow W0302 x\n").covers("W0302", 1));
    CHECK(Reading("a: \"#\" # shardc: allow W0302 x\n").covers("W0302", 1));
    CHECK(Reading("# allowed by shardc: it is fine\n").problems() == "");
}

TEST_CASE("an allowance without a verb, a code or a reason is an error at its place") {
    CHECK(Reading("a: 1 # shardc: ignore W0302 x\n").problems() ==
          "E0119 1:16+6 a comment for shardc allows something\n"
          "  help write # shardc: allow W0304 and why, or a comment that does not begin with shardc:\n");
    CHECK(Reading("# shardc: allow\n").problems() ==
          "E0119 1:16+1 expected the code of a warning\n  help `shardc list codes` lists them\n");
    CHECK(Reading("# shardc: allow W0399 x\n").problems() ==
          "E0119 1:17+5 there is no code 'W0399'\n  help did you mean 'W0309'?\n");
    CHECK(Reading("# shardc: allow E0203 x\n").problems() ==
          "E0119 1:17+5 E0203 is an error and cannot be allowed\n"
          "  help warnings (W...) and policy findings (P01...) can\n");
    CHECK(Reading("a: 1 # shardc: allow W0302\n").problems() ==
          "E0119 1:6+21 an allowance says why\n  help write # shardc: allow W0302 and the reason\n");
}

TEST_CASE("what is allowed is left out, and what silences nothing is a warning") {
    Reading r("a: 1 # shardc: allow W0302 x\nb: 2 # shardc: allow W0302 y\n");
    Diagnostics found;
    found.warning("W0302", {0, 1, 4, 1}, "one");
    found.warning("W0303", {0, 1, 4, 1}, "two");
    found.error("E0203", {0, 1, 4, 1}, "three");
    CHECK(report_text(r.allowances.apply(found)) ==
          "W0303 1:4+1 two\nE0203 1:4+1 three\nW0101 2:22+5 nothing here is silenced: no W0302\n"
          "  help remove the allowance\n");
}
