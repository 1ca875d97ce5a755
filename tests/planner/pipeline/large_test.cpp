// Sizes at the end of what 64 bits can count.
#include "planner/pipeline/pipeline.h"
#include "tests/support/prove.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {
namespace {

// A square matrix product on 2^20 devices.
Compilation compiled(const std::string& axes, const std::string& rules, Sources& sources) {
    PlanRequest request;
    request.model_file = sources.add(
        "model.yaml",
        fmt::format("model: m\naxes: {{{}}}\ninputs: {{x: {{axes: [a, b]}}}}\nparams: {{w: {{axes: [b, c]}}}}\n"
                    "graph:\n  - y: {{dot: [x, w]}}\noutputs: [y]\n",
                    axes));
    request.layout_file = sources.add("layout.yaml", "mesh: {p: 1024, q: 1024}\nrules: " + rules + "\n");
    return compile(sources, request);
}

} // namespace

TEST_CASE("a matrix of 4 TiB on a million devices is planned") {
    // x and y are 4 TiB each, split over p and q; w over q by rows.
    Sources sources;
    const Compilation c = compiled("a: 1048576, b: 1048576, c: 1048576", "[{a: p}, {b: q}, {c: ~}]", sources);
    INFO(text_of(sources, c.diagnostics));
    REQUIRE(c.plan);
    // The contraction over b leaves y of 1024 rows partial over q: 2 * 1023/1024 of 4 GiB a device, on 2^20 devices.
    REQUIRE(c.plan->report.collectives.size() == 1);
    CHECK(c.plan->report.collectives[0].wire_bytes_per_device == 2 * 1023 * (i64{1} << 22));
    CHECK(c.plan->report.collectives[0].wire_bytes_total == 2 * 1023 * (i64{1} << 42));
}

TEST_CASE("a TiB that every one of a million devices holds is planned") {
    Sources sources;
    const Compilation c = compiled("a: 1024, b: 524288, c: 524288", "[{a: p}]", sources);
    INFO(text_of(sources, c.diagnostics));
    CHECK(c.plan.has_value());
}

TEST_CASE("what 64 bits cannot count is refused") {
    Sources sources;
    const Compilation c = compiled("a: 1, b: 16777216, c: 16777216", "[]", sources);
    CHECK_FALSE(c.plan.has_value());
    const std::string text = text_of(sources, c.diagnostics);
    CHECK(text.find("error[E0401]: too large to plan at 'w'") != std::string::npos);
}

TEST_CASE("values that fit each for itself are refused where all of them do not") {
    Sources sources;
    PlanRequest request;
    // 2^53 bytes each: two are planned, the third is one too many.
    request.model_file = sources.add("model.yaml", "model: m\naxes: {a: 2251799813685248}\ninputs: {x: {axes: [a]}}\n"
                                                   "graph: [{y: {relu: x}}, {z: {exp: y}}]\noutputs: [z]\n");
    request.layout_file = sources.add("layout.yaml", "mesh: {d: 1}\n");
    const Compilation c = compile(sources, request);
    CHECK_FALSE(c.plan.has_value());
    const std::string text = text_of(sources, c.diagnostics);
    CHECK(text.find("error[E0401]: too large to plan at 'z' of shape (2251799813685248,)") != std::string::npos);
    CHECK(text.find("the values before it take 16.0 PiB") != std::string::npos);
    CHECK(c.diagnostics.error_count() == 1);
}

} // namespace shard
