#include "tests/support/jax_values.h"
#include "tests/support/op_harness.h"
#include "tests/support/prove.h"

#include <doctest/doctest.h>

namespace shard {

namespace {

using Dims = std::vector<i64>;

} // namespace

TEST_CASE("argsort splits over every dim but the one that it orders along, the last unless said") {
    CHECK(rule_of("argsort", {f32({8, 4})}) == "([i, j])->([i, j]) {i=8, j=4} need_replication={j}");
    CHECK(rule_of("argsort", {f32({8, 4}), typed(DType::i64, {8, 4})}, {{"dim", Dims{0}}}) ==
          "([i, j],[i, j])->([i, j]) {i=8, j=4} need_replication={i}");
    CHECK(rule_of("argsort", {f32({8, 4})}, {{"first", Dims{2}}}) ==
          "([i, j])->([i, k]) {i=8, j=4, k=2} need_replication={j, k}");
    CHECK(shape_of("argsort", {typed(DType::boolean, {8, 4})}, {{"dim", Dims{0}}, {"first", Dims{3}}}) == "i32(3, 4)");
}

TEST_CASE("argsort is refused of what has no dim, several shapes or too few elements") {
    CHECK(shape_of("argsort", {f32({})}) == "error E0223: 'argsort' orders along a dim, and x0 () is a scalar");
    CHECK(shape_of("argsort", {f32({4}), f32({5})}) ==
          "error E0223: 'argsort' takes operands of one shape, which x0 (4,) and x1 (5,) have not");
    CHECK(shape_of("argsort", {f32({4})}, {{"first", Dims{5}}}) ==
          "error E0226: 'argsort' cannot take the first 5 of 4");
    CHECK(shape_of("argsort", {f32({i64{1} << 32})}) ==
          "error E0226: 'argsort' counts 4294967296 positions, and they are i32");
}

TEST_CASE("argsort keeps equal elements in order, ascending and descending, with NaN as the largest, as JAX does") {
    const JaxCase cases[] = {
        {"argsort: x", {4, 1, 2, 0, 3, 2, 4, 0, 1, 3}, {}},
        {"argsort: x, descending: true", {0, 3, 2, 1, 4, 3, 0, 1, 4, 2}, {}},
        {"argsort: n", {2, 4, 5, 1, 0, 3}, {}},
        {"argsort: n, descending: true", {0, 3, 1, 4, 5, 2}, {}},
        {"argsort: n, descending: true, first: 3", {0, 3, 1}, {}},
    };
    for (const JaxCase& one : cases) {
        CAPTURE(one.op);
        CHECK(jax_problems(one) == std::vector<std::string>{});
    }
}

TEST_CASE("argsort gives the same where the other dims are split, of every type and of several keys") {
    CHECK(prove(R"(model: m
axes: {a: 8, b: 12}
inputs: {x: {axes: [a, b]}, n: {axes: [a, b], dtype: i32, init: {randint: {low: -2, high: 2}}}, u: {axes: [a, b], dtype: u32, init: {randint: {low: 0, high: 3}}}, k: {axes: [a, b], dtype: bool}, h: {axes: [a, b], dtype: bf16}, d: {axes: [a, b], dtype: f64}, l: {axes: [a, b], dtype: i64, init: {randint: {low: -3, high: 3}}}}
graph:
  - s0: {argsort: x}
  - s1: {argsort: n, dim: a, descending: true}
  - s2: {argsort: [n, x], dim: b}
  - s3: {argsort: [k, u, h], dim: a, descending: true}
  - s4: {argsort: h, first: 5}
  - s5: {argsort: d, dim: a, first: 3}
  - s6: {argsort: [l, d], descending: true}
  - s7: {argsort: k}
  - s8: {argsort: u, descending: true}
outputs: [s0, s1, s2, s3, s4, s5, s6, s7, s8]
)",
                "mesh: {d: 2, m: 2}\nrules: [{a: d}, {b: m}]\n") == std::vector<std::string>{});
}

} // namespace shard
