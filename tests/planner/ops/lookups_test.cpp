// gather and the scatters, where dims of a table and of the indices are one dim.
#include "tests/support/gradient_check.h"
#include "tests/support/jax_values.h"
#include "tests/support/op_harness.h"
#include "tests/support/prove.h"

#include <doctest/doctest.h>

namespace shard {

namespace {

using Dims = std::vector<i64>;

} // namespace

TEST_CASE("paired dims of a lookup are one factor of the table, the indices and the result") {
    CHECK(rule_of("gather", {f32({8, 50, 16}), typed(DType::i32, {8, 5})}, {{"dim", Dims{1}}, {"batch", Dims{0, 0}}}) ==
          "([i, l, k],[i, j])->([i, j, k]) {i=8, j=5, k=16, l=50} reduction={l}");
    CHECK(rule_of("gather", {f32({8, 50}), typed(DType::i32, {3, 8})}, {{"dim", Dims{1}}, {"batch", Dims{0, 1}}}) ==
          "([i, k],[j, i])->([i, j]) {i=8, j=3, k=50} reduction={k}");
    for (const char* op : {"scatter_add", "scatter_max", "scatter_min"}) {
        CAPTURE(op);
        CHECK(rule_of(op, {typed(DType::i32, {8, 5}), f32({8, 5, 16})},
                      {{"dim", i64{1}}, {"size", Dims{50}}, {"batch", Dims{0, 0}}}) ==
              "([i, l],[i, l, k])->([i, j, k]) {i=8, j=50, k=16, l=5} reduction={l}");
    }
    CHECK(emit("scatter_max", {typed(DType::i32, {5}), f32({5})}, {{"size", Dims{3}}}).rule().reduce == ReduceOp::max);
    CHECK(emit("scatter_min", {typed(DType::i32, {5}), f32({5})}, {{"size", Dims{3}}}).rule().reduce == ReduceOp::min);
}

TEST_CASE("pairs that are no dims, are there twice or have two sizes are refused") {
    const auto gather = [](Dims batch) {
        return shape_of("gather", {f32({8, 50, 16}), typed(DType::i32, {8, 5})},
                        {{"dim", Dims{1}}, {"batch", std::move(batch)}});
    };
    CHECK(gather({0, 0}) == "(8, 5, 16)");
    CHECK(gather({0, 2}) == "error E0226: `batch` of 'gather': [0, 2] is no dim of the table and one of the indices");
    CHECK(gather({-1, 0}) == "error E0226: `batch` of 'gather': [-1, 0] is no dim of the table and one of the indices");
    CHECK(gather({1, 0}) ==
          "error E0226: `batch` of 'gather': [1, 0] has a dim that is looked up along, or in another pair");
    CHECK(gather({0, 0, 2, 0}) ==
          "error E0226: `batch` of 'gather': [2, 0] has a dim that is looked up along, or in another pair");
    CHECK(gather({2, 0}) == "error E0226: `batch` of 'gather': [2, 0] pairs a dim of size 16 with one of size 8");
    CHECK(shape_of("scatter_max", {typed(DType::i32, {8, 5}), f32({8, 4})},
                   {{"dim", i64{1}}, {"size", Dims{50}}, {"batch", Dims{0, 0}}}) ==
          "error E0223: 'scatter_max' finds no dims of x0 (8, 5) in x1 (8, 4) from dim 1 on");
}

TEST_CASE("scatters of rows for each place of a paired dim are JAX's, and their gradients") {
    const std::string rest = ": [x, i, u], dim: 1, batch: [[0, 0]]";
    const JaxCase cases[] = {
        {"scatter_add" + rest,
         {12, -1, 0, 2, -2, 0.5, 4.5, -2, -1.5, 0.25},
         {0.540302306, -0.904072142, -0.30733287, 0.983268438, 0.053955421, -0.128844494, -0.966798193, 0.377977743,
          0.86939749, -0.602011903}},
        {"scatter_max" + rest,
         {5, -1, 0, 2, 1, 0.5, 2, -2, 1.5, 0.25},
         {0, -0.904072142, -0.30733287, 0.983268438, 0, -0.128844494, 0, 0.377977743, 0.86939749, -0.602011903}},
        {"scatter_min" + rest,
         {2, -1, 0, 2, -3, 0.5, 0.5, -2, -3, 0.25},
         {0.540302306, -0.904072142, -0.30733287, 0.983268438, 0.053955421, -0.128844494, -0.966798193, 0.377977743, 0,
          -0.602011903}},
    };
    for (const JaxCase& one : cases) {
        CAPTURE(one.op);
        CHECK(jax_problems(one) == std::vector<std::string>{});
    }
}

TEST_CASE("gradients of lookups and scatters agree, with paired dims and with equal updates") {
    for (const char* op :
         {"gather: [s, m], dim: 1, batch: [[0, 0]]", "gather: [x, l], dim: 1, batch: [[0, 0]]",
          "scatter_add: [m, s], dim: 1, size: 5, batch: [[0, 0], [2, 2]]", "scatter_max: [l, x], size: 4",
          "scatter_min: [x, l, z]", "scatter_max: [s, m, s], dim: 1, batch: [[0, 0], [2, 2]]"}) {
        CAPTURE(op);
        CHECK(gradient_problems(op) == std::vector<std::string>{});
    }
}

TEST_CASE("lookups and scatters with paired dims give the same with any dim split, the looked up one too") {
    const std::string model = R"(model: m
axes: {a: 8, b: 12, c: 4, k: 4}
inputs: {x: {axes: [a, b, c]}, i: {axes: [a, k], dtype: i32, init: {randint: {low: -2, high: 14}}}, j: {axes: [k, a], dtype: i32, init: {randint: {low: 0, high: 12}}}, u: {axes: [a, k, c]}, h: {axes: [a, k, c], dtype: bf16}, n: {axes: [a, k], dtype: i32, init: {randint: {low: -9, high: 9}}}}
graph:
  - g: {gather: [x, i], dim: b, batch: [[0, 0]]}
  - t: {gather: [x, j], dim: b, batch: [[0, 1]]}
  - s: {scatter_add: [i, u], dim: 1, size: b, batch: [[0, 0]]}
  - m: {scatter_max: [i, u], dim: 1, size: b, batch: [[0, 0]]}
  - l: {scatter_min: [x, i, u], dim: 1, batch: [[0, 0]]}
  - e: {scatter_add: [i, h], dim: 1, size: b, batch: [[0, 0]]}
  - f: {scatter_max: [i, h], dim: 1, size: b, batch: [[0, 0]]}
  - o: {scatter_max: [i, n], dim: 0, size: b}
outputs: [g, t, s, m, l, e, f, o]
)";
    for (const char* layout : {"mesh: {d: 2, m: 2}\nrules: [{a: d}, {b: m}]\n",
                               "mesh: {d: 2, m: 2}\nrules: [{k: d}, {c: m}]\n", "mesh: {d: 4}\nrules: [{b: d}]\n"}) {
        CAPTURE(layout);
        CHECK(prove(model, layout) == std::vector<std::string>{});
    }
}

} // namespace shard
