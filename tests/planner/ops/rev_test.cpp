#include "tests/support/gradient_check.h"
#include "tests/support/op_harness.h"
#include "tests/support/prove.h"

#include <doctest/doctest.h>

namespace shard {

namespace {

using Dims = std::vector<i64>;

} // namespace

TEST_CASE("rev: dims that are turned round are permutation factors, since their blocks would trade places") {
    CHECK(rule_of("rev", {f32({32, 4})}, {{"dims", Dims{1}}}) == "([i, j])->([i, j]) {i=32, j=4} permutation={j}");
    CHECK(rule_of("rev", {f32({32, 4})}) == "([i, j])->([i, j]) {i=32, j=4} permutation={i, j}");
    CHECK(shape_of("rev", {typed(DType::i32, {32, 4})}, {{"dims", Dims{0}}}) == "i32(32, 4)");
}

TEST_CASE("rev: the kernel starts at the end and goes back") {
    const Move move = std::get<Move>(kernel_of(emit("rev", {f32({8, 4})}, {{"dims", Dims{0}}})));
    REQUIRE(move.pieces.size() == 1);
    CHECK(move.pieces[0].in_start == std::vector<Affine>{constant(7), constant(0)});
    CHECK(move.pieces[0].in_stride == Dims{-1, 1});
    CHECK(move.covers);
}

TEST_CASE("rev: its gradient is turned round likewise") {
    for (const char* op : {"rev: x", "rev: s, dims: [2, 0]", "rev: s, dim: 1"}) {
        CAPTURE(op);
        CHECK(gradient_problems(op) == std::vector<std::string>{});
    }
}

TEST_CASE("rev: what is split gives the same as on one device, a partial sum passes through") {
    CHECK(prove(R"(model: m
axes: {a: 8, b: 16, c: 4}
inputs: {x: {axes: [a, b]}, w: {axes: [b, c]}, n: {axes: [c], dtype: i32, init: {randint: {low: 0, high: 9}}}}
graph:
  - y: {rev: x}
  - z: {rev: x, dim: a}
  - s: {dot: [x, w]}
  - s: {rev: s, dims: [c]}
  - m: {rev: n}
outputs: [y, z, s, m]
)",
                "mesh: {d: 2, m: 2}\nrules: [{a: d}, {b: m}, {c: m}]\n") == std::vector<std::string>{});
}

} // namespace shard
