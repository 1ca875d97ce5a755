#include "tests/support/gradient_check.h"
#include "tests/support/model_harness.h"
#include "tests/support/op_harness.h"
#include "tests/support/prove.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {

namespace {

using Numbers = std::vector<double>;

// Of 3, 1, 4, 1, 5.
Numbers pooled(const std::string& entry) {
    Built built = build_text(fmt::format("model: m\ninputs: {{x: {{shape: [1, 5, 1], dtype: f64}}}}\ngraph:\n"
                                         "  - y: {{{}}}\noutputs: [y]\n",
                                         entry));
    CHECK(built.problems() == "");
    REQUIRE(built.graph.has_value());
    return interpret(*built.graph, {{"x", {{1, 5, 1}, {3, 1, 4, 1, 5}}}}).at("y").values;
}

std::string trained(const std::string& entry) {
    return fmt::format(R"(model: m
axes: {{batch: 4, height: 16, width: 8, channels: 8}}
inputs:
  x: {{axes: [batch, height, width, channels]}}
modules:
  loss:
    inputs: [x]
    graph:
      - y: {{{0}}}
      - y: {{mul: [y, y]}}
      - l: {{reduce_sum: y}}
    outputs: [l]
graph:
  - y: {{{0}}}
  - l, dx: {{value_and_grad: loss, in: x, wrt: [x]}}
outputs: [y, l, dx]
)",
                       entry);
}

std::string proved(const std::string& model, const std::string& layout) {
    return fmt::format("{}", fmt::join(prove(model, layout), "\n"));
}

const TensorType x = f32({2, 8, 6, 4});
const std::vector<i64> three = {3}, two = {2};

} // namespace

TEST_CASE("a pooling passes on what no window slides along, and reduces what one window takes all of") {
    CHECK(rule_of("max_pool", {x}, {{"window", three}}) ==
          "([i, j, k, l])->([i, j, k, l]) {i=2, j=8, k=6, l=4} permutation={j, k}");
    CHECK(rule_of("sum_pool", {x}, {{"window", std::vector<i64>{8, 6}}}) ==
          "([i, j, k, l])->([i, m, n, l]) {i=2, j=8, k=6, l=4, m=1, n=1} reduction={j, k} need_replication={m, n}");
    CHECK(rule_of("min_pool", {x}, {{"window", std::vector<i64>{1}}, {"dim", std::vector<i64>{3}}}) ==
          "([i, j, k, l])->([i, j, k, l]) {i=2, j=8, k=6, l=4}");
    CHECK(rule_of("max_pool_gradient", {x, f32({2, 6, 4, 4})}, {{"window", three}}) ==
          "([i, j, k, l],[i, j, k, l])->([i, j, k, l]) {i=2, j=8, k=6, l=4} permutation={j, k}");
    Emitted largest = emit("max_pool", {x}, {{"window", std::vector<i64>{8, 6}}});
    CHECK(largest.rule().reduce == ReduceOp::max);
}

TEST_CASE("a pooling's shape follows from windows, strides and padding") {
    CHECK(shape_of("max_pool", {x}, {{"window", three}}) == "(2, 6, 4, 4)");
    CHECK(shape_of("max_pool", {x}, {{"window", three}, {"strides", two}, {"padding", std::string("same")}}) ==
          "(2, 4, 3, 4)");
    CHECK(shape_of("avg_pool", {x}, {{"window", two}, {"strides", two}}) == "(2, 4, 3, 4)");
    CHECK(shape_of("sum_pool", {x}, {{"window", two}, {"dim", std::vector<i64>{3}}, {"low", two}}) == "(2, 8, 6, 5)");
    CHECK(shape_of("sum_pool", {typed(DType::bf16, {2, 8, 6})}, {{"window", two}}) == "bf16(2, 7, 6)");
    CHECK(shape_of("max_pool_gradient", {x, f32({2, 6, 4, 4})}, {{"window", three}}) == "(2, 8, 6, 4)");
}

TEST_CASE("a pooling of what does not fit is refused") {
    CHECK(shape_of("max_pool", {f32({2, 8})}, {{"window", two}}) ==
          "error E0223: windows of 'max_pool' slide along the dims between the first and the last, and x0 (2, 8) has "
          "none");
    CHECK(shape_of("max_pool", {x}, {{"window", std::vector<i64>{1, 2, 3}}}) ==
          "error E0226: `window` of 'max_pool' has 3 entries for 2 dims");
    CHECK(shape_of("sum_pool", {x}, {{"window", std::vector<i64>{0}}}) ==
          "error E0226: `window` of 'sum_pool' is at least 1, not 0");
    CHECK(shape_of("sum_pool", {x}, {{"window", std::vector<i64>{9, 1}}}) ==
          "error E0226: 'sum_pool' has no place for a window of 9 on 8 elements with 0 before and 0 behind");
    CHECK(shape_of("min_pool", {typed(DType::i32, {2, 8, 4})}, {{"window", two}}) ==
          "error E0224: 'min_pool' needs a floating-point type, and x0 is i32");
    CHECK(shape_of("avg_pool", {typed(DType::i32, {2, 8, 4})}, {{"window", two}}).starts_with("error E0224"));
    CHECK(
        shape_of("max_pool_gradient", {x, x}, {{"window", three}}) ==
        "error E0223: 'max_pool_gradient' takes a number for each window, and x1 (2, 8, 6, 4) has not the shape (2, 6, "
        "4, 4)");
    CHECK(shape_of("max_pool_gradient", {x, f32({2, 6, 4, 4})}, {{"window", two}, {"dilation", two}}) ==
          "error E0226: 'max_pool_gradient' is of windows that are not dilated");
}

TEST_CASE("a pooling's numbers are those of the definition") {
    CHECK(pooled("max_pool: x, window: 2") == Numbers{3, 4, 4, 5});
    CHECK(pooled("min_pool: x, window: 3, padding: same") == Numbers{1, 1, 1, 1, 1});
    CHECK(pooled("sum_pool: x, window: 3, padding: same") == Numbers{4, 8, 6, 10, 6});
    CHECK(pooled("sum_pool: x, window: 2, strides: 2, high: 1") == Numbers{4, 5, 5});
    CHECK(pooled("sum_pool: x, window: 2, dilation: 3") == Numbers{4, 6});
    CHECK(pooled("sum_pool: x, window: 2, input_dilation: 2, strides: 3") == Numbers{3, 4, 1}); // 3 0 1 0 4 0 1 0 5
    CHECK(pooled("avg_pool: x, window: 2, strides: 2") == Numbers{2, 2.5});
    CHECK(pooled("avg_pool: x, window: 4, strides: 2, padding: same") == Numbers{2, 2.75, 1.5});
    CHECK(pooled("avg_pool: x, window: 4, strides: 2, padding: same, count_include_pad: false") ==
          Numbers{8.0 / 3, 2.75, 3});
}

TEST_CASE("gradients of poolings agree with central differences") {
    for (const std::string op :
         {"sum_pool: s, window: 2", "sum_pool: s, window: 3, strides: 2, padding: same, dilation: 2",
          "sum_pool: s, window: 3, input_dilation: 2, low: 2, high: -1", "sum_pool: s, window: [2, 2], dim: [0, 2]",
          "max_pool: s, window: 2", "max_pool: s, window: 3, strides: 2, padding: same",
          "min_pool: s, window: [2, 3], dim: [0, 1], low: 1", "avg_pool: s, window: 3, padding: same",
          "avg_pool: s, window: 2, strides: 3, low: 1, high: 1, count_include_pad: false"}) {
        CAPTURE(op);
        CHECK(gradient_problems(op) == std::vector<std::string>{});
    }
}

TEST_CASE("a pooling and its gradient are the same split over batch, channels and what windows slide along") {
    for (const std::string entry :
         {"max_pool: x, window: 3, strides: 2, padding: same", "min_pool: x, window: 2",
          "sum_pool: x, window: 3, padding: same, dilation: 2", "avg_pool: x, window: 2, strides: 2",
          "avg_pool: x, window: 3, padding: same, count_include_pad: false", "max_pool: x, window: [16, 8]",
          "sum_pool: x, window: [16, 8]", "max_pool: x, window: 2, strides: 4"})
        for (const std::string rules : {"[{batch: a}, {channels: b}]", "[{height: b}]", "[{height: a}, {width: b}]",
                                        "[{batch: a}, {height: b}]"}) {
            CAPTURE(entry);
            CAPTURE(rules);
            CHECK(proved(trained(entry), fmt::format("mesh: {{a: 2, b: 4}}\nrules: {}\n", rules)) == "");
        }
}

TEST_CASE("a maximum of dilated windows has no derivative, and a gradient of a maximum none either") {
    const auto problems = [](const std::string& entry, bool twice) {
        const std::string grad = "      - l, g: {value_and_grad: loss, in: x, wrt: [x]}\n      - g: {mul: [g, g]}\n"
                                 "      - s: {reduce_sum: g}\n    outputs: [s]\n";
        return build_text("model: m\ninputs: {x: {shape: [1, 6, 1]}}\nmodules:\n  loss:\n    inputs: [x]\n    graph:\n"
                          "      - y: {" +
                          entry +
                          "}\n      - l: {reduce_sum: y}\n    outputs: [l]\n  steep:\n    inputs: [x]\n    graph:\n" +
                          grad + "graph:\n  - l, g: {value_and_grad: " + (twice ? "steep" : "loss") +
                          ", in: x, wrt: [x]}\noutputs: [l, g]\n")
            .problems();
    };
    CHECK(problems("max_pool: x, window: 2, dilation: 2", false).find("E0246") != std::string::npos);
    CHECK(problems("min_pool: x, window: 2", false) == "");
    CHECK(problems("min_pool: x, window: 2", true).find("E0246") != std::string::npos);
}

} // namespace shard
