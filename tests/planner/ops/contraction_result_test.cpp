#include "tests/support/interpreter.h"
#include "tests/support/model_harness.h"
#include "tests/support/op_harness.h"
#include "tests/support/prove.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {

namespace {

// A product of bf16 operands with this argument, and its gradients.
std::string model(const std::string& product) {
    return fmt::format(R"(model: m
axes: {{batch: 8, embed: 16, mlp: 8}}
inputs:
  x: {{axes: [batch, embed], dtype: bf16}}
  w: {{axes: [embed, mlp], dtype: bf16}}
modules:
  loss:
    inputs: [x, w]
    graph:
      - y: {{{0}}}
      - y: {{cast: y, dtype: f32}}
      - l: {{reduce_sum: {{mul: [y, y]}}}}
    outputs: [l]
graph:
  - y: {{{0}}}
  - l, dx, dw: {{value_and_grad: loss, in: [x, w], wrt: [x, w]}}
outputs: [y, l, dx, dw]
)",
                       product);
}

const std::string products[] = {"dot: [x, w], result: f32", "einsum: \"be,em->bm\", in: [x, w], result: f32",
                                "einsum: \"be,em,em->bm\", in: [x, w, w], result: f32"};

} // namespace

TEST_CASE(
    "a contraction of bf16 has a result of f32 where it is asked for, which is not rounded, and gradients of bf16") {
    for (const std::string& product : products) {
        CAPTURE(product);
        Built built = build_text(model(product));
        CHECK(built.problems() == "");
        REQUIRE(built.graph.has_value());
        const Graph& graph = *built.graph;
        const auto type_of = [&](size_t output) { return graph.value(graph.outputs[output]).type.dtype; };
        CHECK(type_of(0) == DType::f32);
        CHECK(type_of(2) == DType::bf16);
        CHECK(type_of(3) == DType::bf16);
    }
    // 1 + 2^-9 is no number of bf16.
    Built built = build_text("model: m\ngraph:\n  - ones: {constant: [[1, 0.001953125]], dtype: bf16}\n"
                             "  - twos: {constant: [[1], [1]], dtype: bf16}\n"
                             "  - wide: {dot: [ones, twos], result: f32}\n  - narrow: {dot: [ones, twos]}\n"
                             "outputs: [wide, narrow]\n");
    CHECK(built.problems() == "");
    REQUIRE(built.graph.has_value());
    CHECK(interpret(*built.graph, {}).at("wide").values[0] == 1.001953125);
}

TEST_CASE("a contraction with a result of f32 is the same on every layout") {
    for (const std::string& product : products)
        for (const char* rules : {"[{batch: a}, {mlp: b}]", "[{embed: [a, b]}]", "[{embed: b}, {batch: a}]"}) {
            CAPTURE(product);
            CAPTURE(rules);
            CHECK(prove(model(product), fmt::format("mesh: {{a: 2, b: 4}}\nrules: {}\n", rules)) ==
                  std::vector<std::string>{});
        }
}

TEST_CASE("a contraction has a result of its operands' type or of the one in which it is summed up") {
    const TensorType narrow = typed(DType::bf16, {2, 4}), w = typed(DType::bf16, {4, 3});
    CHECK(shape_of("dot", {narrow, w}, {{"result", std::string("f32")}}) == "(2, 3)");
    CHECK(shape_of("dot", {narrow, w}, {{"result", std::string("f64")}}) ==
          "error E0226: 'dot' of bf16 operands has a result of bf16 or f32, not f64");
    CHECK(shape_of("dot", {f32({2, 4}), f32({4, 3})}, {{"result", std::string("bf16")}}) ==
          "error E0226: 'dot' of f32 operands has a result of f32, not bf16");
}

TEST_CASE("an einsum of one operand moves and sums whole numbers too, and of several it multiplies floats alone") {
    const TensorType whole = typed(DType::i32, {2, 4});
    CHECK(shape_of("einsum", {whole}, {{"equation", std::string("ab->ba")}}) == "i32(4, 2)");
    CHECK(shape_of("einsum", {whole, whole}, {{"equation", std::string("ab,ab->ba")}}).starts_with("error E0"));
}

} // namespace shard
