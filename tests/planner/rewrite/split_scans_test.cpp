// Scans along a dim that is split gather the ends of blocks alone, and compute what they do on one device.
#include "tests/support/prove.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {
namespace {

const std::string layout = "mesh: {data: 2, seq: 4}\nrules: [{batch: data}, {length: seq}]\n";

std::string model(const std::string& graph, const std::string& dtype = "f32") {
    return fmt::format("model: scans\naxes: {{batch: 8, length: 64, heads: 6}}\ninputs:\n"
                       "  x: {{axes: [batch, length, heads], dtype: {0}}}\n"
                       "  a: {{axes: [batch, length, heads], dtype: {0}}}\ngraph:\n{1}outputs: [y]\n",
                       dtype, graph);
}

using Collectives = std::vector<std::string>; // "all_gather 288", what a device sends

// Proved on one device and by the interpreter, which rounds nothing: of numbers of 8 bits it says too little.
Collectives planned(const std::string& text, const std::string& of_layout = layout, const std::string& mode = "forward",
                    bool is_proved = true) {
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add("model.yaml", text);
    request.layout_file = sources.add("layout.yaml", of_layout);
    request.mode = mode;
    const Compilation compilation = compile(sources, request);
    INFO(text_of(sources, compilation.diagnostics));
    REQUIRE(compilation.plan.has_value());
    const std::vector<std::string> problems =
        is_proved ? prove(sources, request, compilation, {}) : std::vector<std::string>();
    CHECK_MESSAGE(problems.empty(), fmt::format("{}", fmt::join(problems, "\n")));
    Collectives made;
    for (const CollectiveReport& collective : compilation.plan->report.collectives)
        made.push_back(fmt::format("{} {}", collective.kind, collective.wire_bytes_per_device));
    return made;
}

} // namespace

TEST_CASE("every scan along a split dim gathers one element a block, forward and in reverse") {
    // A device has 4 rows of batch and 6 heads, and of each a block's end, which 3 others get.
    const std::string ends = fmt::format("all_gather {}", 3 * 4 * 6 * 4);
    for (const std::string scan : {"cumsum: x", "cummax: x", "cummin: x", "cumlogsumexp: x"})
        for (const std::string reverse : {"", ", reverse: true"}) {
            CAPTURE(scan + reverse);
            CHECK(planned(model(fmt::format("  - y: {{{}, dim: length{}}}\n", scan, reverse))) == Collectives{ends});
        }
    const std::string factors = "  - near: {exp: {mul: [x, 0.001]}}\n  - part: {logistic: a}\n";
    CHECK(planned(model(factors + "  - y: {cumprod: near, dim: length}\n")) == Collectives{ends});
    for (const std::string reverse : {"", ", reverse: true"}) // products of a, and what the block itself makes
        CHECK(planned(model(factors + fmt::format("  - y: {{linear_recurrence: [part, x], dim: length{}}}\n",
                                                  reverse))) == Collectives{ends, ends});
}

TEST_CASE("scans of whole numbers begin with what no element is less than") {
    for (const std::string dtype : {"i32", "u32", "i8"})
        for (const std::string scan : {"cumsum", "cummax", "cummin"}) {
            CAPTURE(dtype + scan);
            CHECK(planned(model(fmt::format("  - y: {{{}: x, dim: length}}\n", scan), dtype)).size() == 1);
        }
    // An end of eight bits would be rounded too far, and has no infinity: all is gathered.
    for (const std::string scan : {"cumsum", "cumlogsumexp"})
        CHECK(planned(model(fmt::format("  - y: {{{}: x, dim: length}}\n", scan), "f8e4m3fn"), layout, "forward",
                      false) == Collectives{fmt::format("all_gather {}", 3 * 4 * 6 * 16)});
    // 2^63 - 1 is no number of a model: all is gathered.
    const Collectives gathered = planned(model("  - y: {cummin: x, dim: length}\n", "i64"));
    CHECK(gathered == Collectives{fmt::format("all_gather {}", 3 * 4 * 6 * 8 * 16)});
}

TEST_CASE("the gradients of a scan are scans by blocks too, and so is one in a loop") {
    const std::string text = "model: recurrent\naxes: {batch: 8, length: 64, heads: 8}\ninputs:\n"
                             "  x: {axes: [batch, length, heads]}\nparams:\n"
                             "  w: {axes: [~, heads], shape: [8, 8], init: {normal: {stddev: 0.2}}}\n"
                             "modules:\n  block:\n    inputs: [h]\n    graph:\n"
                             "      - decay: {logistic: h}\n"
                             "      - s: {linear_recurrence: [decay, h], dim: length}\n"
                             "      - out: {add: [h, {mul: [s, 0.1]}]}\n    outputs: [out]\n"
                             "graph:\n  - h: {dot: [x, w]}\n  - y: {repeat: block, times: 3, in: h, scan: true}\n"
                             "  - loss: {mean: {mul: [y, y]}}\noutputs: [loss]\n"
                             "train: {loss: loss, optimizer: {sgd: {learning_rate: 0.1}}}\n";
    for (const std::string& collective : planned(text, layout, "train")) {
        CAPTURE(collective);
        CHECK(std::stoll(collective.substr(collective.find(' '))) <= 3 * 3 * 4 * 8 * 4); // ends, in three trips
    }
}

TEST_CASE("a scan is as it was along a dim that is whole, and where XLA partitions") {
    CHECK(planned(model("  - y: {cumsum: x, dim: heads}\n")).empty());
    const Collectives all = {fmt::format("all_gather {}", 3 * 4 * 6 * 4 * 16)};
    CHECK(planned(model("  - y: {cumsum: x, dim: length}\n"), layout + "partitioner: xla\n") == all);
}

} // namespace shard
