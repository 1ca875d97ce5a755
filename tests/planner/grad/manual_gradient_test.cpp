// Gradients of the ops of manual regions: against central differences by the interpreter, and, as training steps,
// against one device, where the region is written out and differentiated without any of them.
#include "tests/support/gradient_check.h"
#include "tests/support/prove.h"
#include "tests/support/region.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {

namespace {

// One region over x (8, 8) and w (8, 8).
std::string model_of(const std::string& in, const std::string& out, const std::string& body, const std::string& options,
                     const std::string& dtype) {
    return fmt::format(R"(model: gradient
inputs:
  t: {{shape: [8, 8], dtype: {3}}}
params:
  x: {{shape: [8, 8], dtype: {3}, init: {{normal: {{stddev: 1.0}}}}}}
  w: {{shape: [8, 8], dtype: {3}, init: {{normal: {{stddev: 1.0}}}}}}
graph:
  - y:
      manual:
        in: {0}
        out: {1}{4}
        body:
          {2}
  - z: {{mul: [y, y]}}
outputs: [z]
train:
  loss: {{mean: z}}
  optimizer: {{sgd: {{learning_rate: 0.1}}}}
)",
                       in, out, body, dtype, options.empty() ? "" : "\n        " + options);
}

void check(const std::string& in, const std::string& out, const std::string& body, const std::string& options = "") {
    CAPTURE(body);
    Graph graph = graph_on(model_of(in, out, body, options, "f64"), "{i: 4, j: 2}");
    add_gradients(graph);
    for (std::uint32_t seed : {1U, 2U}) CHECK(check_gradients(graph, seed) == std::vector<std::string>{});
    ProofOptions training;
    training.mode = "train";
    CHECK(prove(model_of(in, out, body, options, "f32"), "mesh: {i: 4, j: 2}\n", training) ==
          std::vector<std::string>{});
}

} // namespace

TEST_CASE("gradients of reductions over devices") {
    check("{x: [i, ~]}", "{y: ~}", "- y: {psum: x, over: i}");
    check("{x: [i, j]}", "{y: [~, j]}", "- y: {pmean: x, over: i}");
    check("{x: [i, ~]}", "{y: ~}", "- y: {pmax: x, over: i}");
    check("{x: [i, ~]}", "{y: ~}", "- y: {pmin: x, over: i}");
    check("{x: [i, j]}", "{y: ~}", "- y: {psum: x, over: [j, i]}");
}

TEST_CASE("gradients of gathers and scatters") {
    check("{x: [i, ~]}", "{y: ~}", "- y: {all_gather: x, over: i, dim: 0, tiled: true}");
    check("{x: [i, ~]}", "{y: ~}", "- y: {all_gather: x, over: i, dim: 1}");
    check("{x: [i, j]}", "{y: [i, j]}", "- y: {psum_scatter: x, over: j, dim: 1, tiled: true}");
    check("{x: [i, ~]}", "{y: [i]}",
          "- s: {slice: x, dim: 1, start: 2, limit: 6}\n"
          "          - y: {psum_scatter: s, over: i, dim: 1}");
    check("{x: ~}", "{y: [i, ~]}", "- y: {own_block: x, over: i, dim: 0}");
    check("{x: [~, j]}", "{y: [i, j]}", "- v: {pvary: x, over: i}\n          - y: {own_block: v, over: i, dim: 0}");
}

TEST_CASE("gradients of exchanges") {
    check("{x: [i, ~]}", "{y: [i, ~]}", "- y: {ppermute: x, over: i, shift: 1}");
    check("{x: [i, ~]}", "{y: [i, ~]}", "- y: {ppermute: x, over: i, perm: [[0, 2], [3, 1]]}");
    check("{x: [i, ~]}", "{y: [~, i]}", "- y: {all_to_all: x, over: i, split: 1, concat: 0, tiled: true}");
    check("{x: [~, j]}", "{y: [~, j]}", "- y: {all_to_all: x, over: j, split: 0, concat: 0, tiled: true}");
}

TEST_CASE("what every device reads gets the sum of their gradients") {
    check("{x: [i, ~], w: ~}", "{y: [i, ~]}", "- y: {dot: [x, w]}");
    check("{x: [i, ~], w: [~, j]}", "{y: [i, j]}", "- h: {dot: [x, w]}\n          - y: {tanh: h}");
    check("{x: [i, ~], w: [i, ~]}", "{y: [i, ~]}",
          "- w: {all_gather: w, over: i, dim: 0, tiled: true}\n          - y: {dot: [x, w]}");
    check("{x: [i, j], w: [j, ~]}", "{y: [i, ~]}", "- h: {dot: [x, w]}\n          - y: {psum: h, over: j}");
}

TEST_CASE("a value that does not vary is read whole on the way out and on the way in") {
    check("{x: ~, w: ~}", "{y: [i, j]}", "- y: {mul: [x, w]}");
    check("{x: ~}", "{y: ~}", "- y: {tanh: x}");
}

TEST_CASE("an unchecked result is the mean of what the devices hold") {
    // All devices along i hold the same here, though nothing says so.
    check("{x: ~, w: [~, j]}", "{y: [~, j]}", "- y: {dot: [x, w]}", "check: false");
}

TEST_CASE("a region in a module whose values are computed again") {
    const std::string model = R"(model: remat
inputs:
  x: {shape: [8, 8]}
params:
  w: {shape: [8, 8]}
modules:
  layer:
    inputs: [x]
    params:
      v: {shape: [8, 8]}
    remat: full
    graph:
      - y:
          manual:
            in: {x: [i, ~], v: [i, ~]}
            out: {y: [i, ~]}
            body:
              - v: {all_gather: v, over: i, dim: 0, tiled: true}
              - h: {dot: [x, v]}
              - y: {tanh: h}
      - y: {tanh: y}
    outputs: [y]
graph:
  - h: {dot: [x, w]}
  - h: {layer: h}
  - h: {layer: h}
outputs: [h]
train:
  loss: {mean: h}
  optimizer: {sgd: {learning_rate: 0.1}}
)";
    ProofOptions training;
    training.mode = "train";
    CHECK(prove(model, "mesh: {i: 4}\n", training) == std::vector<std::string>{});
}

TEST_CASE("the gather of a weight has one reduce_scatter as its gradient, and no all_reduce") {
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add(
        "model.yaml",
        model_of("{x: [i, ~], w: [i, ~]}", "{y: [i, ~]}",
                 "- w: {all_gather: w, over: i, dim: 0, tiled: true}\n          - y: {dot: [x, w]}", "", "f32"));
    request.layout_file = sources.add("layout.yaml", "mesh: {i: 4}\n");
    request.mode = "train";
    const Compilation compilation = compile(sources, request);
    INFO(text_of(sources, compilation.diagnostics));
    REQUIRE(compilation.plan.has_value());
    int scatters = 0;
    for (const CollectiveReport& collective : compilation.plan->report.collectives) {
        scatters += collective.kind == "reduce_scatter" ? 1 : 0;
        if (collective.kind == "all_reduce") CHECK(collective.tensor == "loss"); // the mean over all rows
    }
    CHECK(scatters == 1);
}

TEST_CASE("taking to vary what varies already changes no gradient") {
    check("{x: [i, ~]}", "{y: [i, ~]}", "- y: {pvary: x, over: i}");
    check("{x: [i, ~]}", "{y: [i, ~]}", "- v: {pvary: x, over: [i, j]}\n          - y: {pmean: v, over: j}");
    check("{x: ~}", "{y: [i, ~]}",
          "- v: {pvary: x, over: i}\n          - v: {pvary: v, over: i}\n          - y: {mul: [v, v]}");
    check("{x: [i, ~]}", "{y: [i, ~]}", "- y: {pvary: x, over: i}", "check: false");
}

} // namespace shard
