// Shapes of bug that gave users of other partitioners wrong numbers: each model is run with whole numbers, so that any
// slip is a difference.
#include "tests/support/prove.h"

#include <doctest/doctest.h>

namespace shard {

namespace {

using Problems = std::vector<std::string>;

const ProofOptions exactly = {.small_integers = true};

std::string layout_of(const std::string& text) { return "mesh: {x: 2, y: 4}\n" + text; }

// The bytes of each output of a model run under a layout, from the initializers' values.
std::map<std::string, std::vector<std::byte>> run_bytes(const std::string& model, const std::string& layout) {
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add("model.yaml", model);
    request.layout_file = sources.add("layout.yaml", layout);
    const Compilation compilation = compile(sources, request);
    REQUIRE_MESSAGE(compilation.plan, text_of(sources, compilation.diagnostics));
    Diagnostics diagnostics;
    const std::optional<RunResult> result = run_plan(*compilation.plan, {}, diagnostics);
    REQUIRE_MESSAGE(result, text_of(sources, diagnostics));
    std::map<std::string, std::vector<std::byte>> bytes;
    for (const auto& [name, tensor] : result->outputs) bytes[name] = tensor.bytes;
    return bytes;
}

} // namespace

TEST_CASE("a slice of a partial sum gives what a slice of the sum gives") {
    const std::string model = R"(model: m
inputs:
  a: {shape: [8, 16], mesh: [~, y]}
  b: {shape: [16, 8], mesh: [y, ~]}
graph:
  - c: {dot: [a, b]}
  - s: {slice: c, dim: 1, start: 3, limit: 8, stride: 2}
  - t: {slice: c, dim: 0, start: -4}
  - t: {constrain: t, mesh: [[x], ~]}
outputs: [s, t]
)";
    CHECK(prove(model, layout_of(""), exactly) == Problems{});
    CHECK(prove(model, layout_of("outputs: {s: [[x, y], ~]}\n"), exactly) == Problems{});
}

TEST_CASE("a partial value is reduced before an op in which it is not linear, on every way to it") {
    const std::string model = R"(model: m
inputs:
  a: {shape: [8, 16], mesh: [~, y]}
  b: {shape: [16, 8], mesh: [y, ~]}
graph:
  - c: {dot: [a, b]}
  - n: {neg: c}
  - r: {relu: c}
  - p: {mul: [c, c]}
  - q: {add: [c, 1]}
  - m: {reduce_max: c, dims: [0]}
  - d: {add: [c, n]}
  - e: {add: [r, c]}
  - g: {concatenate: [c, a, c], dim: 1}
  - h: {pad: c, low: [1, 0], high: [0, 2], value: 3}
  - k: {gt: [c, 0]}
  - k: {select: [k, c, n]}
outputs: [c, n, r, p, q, m, d, e, g, h, k]
)";
    CHECK(prove(model, layout_of(""), exactly) == Problems{});
    CHECK(prove(model, layout_of("values: {c: [x, ~]}\n"), exactly) == Problems{});
}

TEST_CASE("a sum over an axis that also splits a dim of its result") {
    const std::string model = R"(model: m
inputs:
  a: {shape: [8, 16], mesh: [x, y]}
  b: {shape: [16, 8], mesh: [y, ~]}
graph:
  - c: {dot: [a, b]}
  - c: {constrain: c, mesh: [~, [y, x]]}
  - d: {reduce_sum: a, dims: [1]}
  - d: {constrain: d, mesh: [[x, y]]}
  - e: {reduce_sum: a, dims: [0]}
  - e: {constrain: e, mesh: [[y, x]]}
outputs: [c, d, e]
)";
    CHECK(prove(model, layout_of(""), exactly) == Problems{});
    CHECK(prove(model, layout_of("outputs: {c: [y, x], d: [\"y:(2)2\"], e: [x]}\n"), exactly) == Problems{});
}

TEST_CASE("random values are the same bits under every layout, in both bit layouts") {
    for (const char* partitionable : {"true", "false"}) {
        const std::string model = std::string("model: m\nrng: {seed: 3, partitionable: ") + partitionable + R"(}
inputs:
  x: {shape: [8, 16]}
  n: {shape: [24], dtype: i32, init: {randint: {low: 0, high: 100}}}
params:
  w: {shape: [16, 24], init: lecun_normal}
  u: {shape: [16, 8], init: {uniform: {scale: 2.0}}}
  h: {shape: [8, 8], dtype: bf16, init: {normal: {stddev: 1.0}}}
graph:
  - y: {neg: x}
outputs: [x, n, w, u, h, y]
)";
        const auto expected = run_bytes(model, "mesh: {}\n");
        CHECK(expected.at("x") != expected.at("y"));
        for (const char* rest :
             {"params: {w: [y, x], u: [[x, y], ~], h: [~, [y, x]]}\ninputs: {x: [x, y], n: [[y, x]]}\n",
              "params: {w: [~, [x, y]], u: [y, x], h: [\"y:(2)2\", ~]}\ninputs: {x: [~, [y, x]], n: [\"y:(1)2\"]}\n",
              "device_ids: [7, 6, 5, 4, 3, 2, 1, 0]\nparams: {w: [x, y], u: [x, ~], h: [y, x]}\ninputs: {x: [y, ~]}\n"})
            CHECK(run_bytes(model, layout_of(rest)) == expected);
    }
}

// The values that JAX prints for x = normal(key 0, (192, 64)), w = normal(key 1, (64, 128)), b = normal(key 2, (128,)).
TEST_CASE("matmul and bias from keys 0, 1 and 2 give the published numbers") {
    const std::string model = R"(model: m
rng: {keys: explicit, partitionable: false}
inputs:
  x: {shape: [192, 64], mesh: [i, ~], init: {normal: {stddev: 1.0}, key: 0}}
params:
  w: {shape: [64, 128], mesh: [~, j], init: {normal: {stddev: 1.0}, key: 1}}
  b: {shape: [128], mesh: [j], init: {normal: {stddev: 1.0}, key: 2}}
graph:
  - y: {linear: [x, w, b]}
outputs: [y]
)";
    const std::vector<std::byte> bytes = run_bytes(model, "mesh: {i: 4, j: 2}\n").at("y");
    const float* y = reinterpret_cast<const float*>(bytes.data());
    CHECK(y[0] == doctest::Approx(-11.349659).epsilon(1e-6));
    CHECK(y[1] == doctest::Approx(-7.143071).epsilon(1e-6));
    CHECK(y[2] == doctest::Approx(-0.1303205).epsilon(2e-5)); // terms of 10 cancel
}

} // namespace shard
