// A baseline that is damaged is refused: it would let everything pass.
#include "cli/check/baseline.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {
namespace {

// What is wrong with a payload of `check` that holds these subjects; empty if nothing is.
std::string problem_of(const std::string& subjects) {
    Sources sources;
    sources.add("b.json", fmt::format("{{\"format_version\": 1, \"subjects\": [{}]}}", subjects));
    Diagnostics diagnostics;
    const std::optional<Baseline> baseline = read_baseline(sources, 0, diagnostics);
    CHECK(baseline.has_value() == diagnostics.all().empty());
    return baseline ? "" : diagnostics.all()[0].code + " " + diagnostics.all()[0].message;
}

std::string subject(const std::string& rest) {
    return "{\"model\": \"m.yaml\", \"layout\": \"l.yaml\", \"mode\": \"forward\"" + rest + "}";
}

const std::string figures = ", \"step_seconds\": 1e-6, \"exposed_communication_seconds\": 0, \"peak_bytes\": 8, "
                            "\"wire_bytes_per_device\": 0, \"collectives\": ";

} // namespace

TEST_CASE("a baseline has all figures of what was planned, each once and not below zero") {
    CHECK(problem_of(subject(", \"verdict\": \"ok\"" + figures + "0")) == "");
    CHECK(problem_of(subject(", \"verdict\": \"error\"")) == ""); // it could not be planned, and has none
    CHECK(problem_of(subject(", \"verdict\": \"ok\"")) == "E0711 'b.json' is no baseline: l.yaml has not all figures");
    CHECK(problem_of(subject(", \"collectives\": 1")) == "E0711 'b.json' is no baseline: l.yaml has not all figures");
    CHECK(problem_of(subject(figures + "-1")) == "E0711 'b.json' is no baseline: collectives of l.yaml is -1");
    CHECK(problem_of(subject(figures + "1") + "," + subject(figures + "2")) ==
          "E0711 'b.json' is no baseline: l.yaml is in it twice");
    CHECK(problem_of(subject(figures + "\"1\"")) == "E0711 'b.json' is no baseline");
}

TEST_CASE("bytes and counts of a baseline are whole, and within range") {
    for (const std::string count : {"1e23", "1.5", "1.0", "99999999999999999999"})
        CHECK(problem_of(subject(figures + count))
                  .starts_with("E0711 'b.json' is no baseline: collectives of l.yaml is "));
    CHECK(problem_of(subject(figures + "9223372036854775807")) == "");
}

TEST_CASE("a baseline that is no JSON is said to be none, where it ends to be, and not a plan") {
    const std::string whole = "{\"format_version\": 1, \"verdict\": \"ok\", \"subjects\": [" +
                              subject(", \"verdict\": \"ok\"" + figures + "0") + "]}";
    for (const std::string& text : {whole.substr(0, 120), whole + "}", whole.substr(0, 60) + "zz" + whole.substr(60)}) {
        Sources sources;
        sources.add("b.json", text);
        Diagnostics diagnostics;
        CHECK_FALSE(read_baseline(sources, 0, diagnostics));
        REQUIRE(diagnostics.all().size() == 1);
        CHECK(diagnostics.all()[0].code == "E0711");
        CHECK(diagnostics.all()[0].message.starts_with("'b.json' is no baseline: "));
        CHECK(diagnostics.all()[0].labels.front().span.column > 50);
    }
    Sources sources;
    sources.add("b.json", std::string("{\0\0\0\n\0\0\0", 8));
    Diagnostics diagnostics;
    CHECK_FALSE(read_baseline(sources, 0, diagnostics));
    CHECK(diagnostics.all()[0].message == "the file is UTF-32LE, not UTF-8");
}

} // namespace shard
