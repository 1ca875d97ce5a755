// Which parameters that fsdp splits are larger than what they meet.
#include "planner/rewrite/outweighing.h"

#include "planner/pipeline/passes.h"
#include "planner/pipeline/pipeline.h"
#include "tests/support/prove.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {
namespace {

// Their names, of a model with `tokens` rows on 8 devices.
std::string outweighing(i64 tokens, const std::string& graph, const std::string& mode = "forward",
                        const std::string& outputs = "y") {
    Sources sources;
    PlanRequest request;
    request.mode = mode;
    request.model_file = sources.add(
        "model.yaml",
        fmt::format("model: m\naxes: {{tokens: {}, vocab: 512, embed: 64, mlp: 256}}\n"
                    "inputs: {{x: {{axes: [tokens, embed]}}, i: {{axes: [tokens], dtype: i32}}}}\n"
                    "params: {{w: {{axes: [embed, mlp]}}, t: {{axes: [vocab, embed]}}, s: {{axes: [embed]}}}}\n"
                    "graph: {}\noutputs: [{}]\n"
                    "train: {{loss: {{mean: y}}, optimizer: {{sgd: {{learning_rate: 0.1}}}}}}\n",
                    tokens, graph, outputs));
    request.layout_file =
        sources.add("layout.yaml", "mesh: {data: 8}\nrules: [{tokens: data}]\nfsdp: {axis: data, min_size: 16}\n");
    Compilation c;
    run_passes(c, passes_before("fsdp", request), request, sources);
    INFO(text_of(sources, c.diagnostics));
    REQUIRE(c.seeds);
    std::vector<std::string> names;
    for (const ValueId id : outweighing_parameters(*c.graph, *c.seeds)) names.push_back(c.graph->value(id).name);
    return fmt::format("{}", fmt::join(names, " "));
}

} // namespace

TEST_CASE("a product's weight outweighs fewer rows than its widest dim has") {
    const std::string product = "[{y: {dot: [{mul: [x, s]}, w]}}, {z: {gather: [t, i]}}]";
    CHECK(outweighing(248, product, "forward", "y, z") ==
          "w t s"); // 248 x 64 elements of x, 64 x 256 of w; the scale goes with it
    CHECK(outweighing(256, product, "forward", "y, z") ==
          "t s"); // 256 x 64 of what is looked up, 512 x 64 of the table
    CHECK(outweighing(512, product, "forward", "y, z") == "");
}

TEST_CASE("what is made of a weight alone is weighed, and its gradient's readers, not the optimizer") {
    CHECK(outweighing(8, "[{y: {dot: [x, {slice: w, dim: 1, start: 0, limit: 8}]}}]") == "w"); // 64 elements of y, 512
    CHECK(outweighing(64, "[{y: {dot: [x, {slice: w, dim: 1, start: 0, limit: 64}]}}]") == "");
    CHECK(outweighing(8, "[{y: {dot: [x, w]}}]", "train") == "w");
    CHECK(outweighing(1024, "[{y: {dot: [x, w]}}]", "train") == "");
    CHECK(outweighing(8, "[{y: {mul: [x, s]}}]") == ""); // nothing but a scale
}

} // namespace shard
