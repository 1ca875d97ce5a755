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

} // namespace shard
