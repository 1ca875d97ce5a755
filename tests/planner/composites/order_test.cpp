// sort, top_k, take_along_axis, roll and searchsorted.
#include "tests/support/gradient_check.h"
#include "tests/support/jax_values.h"
#include "tests/support/model_harness.h"
#include "tests/support/op_harness.h"
#include "tests/support/prove.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {

namespace {

using Dims = std::vector<i64>;

std::string problems_of(const std::string& entry) {
    return build_text(
               fmt::format("model: m\ninputs: {{x: {{shape: [2, 5]}}, y: {{shape: [2, 4]}}, s: {{shape: []}}, i: "
                           "{{shape: [2, 3], dtype: i32}}}}\ngraph:\n  - {}\noutputs: [z]\n",
                           entry))
        .problems();
}

} // namespace

TEST_CASE("an order is one argsort, by which each operand is looked up") {
    CHECK(ops_of(emit("sort", {f32({8, 4})}).graph) == "argsort gather");
    CHECK(ops_of(emit("take_along_axis", {f32({8, 4}), typed(DType::i32, {8, 2})}).graph) == "gather");
    CHECK(rule_of("take_along_axis", {f32({8, 4, 2}), typed(DType::i32, {8, 3, 2})}, {{"dim", Dims{1}}}) ==
          "([i, l, k],[i, j, k])->([i, j, k]) {i=8, j=3, k=2, l=4} reduction={l}");
}

TEST_CASE("sort, top_k, take_along_axis, roll and searchsorted are JAX's, and their gradients") {
    const JaxCase cases[] = {
        {"sort: x",
         {-3, -1, 0, 2, 2, -2, 0.25, 0.5, 0.5, 1.5},
         {0.983268438, -0.904072142, -0.30733287, 0.053955421, 0.540302306, 0.377977743, 0.86939749, -0.128844494,
          -0.602011903, -0.966798193}},
        {"sort: x, descending: true", {2, 2, 0, -1, -3, 1.5, 0.5, 0.5, 0.25, -2}, {}},
        {"take_along_axis: [x, i]",
         {-3, 2, 2, 0.5, 0.5, 1.5},
         {-1.211405012, 0, 0, 0, 0.540302306, 0, -1.095642687, 0, 0.377977743, 0}},
        {"roll: x, dim: 1, shift: 2",
         {2, -3, 2, -1, 0, 1.5, 0.25, 0.5, 0.5, -2},
         {-0.30733287, 0.983268438, 0.053955421, 0.540302306, -0.904072142, 0.377977743, 0.86939749, -0.602011903,
          -0.128844494, -0.966798193}},
        {"roll: x, dim: 1, shift: -8", {2, -3, 2, -1, 0, 1.5, 0.25, 0.5, 0.5, -2}, {}},
    };
    for (const JaxCase& one : cases) {
        CAPTURE(one.op);
        CHECK(jax_problems(one) == std::vector<std::string>{});
    }
    CHECK(jax_problems({"top_k: x, k: 2", {0, 3, 3, 0}, {}}, 2) == std::vector<std::string>{});
    CHECK(jax_problems({"sort: [x, z], keys: 1", {2, 0.5, -1, 1, 0.25, 1, 1, 0, 3, -0.5}, {}}, 2) ==
          std::vector<std::string>{});
}

TEST_CASE("gradients of orders agree, also of an operand that only follows") {
    for (const char* op : {"sort: x", "sort: s, dim: 1, descending: true", "take_along_axis: [s, m], dim: 1",
                           "roll: s, dim: [0, 1], shift: [1, -3]"}) {
        CAPTURE(op);
        CHECK(gradient_problems(op) == std::vector<std::string>{});
    }
}

TEST_CASE("orders are refused where shapes, keys, shifts or sides do not fit") {
    CHECK(problems_of("z: {sort: s}").substr(0, 6) == "E0223 ");
    CHECK(
        problems_of("z, w: {sort: [x, y]}").find("'sort' orders values of one shape, and they are (2, 5) and (2, 4)") !=
        std::string::npos);
    CHECK(problems_of("z: {sort: x, keys: 2}").find("'sort' has 1 operands, of which 2 cannot be keys") !=
          std::string::npos);
    CHECK(problems_of("z, w: {top_k: x, k: 6}").find("cannot take the first 6 of 5") != std::string::npos);
    CHECK(problems_of("z: {take_along_axis: [y, i], dim: 0}")
              .find("'take_along_axis' takes indices (2, 3) along dim 0 of a value (2, 4)") != std::string::npos);
    CHECK(problems_of("z: {roll: x, dim: [0, 1], shift: 1}").find("`shift` of 'roll' has 1 entries for 2 dims") !=
          std::string::npos);
    CHECK(problems_of("z: {searchsorted: [x, y]}")
              .find("'searchsorted' looks in a sorted list, and it is given (2, 5)") != std::string::npos);
    CHECK(problems_of("c: {constant: [1, 2]}\n  - z: {searchsorted: [c, y], side: up}").find("has no side 'up'") !=
          std::string::npos);
}

TEST_CASE("orders give the same on a mesh: with the dim split that is ordered, and with another") {
    CHECK(prove(R"(model: m
axes: {a: 8, b: 12, k: 4}
inputs: {x: {axes: [a, b]}, y: {axes: [a, b]}, n: {axes: [a, b], dtype: i32, init: {randint: {low: -2, high: 2}}}, i: {axes: [a, k], dtype: i32, init: {randint: {low: -2, high: 14}}}, l: {axes: [b]}}
graph:
  - s: {sort: x}
  - p, q: {sort: [n, y], dim: a, descending: true}
  - v, w: {top_k: x, k: 3}
  - c, e: {top_k: y, k: 2, dim: a}
  - t: {take_along_axis: [x, i], dim: b}
  - r: {roll: x, dim: [a, b], shift: [3, -5]}
  - o: {sort: l}
  - f: {searchsorted: [o, x]}
  - g: {searchsorted: [o, x], side: right}
outputs: [s, p, q, v, w, c, e, t, r, f, g]
)",
                "mesh: {d: 2, m: 2}\nrules: [{a: d}, {b: m}]\n") == std::vector<std::string>{});
}

TEST_CASE("the gradient of a routing by top_k gives the same on a mesh") {
    CHECK(prove(R"(model: m
axes: {tokens: 8, experts: 8, embed: 16}
inputs: {x: {axes: [tokens, embed]}}
params: {w: {axes: [embed, experts]}}
modules:
  f:
    inputs: [x, w]
    graph:
      - scores: {dot: [x, w]}
      - scores: {softmax: scores}
      - v, i: {top_k: scores, k: 2}
      - v: {mul: [v, v]}
      - l: {reduce_sum: v}
    outputs: [l]
graph:
  - l, g: {value_and_grad: f, in: [x, w], wrt: [w]}
outputs: [l, g]
)",
                "mesh: {d: 2, m: 2}\nrules: [{tokens: d}, {experts: m}]\n") == std::vector<std::string>{});
}

} // namespace shard
