// Under `fsdp` with `gather: auto`, few tokens move to the shards of what they are multiplied with; many have the shards gathered.
#include "tests/support/prove.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {
namespace {

// What a device sends, by kind, as it is proved.
std::string sent(i64 tokens, const std::string& more = "", const std::string& mode = "forward", bool scan = false) {
    Sources sources;
    PlanRequest request;
    request.mode = mode;
    request.model_file = sources.add(
        "model.yaml",
        fmt::format(
            "model: mlp\naxes: {{tokens: {}, embed: 32, mlp: 128}}\ninputs: {{x: {{axes: [tokens, embed]}}}}\n"
            "modules:\n  block:\n    inputs: [x]\n"
            "    params: {{up: {{axes: [embed, mlp]}}, down: {{axes: [mlp, embed]}}, scale: {{axes: [embed]}}}}\n"
            "    graph: [{{y: {{dot: [{{relu: {{dot: [{{mul: [x, scale]}}, up]}}}}, down]}}}}]\n    outputs: [y]\n"
            "graph: [{{y: {{repeat: block, times: 2, in: x, scan: {}}}}}]\noutputs: [y]\n"
            "train: {{loss: {{mean: y}}, optimizer: {{adam: {{learning_rate: 0.1}}}}}}\n",
            tokens, scan));
    request.layout_file =
        sources.add("layout.yaml", fmt::format("mesh: {{data: 4}}\nrules: [{{tokens: data}}]\nfsdp: {{axis: data, "
                                               "min_size: 16{}}}\noutputs: {{y: [data, ~]}}\n",
                                               more));
    const Compilation c = compile(sources, request);
    INFO(text_of(sources, c.diagnostics));
    REQUIRE(c.plan);
    const std::vector<std::string> problems = prove(sources, request, c, {});
    CHECK_MESSAGE(problems.empty(), fmt::format("{}", fmt::join(problems, "\n")));
    std::map<std::string, i64> by_kind;
    for (const CollectiveReport& collective : c.plan->report.collectives)
        by_kind[std::string(collective.kind)] += collective.wire_bytes_per_device;
    std::vector<std::string> texts;
    for (const auto& [kind, bytes] : by_kind) texts.push_back(fmt::format("{} {}", kind, bytes));
    return fmt::format("{}", fmt::join(texts, ", "));
}

} // namespace

TEST_CASE("few tokens are gathered and their sums scattered, and every weight stays where it is") {
    const i64 scale = 3 * 8 * 4, tokens = 3 * 2 * 32 * 4, weight = 3 * 32 * 32 * 4;
    // The second block keeps tokens split by embed, as its scale is.
    CHECK(sent(8, ", gather: auto") == fmt::format("all_gather {}, reduce_scatter {}", 2 * tokens + scale, 2 * tokens));
    CHECK(sent(8, ", gather: always") == fmt::format("all_gather {}", 2 * (2 * weight + scale)));
    CHECK(sent(8) == sent(8, ", gather: always"));
}

TEST_CASE("many tokens stay, and weights are gathered") {
    CHECK(sent(256, ", gather: auto") == sent(256));
    CHECK(sent(256, ", gather: auto", "train") == sent(256, "", "train"));
}

TEST_CASE("steps of few tokens, written out and scanned, send less and compute the same") {
    for (const bool scan : {false, true}) {
        CAPTURE(scan);
        CHECK(sent(8, ", gather: auto", "train", scan) != sent(8, "", "train", scan));
        CHECK(sent(8, ", gather: auto, gather_again: false", "train", scan) !=
              sent(8, ", gather_again: false", "train", scan));
    }
}

} // namespace shard
