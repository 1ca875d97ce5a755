// Variables: what steps update without a gradient, in train steps and others, on meshes and from step to step.
#include "tests/support/prove.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {

namespace {

// Batch norm with running statistics, a counter, and a cache that each layer of a scanned block has; all of f64, so that
// what is compared is the plan.
std::string model(const std::string& repeat, const std::string& more = {}) {
    return fmt::format(R"(model: running
axes: {{batch: 8, embed: 8, layers: 3}}
inputs: {{x: {{axes: [batch, embed], dtype: f64}}}}
variables:
  seen: {{shape: [], dtype: i32}}
modules:
  norm:
    inputs: [x]
    params: {{scale: {{axes: [embed], init: ones, dtype: f64}}, w: {{shape: [8, 8], dtype: f64}}}}
    variables: {{mean: {{axes: [embed], dtype: f64}}, var: {{axes: [embed], init: ones, dtype: f64}}}}
    graph:
      - x: {{dot: [x, w]}}
      - m: {{mean: x, dims: 0, if: $training}}
      - d: {{sub: [x, m], if: $training}}
      - v: {{mean: {{square: d}}, dims: 0, if: $training}}
      - next_mean: {{add: [{{mul: [mean, 0.75]}}, {{mul: [m, 0.25]}}], if: $training}}
      - next_var: {{add: [{{mul: [var, 0.75]}}, {{mul: [v, 0.25]}}], if: $training}}
      - v: {{add: [v, 0.001], if: $training}}
      - d: {{sub: [x, mean], if: not $training}}
      - v: {{add: [var, 0.001], if: not $training}}
      - y: {{mul: [{{mul: [d, {{rsqrt: v}}]}}, scale]}}
      - y: {{tanh: y}}
    updates: {{mean: next_mean, var: next_var, if: $training}}
    outputs: [y]
graph:
  - y: {{{0}}}
  - more: {{add: [seen, 1]}}
outputs: [y]
updates: {{seen: more}}
train:
  targets: {{t: {{axes: [batch, embed], dtype: f64}}}}
  loss: {{mse: [y, t]}}
  optimizer: {{adam: {{learning_rate: 0.01}}}}
{1})",
                       repeat, more);
}

const std::string layouts[] = {"mesh: {data: 2, model: 2}\nrules: [{batch: data}, {embed: model}]\n",
                               "mesh: {data: 4}\nrules: [{batch: data}]\nfsdp: {axis: data, min_size: 1}\n"};

} // namespace

TEST_CASE("variables of modules are updated by train steps on every mesh as on one device, in loops and written out") {
    for (const char* repeat : {"norm: x", "repeat: norm, times: 3, in: x, axis: layers",
                               "repeat: norm, times: 3, in: x, axis: layers, scan: true"})
        for (const char* more : {"", "  microbatches: 2\n"})
            for (const std::string& layout : layouts) {
                CAPTURE(repeat);
                CAPTURE(more);
                CAPTURE(layout);
                ProofOptions options;
                options.mode = "train";
                options.steps = 3;
                CHECK(fmt::format("{}", fmt::join(prove(model(repeat, more), layout, options), "; ")) == "");
            }
}

TEST_CASE("a forward step reads variables, and updates those that it has an update of") {
    for (const std::string& layout : layouts) {
        CAPTURE(layout);
        ProofOptions options;
        options.steps = 2;
        CHECK(fmt::format("{}", fmt::join(prove(model("repeat: norm, times: 3, in: x, axis: layers, scan: true"),
                                                layout, options),
                                          "; ")) == "");
    }
}

} // namespace shard
