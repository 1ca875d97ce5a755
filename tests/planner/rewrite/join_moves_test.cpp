// Moves of moves are one: what is between them is made by nobody, and what it would have cost is not paid.
#include "planner/graph/op_def.h"
#include "planner/pipeline/passes.h"
#include "tests/support/prove.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {
namespace {

// Rows of 16 numbers, 64 B, over 8 devices.
std::string rows(const std::string& graph, const std::string& outputs = "y") {
    return fmt::format(
        "model: rows\naxes: {{n: 256, w: 16}}\ninputs: {{x: {{axes: [n, w]}}}}\ngraph:\n{}outputs: [{}]\n", graph,
        outputs);
}
const std::string by_rows = "mesh: {d: 8}\nrules: [{n: d}]\nhardware: uniform\n";

struct Joined {
    std::vector<std::string> ops; // that something needs, in order
    i64 sent = 0;                 // by all devices
};

Joined joined(const std::string& model, const std::string& layout = by_rows) {
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add("model.yaml", model);
    request.layout_file = sources.add("layout.yaml", layout);
    const Compilation compilation = compile(sources, request);
    INFO(text_of(sources, compilation.diagnostics));
    CAPTURE(model);
    REQUIRE(compilation.plan.has_value());
    Joined made;
    for (const Step& step : compilation.plan->steps)
        if (const Compute* compute = std::get_if<Compute>(&step); compute != nullptr && !compute->op.empty())
            made.ops.push_back(compute->op);
    for (const CollectiveReport& collective : compilation.plan->report.collectives)
        made.sent += collective.wire_bytes_total;
    const std::vector<std::string> problems = prove(sources, request, compilation, {});
    CHECK_MESSAGE(problems.empty(), fmt::format("{}", fmt::join(problems, "\n")));
    return made;
}

using Ops = std::vector<std::string>;

} // namespace

TEST_CASE("a shift is one move, however it is written") {
    // One row from each device to the next, and of a roll from the last one to the first.
    const Joined padded = joined(rows("  - a: {slice: x, dim: 0, limit: 255}\n  - y: {pad: a, dim: 0, low: 1}\n"));
    CHECK(padded.ops == Ops{"assemble"});
    CHECK(padded.sent == 7 * 64);
    CHECK(joined(rows("  - a: {pad: x, dim: 0, low: 3}\n  - y: {slice: a, dim: 0, limit: 256}\n")).sent == 7 * 3 * 64);
    CHECK(joined(rows("  - y: {roll: x, dim: 0, shift: 1}\n")).sent == 8 * 64);
    const Joined behind = joined(rows("  - z: {constant: 2, shape: [1, 16]}\n  - a: {slice: x, dim: 0, limit: 255}\n"
                                      "  - y: {concatenate: [z, a], dim: 0}\n"));
    CHECK(behind.sent == 7 * 64);
}

TEST_CASE("a causal convolution pads once, and every tap of it reads its own neighbours") {
    // By 1, 2 and 3 rows: each a message of as many.
    const Joined made = joined(rows("  - a: {pad: x, dim: 0, low: 3}\n"
                                    "  - t0: {slice: a, dim: 0, start: 0, limit: 256}\n"
                                    "  - t1: {slice: a, dim: 0, start: 1, limit: 257}\n"
                                    "  - t2: {slice: a, dim: 0, start: 2, limit: 258}\n"
                                    "  - t3: {slice: a, dim: 0, start: 3, limit: 259}\n"
                                    "  - y: {add: [t0, t1]}\n  - z: {add: [t2, t3]}\n  - y: {add: [y, z]}\n"));
    CHECK(made.sent == 7 * (3 + 2 + 1) * 64);
}

TEST_CASE("moves backwards, with strides and of joined values are joined") {
    CHECK(joined(rows("  - a: {rev: x, dim: 0}\n  - b: {slice: a, dim: 0, start: 1, stride: 3}\n"
                      "  - y: {rev: b, dim: 0}\n"))
              .ops == Ops{"assemble"});
    CHECK(
        joined(rows("  - a: {concatenate: [x, x], dim: 0}\n  - y: {slice: a, dim: 0, start: 100, limit: 356}\n")).ops ==
        Ops{"assemble"});
    CHECK(joined(rows("  - a: {slice: x, dim: 0, start: 4, limit: 100, stride: 5}\n"
                      "  - b: {pad: a, dim: 0, low: 2, high: -1}\n  - y: {slice: b, dim: 0, stride: 2}\n"))
              .ops == Ops{"assemble"});
}

TEST_CASE("what somebody else reads, wants split or has filled with numbers stays") {
    const std::string slice = "  - a: {slice: x, dim: 0, limit: 255}\n", pad = "  - y: {pad: a, dim: 0, low: 1}\n";
    CHECK(joined(rows(slice + pad, "y, a")).ops == Ops{"slice", "pad"});
    CHECK(joined(rows(slice + "  - b: {neg: a}\n" + pad, "y, b")).ops.size() == 3);
    CHECK(joined(rows(slice + pad), by_rows + "values: {a: [~, d]}\n").ops == Ops{"slice", "pad"});
    CHECK(joined(rows(slice + "  - y: {pad: a, dim: 0, low: 1, value: 3}\n")).ops == Ops{"slice", "pad"});
    // What is put between elements is no box of what was there before.
    CHECK(joined(rows("  - a: {pad: x, dim: 0, interior: 1}\n  - y: {slice: a, dim: 0, limit: 300}\n")).ops ==
          Ops{"pad", "slice"});
}

} // namespace shard
