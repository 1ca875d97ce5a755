#include "tests/support/gradient_check.h"
#include "tests/support/interpreter.h"
#include "tests/support/model_harness.h"
#include "tests/support/op_harness.h"
#include "tests/support/prove.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {

namespace {

TensorType sizes(Shape shape) { return typed(DType::i32, std::move(shape)); }

} // namespace

TEST_CASE("rows of a ragged_dot split over rows, both sides of the matrices and the groups, whose sizes all need") {
    CHECK(rule_of("ragged_dot", {f32({12, 8}), f32({4, 8, 6}), sizes({4})}) ==
          "([i, k],[l, k, j],[m])->([i, j]) {i=12, j=6, k=8, l=4, m=4} reduction={k, l} need_replication={m}");
    CHECK(rule_of("ragged_dot", {f32({12, 8}), f32({4, 6, 8}), sizes({4})}, {{"transposed", true}}) ==
          "([i, k],[l, j, k],[m])->([i, j]) {i=12, j=6, k=8, l=4, m=4} reduction={k, l} need_replication={m}");
    // w has the last of the two dims before the rows.
    CHECK(rule_of("ragged_dot", {f32({2, 3, 12, 8}), f32({3, 4, 8, 6}), sizes({2, 3, 4})}) ==
          "([i, j, k, m],[j, n, m, l],[i, j, o])->([i, j, k, l]) {i=2, j=3, k=12, l=6, m=8, n=4, o=4} reduction={m, n} "
          "need_replication={o}");
    CHECK(rule_of("ragged_dot", {f32({12, 8}), f32({1, 8, 6}), sizes({1})}) ==
          "([i, k],[l, k, j],[m])->([i, j]) {i=12, j=6, k=8, l=1, m=1} reduction={k} need_replication={l, m}");
}

TEST_CASE("the gradient of the matrices splits over groups, and is summed over rows") {
    CHECK(rule_of("ragged_dot_gradient", {f32({12, 8}), f32({12, 6}), sizes({4})}) ==
          "([i, k],[i, j],[m])->([l, k, j]) {i=12, j=6, k=8, l=4, m=4} reduction={i} need_replication={m}");
    CHECK(rule_of("ragged_dot_gradient", {f32({2, 3, 12, 8}), f32({2, 3, 12, 6}), sizes({2, 3, 4})},
                  {{"batch", i64{1}}}) ==
          "([i, j, k, m],[i, j, k, l],[i, j, o])->([j, n, m, l]) {i=2, j=3, k=12, l=6, m=8, n=4, o=4} reduction={i, k} "
          "need_replication={o}");
}

TEST_CASE("operands of a ragged_dot that do not fit are refused") {
    const auto dot = [](Shape x, Shape w, Shape s) {
        return shape_of("ragged_dot", {f32(std::move(x)), f32(std::move(w)), sizes(std::move(s))});
    };
    CHECK(dot({12, 8}, {4, 8, 6}, {4}) == "(12, 6)");
    CHECK(dot({2, 12, 8}, {4, 8, 6}, {2, 4}) == "(2, 12, 6)");
    CHECK(dot({2, 12, 8}, {2, 4, 8, 6}, {2, 4}) == "(2, 12, 6)");
    const std::string refused = "error E0223: 'ragged_dot' cannot combine x0 ";
    CHECK(dot({12, 8}, {4, 7, 6}, {4}) == refused + "(12, 8), x1 (4, 7, 6) and x2 (4,)");
    CHECK(dot({12, 8}, {4, 8, 6}, {3}) == refused + "(12, 8), x1 (4, 8, 6) and x2 (3,)");
    CHECK(dot({12, 8}, {8, 6}, {4}) == refused + "(12, 8), x1 (8, 6) and x2 (4,)");
    CHECK(dot({8}, {4, 8, 6}, {4}) == refused + "(8,), x1 (4, 8, 6) and x2 (4,)");
    CHECK(dot({2, 12, 8}, {4, 8, 6}, {4}) == refused + "(2, 12, 8), x1 (4, 8, 6) and x2 (4,)");
    CHECK(dot({2, 12, 8}, {3, 4, 8, 6}, {2, 4}) == refused + "(2, 12, 8), x1 (3, 4, 8, 6) and x2 (2, 4)");
    CHECK(dot({12, 8}, {2, 4, 8, 6}, {4}) == refused + "(12, 8), x1 (2, 4, 8, 6) and x2 (4,)");
    CHECK(dot({12, 8}, {4, 8, 6}, {}) == refused + "(12, 8), x1 (4, 8, 6) and x2 ()");
    CHECK(shape_of("ragged_dot", {f32({12, 8}), f32({4, 8, 6}), f32({4})}) ==
          "error E0224: 'ragged_dot' needs whole numbers as sizes, and x2 is f32");
    CHECK(shape_of("ragged_dot", {f32({12, 8}), typed(DType::f64, {4, 8, 6}), sizes({4})}) ==
          "error E0224: the operands of 'ragged_dot' have different element types: x0 is f32, x1 is f64");
    CHECK(shape_of("ragged_dot_gradient", {f32({2, 12, 8}), f32({2, 12, 6}), sizes({2, 4})}, {{"batch", i64{1}}}) ==
          "(2, 4, 8, 6)");
    for (const i64 batch : {i64{-1}, i64{2}, i64{1} << 40})
        CHECK(shape_of("ragged_dot_gradient", {f32({2, 12, 8}), f32({2, 12, 6}), sizes({2, 4})}, {{"batch", batch}}) ==
              "error E0223: 'ragged_dot_gradient' cannot combine x0 (2, 12, 8), x1 (2, 12, 6) and x2 (2, 4)");
    CHECK(shape_of("ragged_dot_gradient", {f32({12, 8}), f32({11, 6}), sizes({4})}) ==
          "error E0223: 'ragged_dot_gradient' cannot combine x0 (12, 8), x1 (11, 6) and x2 (4,)");
    CHECK(shape_of("ragged_dot", {typed(DType::bf16, {12, 8}), typed(DType::bf16, {4, 8, 6}), sizes({4})},
                   {{"result", std::string("f32")}}) == "(12, 6)");
}

TEST_CASE("a ragged_dot costs the operations of its rows, of which a device with some groups has its share") {
    const auto flops_with = [](i64 groups) {
        const TensorType types[] = {f32({1024, 64}), f32({groups, 64, 32}), sizes({8})};
        return flops(RaggedContract{}, types, f32({1024, 32}));
    };
    CHECK(flops_with(8) == 2 * 1024 * 64 * 32);
    CHECK(flops_with(2) == 2 * 1024 * 64 * 32 / 4);
}

TEST_CASE("gradients of a ragged_dot, and of its gradient, agree") {
    // s (3, 4, 2): of 3 batches 4 rows. n has 2 sizes, up to 7, l 3.
    for (const char* op :
         {"ragged_dot: [x, {reshape: s, shape: [2, 4, 3]}, n]",
          "ragged_dot: [{reshape: w, shape: [10, 2]}, {reshape: s, shape: [2, 2, 6]}, n]", "ragged_dot: [x, s, l]",
          "ragged_dot: [x, {reshape: s, shape: [3, 2, 4]}, l], transposed: true",
          "ragged_dot: [s, {reshape: x, shape: [2, 2, 3]}, {reduce_min: m, dims: 1}]", "ragged_dot_gradient: [x, z, l]",
          "ragged_dot_gradient: [s, s, {reduce_max: m, dims: 1}]",
          "ragged_dot_gradient: [s, s, {reduce_max: m, dims: 1}], batch: 1"}) {
        CAPTURE(op);
        CHECK(gradient_problems(op) == std::vector<std::string>{});
    }
}

TEST_CASE("a ragged_dot and its gradients give the same with any dim split, rows that no group has too") {
    const std::string model = R"(model: m
axes: {tokens: 24, embed: 8, mlp: 16, experts: 4, parts: 2}
inputs:
  x: {axes: [tokens, embed]}
  sizes: {axes: [experts], dtype: i32, init: {randint: {low: 2, high: 8}}}
  b: {axes: [parts, tokens, embed], dtype: bf16}
  counts: {axes: [parts, experts], dtype: i64, init: {randint: {low: -1, high: 12}}}
  v: {axes: [experts, embed, mlp], dtype: bf16}
  own: {axes: [parts, experts, mlp, embed], dtype: bf16}
params:
  w: {axes: [experts, embed, mlp]}
  u: {axes: [experts, embed, mlp]}
modules:
  loss:
    inputs: [x, w, u, sizes]
    graph:
      - h: {relu: {ragged_dot: [x, w, sizes]}}
      - y: {ragged_dot: [h, u, sizes], transposed: true}
      - l: {reduce_sum: {mul: [y, y]}}
    outputs: [l]
graph:
  - l, dx, dw, du: {value_and_grad: loss, in: [x, w, u, sizes], wrt: [x, w, u]}
  - narrow: {ragged_dot: [b, v, counts]}
  - wide: {ragged_dot: [b, v, counts], result: f32}
  - apart: {ragged_dot: [b, own, counts], transposed: true}
  - sums: {ragged_dot_gradient: [b, narrow, counts], batch: 1}
outputs: [l, dx, dw, du, narrow, wide, apart, sums]
)";
    for (const char* layout :
         {"mesh: {d: 2, e: 2}\nrules: [{tokens: d}, {experts: e}]\n", "mesh: {d: 4}\nrules: [{experts: d}]\n",
          "mesh: {d: 2, e: 2}\nrules: [{embed: d}, {mlp: e}]\n",
          "mesh: {d: 2, e: 4}\nrules: [{parts: d}, {experts: e}]\n", "mesh: {d: 8}\nrules: [{tokens: d}]\n",
          "mesh: {d: 2, e: 2}\nrules: [{experts: [d, e]}, {mlp: ~}]\n"}) {
        CAPTURE(layout);
        CHECK(prove(model, layout) == std::vector<std::string>{});
    }
}

} // namespace shard
