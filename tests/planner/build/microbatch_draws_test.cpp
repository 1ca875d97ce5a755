// Draws by a computed key are the same in every microbatch, and that is said.
#include "planner/pipeline/pipeline.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {
namespace {

// What is said of a train step over microbatches that draws `entries` on its way from x to h.
std::string said_of(const std::string& entries, const std::string& more = "  microbatches: 2\n") {
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add("model.yaml", fmt::format(R"(model: m
axes: {{batch: 4, length: 4, heads: 2, kv: 4, out: 4}}
inputs:
  x: {{axes: [batch, length, heads, kv]}}
  key: {{shape: [2], dtype: u32}}
  n: {{axes: [batch], dtype: i32}}
params: {{w: {{axes: [kv, out]}}}}
modules:
  block:
    inputs: [x, key]
    graph:
      - q: {{dot: [x, x_w]}}
      - x: {{attention: [q, q, q, key], dropout: 0.5}}
    params: {{x_w: {{axes: [kv, out]}}}}
    outputs: [x]
graph:
  - h: {{dot: [x, w]}}
{}outputs: [h]
train:
  targets: {{t: {{axes: [batch, length, heads, kv]}}}}
  loss: {{mse: [h, t]}}
  optimizer: {{sgd: {{learning_rate: 0.1}}}}
{})",
                                                               entries, more));
    request.layout_file = sources.add("layout.yaml", "mesh: {a: 1}\n");
    request.mode = "train";
    const Compilation compilation = compile(sources, request);
    std::string out;
    for (const Diagnostic& diagnostic : compilation.diagnostics.all())
        if (diagnostic.code != "W0201")
            out += fmt::format("{} {}: {}\n", diagnostic.code, diagnostic.labels.at(0).span.line, diagnostic.message);
    return out;
}

const std::string alike = " draws the same in each of 2 microbatches, by a key that is the same in all\n";

} // namespace

TEST_CASE("what draws by a computed key that is the same in all microbatches is said, once for all layers") {
    const std::string drawn = "  - own: {fold_in: [key, 3]}\n  - d: {bernoulli: [batch, length, heads, kv], in: own, "
                              "probability: 0.5}\n  - h: {select: [d, h, 0]}\n";
    CHECK(said_of(drawn) == "W0205 19: 'bernoulli'" + alike);
    CHECK(said_of(drawn, "") == ""); // one batch
    const std::string by_rbg = "  - long: {concatenate: [key, key], dim: 0}\n  - d: {bernoulli: [batch, length, heads, "
                               "kv], in: long, probability: 0.5}\n  - h: {select: [d, h, 0]}\n";
    CHECK(said_of(by_rbg) == "W0205 19: 'bernoulli'" + alike);
    for (const char* scan : {"", ", scan: true"})
        CHECK(said_of(fmt::format("  - h: {{repeat: block, times: 3, in: [h, key]{}}}\n", scan)) ==
              "W0205 13: 'attention'" + alike);
    const std::string split = "  - keys: {fold_in: [key, {iota: [3], dtype: u32}]}\n";
    CHECK(said_of(split + "  - h: {repeat: block, in: h, over: keys, scan: true}\n") ==
          "W0205 13: 'attention'" + alike);
}

TEST_CASE("keys that depend on the microbatch, and those that are written, draw other numbers in each") {
    for (const char* key : {"in: {fold_in: [key, {reduce_sum: n}]}", "key: 7"})
        CHECK(said_of(fmt::format("  - d: {{bernoulli: [batch, length, heads, kv], {}, probability: 0.5}}\n"
                                  "  - h: {{select: [d, h, 0]}}\n",
                                  key)) == "");
    CHECK(said_of("  - h: {dropout: h, rate: 0.5}\n  - h: {attention: [h, h, h], dropout: 0.5}\n") == "");
    CHECK(said_of("  - bits: {random_bits: [2], in: key}\n  - own: {fold_in: [bits, {reduce_sum: n}]}\n"
                  "  - d: {uniform: [batch, length, heads, kv], in: own}\n  - h: {mul: [d, h]}\n") == "");
}

} // namespace shard
