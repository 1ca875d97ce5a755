// The index rule of every family, printed. Expectations come from the reference's table of rules: which dims share a
// factor and of which kind it is; letters count factors from i on.
#include "tests/support/op_harness.h"

#include <doctest/doctest.h>

namespace shard {

namespace {

using Dims = std::vector<i64>;

} // namespace

TEST_CASE("pointwise ops share one factor per dim, aligned at the last, and size-1 dims stay private") {
    CHECK(rule_of("exp", {f32({8, 4})}) == "([i, j])->([i, j]) {i=8, j=4}");
    CHECK(rule_of("add", {f32({8, 4}), f32({4})}) == "([i, j],[j])->([i, j]) {i=8, j=4}");
    CHECK(rule_of("mul", {f32({8, 4}), f32({})}) == "([i, j],[])->([i, j]) {i=8, j=4}");
    CHECK(rule_of("sub", {f32({8, 4}), f32({8, 1})}) == "([i, j],[i, k])->([i, j]) {i=8, j=4, k=1}");
    CHECK(rule_of("select", {typed(DType::boolean, {8, 4}), f32({8, 4}), f32({})}) ==
          "([i, j],[i, j],[])->([i, j]) {i=8, j=4}");
    CHECK(rule_of("clamp", {f32({8})}, {{"min", 0.0}}) == "([i])->([i]) {i=8}");
    CHECK(rule_of("stop_gradient", {f32({8, 4})}) == "([i, j])->([i, j]) {i=8, j=4}");
    CHECK(rule_of("cast", {f32({8})}, {{"dtype", "bf16"}}) == "([i])->([i]) {i=8}");
    CHECK(rule_of("constrain", {f32({8, 4})}, {{"axes", std::vector<std::string>{"", ""}}}) ==
          "([i, j])->([i, j]) {i=8, j=4}");
}

TEST_CASE("reduced dims are reduction factors, kept dims pass through") {
    CHECK(rule_of("reduce_sum", {f32({2, 64, 13})}, {{"dims", Dims{1}}}) ==
          "([i, j, k])->([i, k]) {i=2, j=64, k=13} reduction={j}");
    CHECK(rule_of("reduce_max", {f32({2, 4})}) == "([i, j])->([]) {i=2, j=4} reduction={i, j}");
    CHECK(emit("reduce_max", {f32({2, 4})}).rule().reduce == ReduceOp::max);
    CHECK(emit("reduce_min", {f32({2, 4})}).rule().reduce == ReduceOp::min);
    CHECK(emit("reduce_prod", {f32({2, 4})}).rule().reduce == ReduceOp::prod);
    CHECK(shape_of("reduce_sum", {f32({2, 4})}, {{"dims", Dims{0}}, {"keepdims", true}}) == "(1, 4)");
    CHECK(ops_of(emit("reduce_sum", {f32({2, 4})}, {{"dims", Dims{0}}, {"keepdims", true}}).graph) ==
          "reduce_sum reshape");
}

TEST_CASE("broadcast gives new dims and grown size-1 dims factors of the result alone") {
    CHECK(rule_of("broadcast", {f32({32})}, {{"shape", Dims{32, 16}}, {"dims", Dims{0}}}) ==
          "([i])->([i, j]) {i=32, j=16}");
    CHECK(rule_of("broadcast", {f32({16})}, {{"shape", Dims{32, 16}}}) == "([j])->([i, j]) {i=32, j=16}");
    CHECK(rule_of("broadcast", {f32({1, 16})}, {{"shape", Dims{32, 16}}}) == "([j, k])->([i, k]) {i=32, j=1, k=16}");
    CHECK(shape_of("broadcast", {f32({4})}, {{"shape", Dims{4, 16}}}) ==
          "error E0223: x0 (4,) cannot be broadcast to (4, 16)");
}

TEST_CASE("transpose permutes the sharing") {
    CHECK(rule_of("transpose", {f32({2, 3, 4})}, {{"permutation", Dims{2, 0, 1}}}) ==
          "([i, j, k])->([k, i, j]) {i=2, j=3, k=4}");
    CHECK(shape_of("transpose", {f32({2, 3, 4})}) == "(4, 3, 2)");
    CHECK(shape_of("transpose", {f32({2, 3})}, {{"permutation", Dims{0, 0}}}) ==
          "error E0226: [0, 0] is not an order of the dims of x0 (2, 3)");
}

TEST_CASE("the facts about reshape") { // reference: propagation, section 2.1
    const auto reshaped = [](Shape from, Shape to) {
        return rule_of("reshape", {f32(std::move(from))}, {{"shape", std::move(to)}});
    };
    CHECK(reshaped({2, 4}, {8}) == "([i, j])->([ij]) {i=2, j=4}");
    CHECK(reshaped({8, 4}, {2, 16}) == "([ij, k])->([i, jk]) {i=2, j=4, k=4}");
    CHECK(reshaped({4, 12}, {4, 2, 3, 2}) == "([i, jkl])->([i, j, k, l]) {i=4, j=2, k=3, l=2}");
    CHECK(reshaped({6, 4}, {4, 6}) ==
          "([ij, mn])->([ik, ln]) {i=2, j=3, k=2, l=3, m=2, n=2} need_replication={j, k, l, m}");
    CHECK(reshaped({3, 2}, {2, 3}) ==
          "([i, l])->([j, k]) {i=3, j=2, k=3, l=2} need_replication={i, j, k, l}"); // nothing shared
    CHECK(reshaped({4, 7, 5, 8}, {14, 10, 8}) ==
          "([ij, l, n, o])->([ik, mn, o]) {i=2, j=2, k=7, l=7, m=2, n=5, o=8} need_replication={j, k, l, m}");
    CHECK(reshaped({8, 1, 4}, {1, 8, 4}) == "([j, k, l])->([i, j, l]) {i=1, j=8, k=1, l=4}");
    CHECK(reshaped({2, 3}, {4}) == "error E0223: x0 (2, 3) cannot be reshaped to (4,)");
    CHECK(shape_of("reshape", {f32({6, 4})}, {{"shape", Dims{2, -1}}}) == "(2, 12)");
    CHECK(shape_of("reshape", {f32({1})}, {{"shape", Dims{}}}) == "()");
}

TEST_CASE("dims that slice or pad changes are permutation factors of the operand's size") {
    CHECK(rule_of("slice", {f32({32, 4})}, {{"start", Dims{8, 0}}, {"limit", Dims{24, 4}}}) ==
          "([i, j])->([i, j]) {i=32, j=4} permutation={i}");
    CHECK(shape_of("slice", {f32({32, 4})}, {{"dim", Dims{0}}, {"start", Dims{-5}}, {"stride", Dims{2}}}) == "(3, 4)");
    CHECK(shape_of("slice", {f32({8})}, {{"start", Dims{4}}, {"limit", Dims{9}}}) ==
          "error E0226: 'slice' cannot take [4:9:1] of dim 0 of x0 (8,)");
    CHECK(rule_of("pad", {f32({28, 4})}, {{"low", Dims{1, 0}}, {"high", Dims{3, 0}}}) ==
          "([i, j])->([i, j]) {i=28, j=4} permutation={i}");
    CHECK(shape_of("pad", {f32({4})}, {{"low", Dims{1}}, {"high", Dims{2}}, {"interior", Dims{1}}}) == "(10,)");
    // A dim that keeps its size by losing what it gains is no less moved.
    CHECK(rule_of("pad", {f32({8, 4})}, {{"low", Dims{1, 0}}, {"high", Dims{-1, 0}}}) ==
          "([i, j])->([i, j]) {i=8, j=4} permutation={i}");
    CHECK(shape_of("pad", {f32({4})}, {{"low", Dims{-3}}}) == "(1,)");
    CHECK(shape_of("pad", {f32({4})}, {{"low", Dims{-3}}, {"high", Dims{-1}}}) ==
          "error E0226: 'pad' cannot add -3 below, -1 above and 0 between the elements of dim 0 of x0 (4,)");
    CHECK(shape_of("pad", {f32({4, 4})}, {{"low", Dims{1}}}) == "error E0226: `low` of 'pad' has 1 entries for 2 dims");
}

TEST_CASE("the dim of concatenate is one factor of the result's size, along which elements move") {
    CHECK(rule_of("concatenate", {f32({2, 3}), f32({2, 5})}, {{"dim", Dims{1}}}) ==
          "([i, j],[i, j])->([i, j]) {i=2, j=8} permutation={j}");
    CHECK(shape_of("concatenate", {f32({2, 3}), f32({4, 3})}, {{"dim", Dims{1}}}) ==
          "error E0223: the shapes of x0 (2, 3) and x1 (4, 3) do not fit for 'concatenate'");
}

TEST_CASE("the indexed dim of gather is a reduction, so a table split over it gives partial sums") {
    CHECK(rule_of("gather", {f32({50, 16}), typed(DType::i32, {2, 8})}) ==
          "([l, k],[i, j])->([i, j, k]) {i=2, j=8, k=16, l=50} reduction={l}");
    CHECK(rule_of("gather", {f32({3, 50, 16}), typed(DType::i32, {2})}, {{"dim", Dims{1}}}) ==
          "([i, l, k],[j])->([i, j, k]) {i=3, j=2, k=16, l=50} reduction={l}");
    CHECK(shape_of("gather", {f32({50, 16}), f32({2})}) ==
          "error E0224: 'gather' needs whole numbers as indices, and x1 is f32");
}

TEST_CASE("the indexed dim of scatter_add is split at no cost, and split indices give partial sums") {
    CHECK(rule_of("scatter_add", {typed(DType::i32, {2, 8}), f32({2, 8, 16})}, {{"size", Dims{50}}}) ==
          "([k, l],[k, l, j])->([i, j]) {i=50, j=16, k=2, l=8} reduction={k, l}");
    CHECK(shape_of("scatter_add", {f32({3, 50, 16}), typed(DType::i32, {2}), f32({3, 2, 16})}, {{"dim", i64{1}}}) ==
          "(3, 50, 16)");
    CHECK(shape_of("scatter_add", {typed(DType::i32, {2}), f32({2, 4})}) ==
          "error E0223: 'scatter_add' into a new value needs its `size` along the indexed dim");
    CHECK(shape_of("scatter_add", {typed(DType::i32, {3}), f32({2, 4})}, {{"size", Dims{5}}}) ==
          "error E0223: 'scatter_add' finds no dims of x0 (3,) in x1 (2, 4) from dim 0 on");
    CHECK(shape_of("scatter_add", {f32({5, 3}), typed(DType::i32, {2}), f32({2, 4})}) ==
          "error E0223: 'scatter_add' makes (5, 4) of the updates, and x0 (5, 3) does not have that shape");
    CHECK(shape_of("scatter_add", {f32({2}), f32({2, 4})}, {{"size", Dims{5}}}) ==
          "error E0224: 'scatter_add' needs whole numbers as indices, and x0 is f32");
}

TEST_CASE("a dim of which a window is taken needs replication, others pass through") {
    const TensorType at = typed(DType::i32, {});
    CHECK(rule_of("dynamic_slice", {f32({8, 16}), at}, {{"dim", Dims{1}}, {"size", Dims{4}}}) ==
          "([i, j],[])->([i, k]) {i=8, j=16, k=4} reduction={j} need_replication={k}");
    CHECK(shape_of("dynamic_slice", {f32({8, 16}), at, at}, {{"size", Dims{1, 4}}}) == "(1, 4)");
    CHECK(rule_of("dynamic_update_slice", {f32({8, 16}), f32({8, 4}), at}, {{"dim", Dims{1}}}) ==
          "([i, j],[i, k],[])->([i, j]) {i=8, j=16, k=4} need_replication={k}");
    CHECK(shape_of("dynamic_slice", {f32({8}), at}, {{"size", Dims{9}}}) ==
          "error E0226: `size` of 'dynamic_slice' does not fit the dims of x0 (8,)");
    CHECK(shape_of("dynamic_slice", {f32({8, 4}), at}, {{"dim", Dims{0, 1}}, {"size", Dims{2, 2}}}) ==
          "error E0226: 'dynamic_slice' has 1 starts for 2 dims of x0 (8, 4)");
    CHECK(shape_of("dynamic_slice", {f32({8}), f32({})}, {{"size", Dims{2}}}) ==
          "error E0224: 'dynamic_slice' needs whole numbers as starts, and x1 is f32");
    CHECK(shape_of("dynamic_slice", {f32({8}), typed(DType::i32, {1})}, {{"size", Dims{2}}}) ==
          "error E0223: a start of 'dynamic_slice' is one number, and x1 (1,) is not");
    CHECK(shape_of("dynamic_update_slice", {f32({8, 4}), f32({4, 4}), at}, {{"dim", Dims{1}}}) ==
          "error E0223: 'dynamic_update_slice' cannot put x1 (4, 4) into x0 (8, 4)");
}

TEST_CASE("constants and iota leave every dim free") {
    CHECK(rule_of("iota", {}, {{"shape", Dims{8, 4}}, {"dim", Dims{1}}}) == "()->([i, j]) {i=8, j=4}");
    CHECK(shape_of("constant", {}, {{"value", std::vector<double>{1, 2, 3}}}) == "(3,)");
    CHECK(shape_of("constant", {}, {{"value", std::vector<double>{1, 2}}, {"shape", Dims{3}}}) ==
          "error E0226: 2 values do not fill shape (3,)");
    CHECK(shape_of("constant", {}, {{"value", std::vector<double>{300}}, {"dtype", "bool"}}) ==
          "error E0226: 300 is not a value of type bool");
}

TEST_CASE("types: nothing is converted silently, tests give bool, whole numbers divide by truncation") {
    CHECK(shape_of("lt", {f32({4}), f32({4})}) == "bool(4,)");
    CHECK(shape_of("is_finite", {f32({4})}) == "bool(4,)");
    CHECK(shape_of("and", {f32({4}), f32({4})}) == "error E0224: 'and' needs bool, and x0 is f32");
    CHECK(shape_of("exp", {typed(DType::i32, {4})}) == "error E0224: 'exp' needs a floating-point type, and x0 is i32");
    CHECK(shape_of("neg", {typed(DType::u32, {4})}) == "error E0224: 'neg' needs signed numbers, and x0 is u32");
    CHECK(shape_of("add", {f32({8, 16}), f32({8, 4})}) ==
          "error E0223: the shapes of x0 (8, 16) and x1 (8, 4) do not fit for 'add'");
    CHECK(ops_of(emit("div", {typed(DType::i32, {4}), typed(DType::i32, {4})}).graph) == "trunc_div");
    CHECK(ops_of(emit("div", {f32({4}), f32({4})}).graph) == "div");
}

TEST_CASE("every op says how it is written, and its parts fit together") {
    for (const OpDef* def : all_ops()) {
        CAPTURE(def->name);
        CHECK(def->doc.find("\n{") != std::string_view::npos);
        CHECK((def->infer != nullptr));
        // What every use of is written as other ops needs neither.
        CHECK((def->rule != nullptr || def->expand != nullptr));
        CHECK((def->lower != nullptr || def->expand != nullptr));
        CHECK((def->splits == nullptr) == (def->expand == nullptr));
        CHECK(find_composite(def->name) == nullptr);
        CHECK((def->linear_in.empty() || !def->jointly_linear));
    }
    for (const CompositeDef* def : all_composites()) {
        CAPTURE(def->name);
        CHECK(def->doc.find("\n{") != std::string_view::npos);
        CHECK((def->build != nullptr));
    }
}

} // namespace shard
