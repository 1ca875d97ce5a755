// cumsum, cumprod, cummax, cummin, cumlogsumexp and linear_recurrence.
#include "tests/support/gradient_check.h"
#include "tests/support/jax_values.h"
#include "tests/support/op_harness.h"
#include "tests/support/prove.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {

namespace {

using Dims = std::vector<i64>;

constexpr const char* one_operand[] = {"cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"};

} // namespace

TEST_CASE("running reductions split over every dim but the one that they run along, the last unless said") {
    for (const char* op : one_operand) {
        CAPTURE(op);
        CHECK(rule_of(op, {f32({8, 4, 2})}, {{"dim", Dims{1}}}) ==
              "([i, j, k])->([i, j, k]) {i=8, j=4, k=2} need_replication={j}");
        CHECK(rule_of(op, {f32({8, 4})}) == "([i, j])->([i, j]) {i=8, j=4} need_replication={j}");
    }
    CHECK(rule_of("linear_recurrence", {f32({8, 4}), f32({8, 4})}, {{"dim", Dims{0}}}) ==
          "([i, j],[i, j])->([i, j]) {i=8, j=4} need_replication={i}");
    CHECK(shape_of("cumsum", {typed(DType::i32, {8, 4})}) == "i32(8, 4)");
    CHECK(shape_of("cumlogsumexp", {typed(DType::bf16, {8, 4})}) == "bf16(8, 4)");
}

TEST_CASE("running reductions are refused of what has no dim, no numbers or another shape") {
    CHECK(shape_of("cumsum", {f32({})}) == "error E0223: 'cumsum' runs along a dim, and x0 () is a scalar");
    CHECK(shape_of("cummax", {typed(DType::boolean, {4})}) == "error E0224: 'cummax' needs numbers, and x0 is bool");
    CHECK(shape_of("cumlogsumexp", {typed(DType::i32, {4})}) ==
          "error E0224: 'cumlogsumexp' needs a floating-point type, and x0 is i32");
    CHECK(shape_of("linear_recurrence", {f32({4}), f32({4, 1})}) ==
          "error E0223: 'linear_recurrence' takes operands of one shape, which x0 (4,) and x1 (4, 1) "
          "have not");
    CHECK(shape_of("linear_recurrence", {f32({4}), typed(DType::bf16, {4})}).substr(0, 12) == "error E0224:");
}

TEST_CASE("gradients of running reductions agree, forwards and backwards") {
    for (const char* op : one_operand)
        for (const char* arguments : {"x", "x, dim: 0", "s, dim: 1, reverse: true", "x, reverse: true"}) {
            const std::string text = fmt::format("{}: {}", op, arguments);
            CAPTURE(text);
            CHECK(gradient_problems(text) == std::vector<std::string>{});
        }
    for (const char* op : {"linear_recurrence: [x, z]", "linear_recurrence: [x, x], dim: 0",
                           "linear_recurrence: [x, z], reverse: true"}) {
        CAPTURE(op);
        CHECK(gradient_problems(op) == std::vector<std::string>{});
    }
}

// JAX splits the gradient of three and more equal maxima by the shape of its tree; here each step is a max of two.
TEST_CASE("running reductions and their gradients are JAX's, with equal elements and zeros among them") {
    const JaxCase cases[] = {
        {"cumsum: x",
         {2, 1, 1, 3, 0, 0.5, 1, -1, 0.5, 0.75},
         {0.366121153, -0.174181153, 0.729890989, 1.037223859, 0.053955421, -0.450279356, -0.321434862, 0.64536333,
          0.267385588, -0.602011903}},
        {"cumsum: x, dim: 0, reverse: true",
         {2.5, -0.5, -2, 3.5, -2.75, 0.5, 0.5, -2, 1.5, 0.25},
         {0.540302306, -0.904072142, -0.30733287, 0.983268438, 0.053955421, 0.411457812, -1.870870335, 0.070644873,
          1.852665929, -0.548056482}},
        {"cumprod: x",
         {2, -2, 0, 0, 0, 0.5, 0.25, -0.5, -0.75, -0.1875},
         {1.444374448, -1.808144284, -2.670942967, 0, 0, -2.068563105, -1.939718611, 0.364079879, -0.359447257,
          0.451508927}},
        {"cumprod: x, reverse: true",
         {0, 0, 0, -6, -3, -0.1875, -0.375, -0.75, 0.375, 0.25},
         {0, 0, 2.903192038, -2.949805315, 2.020492297, 0.048316685, 0.77341533, -0.051612179, 0.286165611,
          1.114981764}},
        {"cummax: x",
         {2, 2, 2, 2, 2, 0.5, 0.5, 0.5, 1.5, 1.5},
         {-0.152490777, 0, 0, 0.51861193, 0, -0.423254719, -0.294410225, 0, 0.267385588, 0}},
        {"cummax: x, reverse: true",
         {2, 2, 2, 2, -3, 1.5, 1.5, 1.5, 1.5, 0.25},
         {0.270151153, 0, 0, 0.042014579, 0.053955421, 0, 0, 0, 0.151732546, -0.602011903}},
        {"cummin: x",
         {2, -1, -1, -1, -3, 0.5, 0.5, -2, -2, -2},
         {0.540302306, -0.228136574, 0, 0, 0.053955421, -0.612243591, -0.483399096, 0.64536333, 0, 0}},
        {"cumlogsumexp: x",
         {2, 2.048587352, 2.16984602, 2.781671823, 2.784750635, 0.5, 1.193147181, 1.233369795, 2.068692337,
          2.219039591},
         {-0.1056197735, -0.03215856673, 0.02913412065, 0.4745995093, 0.0001658631092, -0.3574983942, -0.2286538999,
          0.02091075909, 0.1989975354, -0.08403535688}},
        {"cumlogsumexp: x, reverse: true",
         {2.784750635, 2.175515363, 2.132845234, 2.006715348, -3, 2.219039591, 2.021517237, 1.775130262, 1.751929081,
          0.25},
         {0.246503989, -0.025492706, -0.105715199, 0.19555203, 0.05527304, -0.023093856, -0.234223536, -0.010557658,
          0.326160927, -0.508565233}},
        {"linear_recurrence: [x, z]",
         {1, -0.5, -1, -1.75, 7.25, 0, 3, -5, -8, -1},
         {0, -0.904072142, -0.667735742, -0.821402177, -0.094421986, 0, 0, 4.368958544, -3.594472573, 4.816095221}},
    };
    for (const JaxCase& one : cases) {
        CAPTURE(one.op);
        CHECK(jax_problems(one) == std::vector<std::string>{});
    }
}

TEST_CASE("running reductions give the same where the other dims are split, in all types") {
    CHECK(prove(R"(model: m
axes: {a: 8, b: 12, c: 4}
inputs: {x: {axes: [a, b]}, w: {axes: [b, c]}, n: {axes: [a, b], dtype: i32, init: {randint: {low: -5, high: 9}}}, h: {axes: [a, b], dtype: bf16}, d: {axes: [a, b], dtype: f64}}
graph:
  - y: {cumsum: x, dim: a}
  - z: {cumsum: x, dim: b, reverse: true}
  - p: {cumprod: x, dim: a}
  - m: {cummax: n, dim: b}
  - l: {cummin: h, dim: a, reverse: true}
  - e: {cumlogsumexp: h, dim: b}
  - r: {linear_recurrence: [x, y], dim: b}
  - q: {linear_recurrence: [d, d], dim: a, reverse: true}
  - s: {dot: [x, w]}
  - s: {cumsum: s, dim: a}
outputs: [y, z, p, m, l, e, r, q, s]
)",
                "mesh: {d: 2, m: 2}\nrules: [{a: d}, {b: m}]\n") == std::vector<std::string>{});
}

} // namespace shard
