// Dims that axes do not divide are padded: what reads them sees none of it, and a plan keeps its promises.
#include "planner/graph/op_def.h"
#include "planner/pipeline/pipeline.h"
#include "planner/rewrite/padded_dims.h"
#include "tests/support/prove.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace shard {
namespace {

std::string model_of(const std::string& graph, const std::string& outputs = "y") {
    return fmt::format("model: uneven\naxes: {{n: 6, m: 5, w: 8}}\n"
                       "inputs:\n  x: {{axes: [n, w], init: normal}}\n  z: {{axes: [m, w], init: normal}}\n"
                       "  i: {{axes: [n], dtype: i32, init: {{randint: {{low: -2, high: 9}}}}}}\n"
                       "graph:\n{}outputs: [{}]\n",
                       graph, outputs);
}
const std::string layout =
    "mesh: {a: 4, b: 2}\ndivisibility: pad\nrules: [{n: a}, {m: b}, {w: ~}]\nhardware: uniform\n";

struct Planned {
    std::vector<std::string> ops; // of the graph after the pass, in order
    Compilation compilation;
};

Planned planned(const std::string& model, const std::string& with = layout) {
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add("model.yaml", model);
    request.layout_file = sources.add("layout.yaml", with);
    Planned made;
    made.compilation = compile(sources, request);
    INFO(text_of(sources, made.compilation.diagnostics));
    CAPTURE(model);
    REQUIRE(made.compilation.plan.has_value());
    for (const Node& node : made.compilation.graph->nodes) made.ops.emplace_back(op_name(node));
    const std::vector<std::string> problems = prove(sources, request, made.compilation, {});
    CHECK_MESSAGE(problems.empty(), fmt::format("{}", fmt::join(problems, "\n")));
    return made;
}

i64 count_of(const Planned& made, std::string_view op) { return std::count(made.ops.begin(), made.ops.end(), op); }

} // namespace

TEST_CASE("a padded dim is one dim of all values that share it, and pointwise ops need no mask") {
    const Planned made = planned(model_of("  - a: {tanh: x}\n  - y: {add: [a, x]}\n"));
    CHECK(count_of(made, "select") == 0);
    for (const Value& value : made.compilation.graph->values)
        if (value.name == "x" || value.name == "a" || value.name == "y") CHECK(value.type.shape == Shape{8, 8});
    const Plan& plan = *made.compilation.plan;
    CHECK(plan.buffers[static_cast<size_t>(plan.outputs[0].buffer)].real_shape() == Shape{6, 8});
    CHECK(plan.buffers[static_cast<size_t>(plan.outputs[0].buffer)].shape == Shape{2, 8});
}

TEST_CASE("what is reduced holds a neutral element in its padding, unless zeros are known there") {
    CHECK(count_of(planned(model_of("  - y: {reduce_sum: x, dim: 0}\n")), "select") ==
          0); // an input's padding is zeros
    CHECK(count_of(planned(model_of("  - a: {exp: x}\n  - y: {reduce_sum: a, dim: 0}\n")), "select") == 1);
    for (const char* const op : {"reduce_max", "reduce_min", "reduce_prod"})
        CHECK(count_of(planned(model_of(fmt::format("  - y: {{{}: x, dim: 0}}\n", op))), "select") == 1);
    // Neither operand of a contraction may be infinite where the other is 0.
    CHECK(count_of(planned(model_of("  - a: {exp: x}\n  - y: {einsum: \"nv,nw->vw\", in: [a, x]}\n")), "select") == 1);
    planned(model_of("  - a: {div: [1, x]}\n  - b: {log: x}\n  - c: {mul: [a, b]}\n"
                     "  - y: {reduce_max: {select: [{is_finite: c}, c, 0]}, dim: 0}\n"));
    planned(model_of("  - y: {softmax: x, dim: 0}\n"));
    planned(model_of("  - y: {layer_norm: {transpose: x}}\n"));
    planned(model_of("  - y: {argmax: {transpose: x}}\n"));
}

TEST_CASE("positions are counted without padding") {
    planned(model_of("  - y: {gather: [z, i], dim: 0}\n")); // -2 takes the first, 8 the last of 5
    planned(model_of("  - y: {scatter_add: [i, x], size: m}\n"));
    planned(model_of("  - y: {scatter_max: [i, x], size: 5}\n"));
    planned(model_of("  - s: {constant: 4, dtype: i32}\n  - y: {dynamic_slice: [x, s], dim: 0, size: 4}\n"));
}

TEST_CASE("what depends on a dim's length reads it without padding") {
    const Planned made = planned(model_of("  - a: {argsort: x, dim: 0}\n  - y: {cumsum: x, dim: 0}\n", "a, y"));
    CHECK(count_of(made, "slice") == 1); // once for both
    planned(model_of("  - y: {rev: x, dims: [0]}\n"));
    planned(model_of("  - y: {concatenate: [x, z], dim: 0}\n"));
    planned(model_of("  - y: {reshape: x, shape: [2, 3, 8]}\n"));
    planned(model_of("  - a: {reshape: x, shape: [48]}\n  - y: {tanh: a}\n") /* and back */);
    planned(model_of("  - y: {slice: x, dim: 0, start: 1, limit: 6}\n"));
    planned(model_of("  - y: {max_pool: x, dim: 0, window: 2}\n"));
}

TEST_CASE("rows in groups may be padded, and groups are as many as their sizes") {
    planned("model: groups\naxes: {n: 6, k: 8, g: 3, m: 4}\n"
            "inputs:\n  x: {axes: [n, k], init: normal}\n  w: {axes: [g, k, m], init: normal}\n"
            "graph:\n  - s: {constant: [2, 0, 3], dtype: i32}\n  - y: {ragged_dot: [x, w, s]}\noutputs: [y]\n",
            "mesh: {a: 4, b: 2}\ndivisibility: pad\nrules: [{n: a}, {g: b}, {k: ~}, {m: ~}]\n");
}

TEST_CASE("values that a layout splits otherwise than ops make them are padded behind the op") {
    planned(model_of("  - a: {reshape: x, shape: [16, 3]}\n  - y: {constrain: a, mesh: [~, a]}\n"));
    planned(model_of("  - a: {slice: x, dim: 0, start: 1, limit: 4}\n  - y: {constrain: a, mesh: [b, a]}\n"));
    planned(model_of("  - y: {constant: [1, 2, 3]}\n"), layout + "values: {y: [b]}\n");
}

TEST_CASE("random values are those of the unpadded array") {
    planned(model_of("  - m: {bernoulli: [n, w], probability: 0.5, key: 3}\n  - y: {select: [m, x, 0]}\n"));
}

TEST_CASE("a dim of one element may be split, and is still broadcast") {
    planned("model: one\naxes: {k: 1, w: 8}\ninputs:\n  x: {axes: [k, w], init: normal}\n"
            "  v: {shape: [4, 8], init: normal}\ngraph:\n  - y: {add: [x, v]}\noutputs: [y]\n",
            "mesh: {a: 2}\ndivisibility: pad\nrules: [{k: a}, {w: ~}]\n");
}

TEST_CASE(
    "the gradient of a parameter with a padded dim of one element is added up over microbatches without padding") {
    const std::string model = R"(model: one
axes: {batch: 4, heads: 1, kv: 2}
inputs: {x: {axes: [batch, heads, kv]}}
params: {w: {axes: [heads, kv]}}
graph: [{y: {mul: [x, w]}}]
outputs: [y]
train:
  targets: {t: {axes: [batch, heads, kv]}}
  loss: {mse: [y, t]}
  optimizer: {adam: {learning_rate: 0.01}}
  microbatches: 2
)";
    ProofOptions options;
    options.mode = "train";
    options.steps = 2;
    for (const char* const more : {"", "gradients: {w: [~, a]}\n", "fsdp: {axis: b, min_size: 1}\n"}) {
        const std::string with =
            fmt::format("mesh: {{a: 2, b: 2}}\ndivisibility: pad\nrules: [{{heads: a}}]\n{}", more);
        CAPTURE(with);
        const std::vector<std::string> problems = prove(model, with, options);
        CHECK_MESSAGE(problems.empty(), fmt::format("{}", fmt::join(problems, "\n")));
    }
}

TEST_CASE("stacks of scanned layers, microbatches and loops keep their lengths") {
    const std::string model = R"(model: layers
axes: {batch: 6, embed: 8, mlp: 10}
inputs: {x: {axes: [batch, embed], init: normal}}
modules:
  block:
    inputs: [x]
    params: {up: {axes: [embed, mlp], init: lecun_normal}, down: {axes: [mlp, embed], init: lecun_normal}}
    graph:
      - h: {tanh: {dot: [x, up]}}
      - x: {dot: [h, down]}
    outputs: [x]
graph: [{y: {repeat: block, times: 3, in: x, axis: layers, scan: true}}]
outputs: [y]
train:
  targets: {t: {axes: [batch, embed], init: normal}}
  loss: {mse: [y, t]}
  optimizer: {adamw: {learning_rate: 1.0e-2}}
)";
    for (const char* const rules :
         {"[{batch: a}, {mlp: a}, {embed: ~}, {layers: ~}]", "[{batch: a}, {mlp: b}, {embed: ~}, {layers: ~}]",
          "[{layers: b}, {batch: a}, {mlp: ~}, {embed: ~}]"}) {
        const std::string with = fmt::format("mesh: {{a: 4, b: 2}}\ndivisibility: pad\nrules: {}\n", rules);
        CAPTURE(with);
        ProofOptions options;
        options.mode = "train";
        options.steps = 2;
        const std::vector<std::string> problems = prove(model, with, options);
        CHECK_MESSAGE(problems.empty(), fmt::format("{}", fmt::join(problems, "\n")));
    }
}

TEST_CASE("neutral elements") {
    CHECK(neutral_element(ReduceOp::sum, DType::bf16) == 0);
    CHECK(neutral_element(ReduceOp::prod, DType::i32) == 1);
    CHECK(neutral_element(ReduceOp::max, DType::f32) == -INFINITY);
    CHECK(neutral_element(ReduceOp::max, DType::u8) == 0);
    CHECK(neutral_element(ReduceOp::min, DType::i32) == 2147483647);
    CHECK(!neutral_element(ReduceOp::min, DType::i64));      // no double
    CHECK(!neutral_element(ReduceOp::max, DType::f8e4m3fn)); // without infinity
}

} // namespace shard
