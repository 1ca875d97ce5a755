// What ops lower to, on one device and on a part of a mesh.
#include "tests/support/op_harness.h"

#include <doctest/doctest.h>

namespace shard {

namespace {

using Dims = std::vector<i64>;

// The kernel of the last node when factor `factor` is split over the only axis, of 4 devices.
Kernel split_kernel(const Emitted& emitted, size_t factor, std::vector<TensorType> local_operands,
                    TensorType local_result) {
    std::vector<TensorType> operands;
    for (ValueId id : emitted.last().inputs) operands.push_back(emitted.graph.value(id).type);
    const std::vector<TensorType> results = {emitted.type()}, local_results = {std::move(local_result)};
    const IndexRule rule = emitted.rule();
    std::vector<std::vector<AxisRef>> axes(rule.factors.size());
    axes[factor] = {AxisRef{0, 1, 4}};
    return emitted.last().op()->lower(
        {operands, results, local_operands, local_results, emitted.last().attributes(), rule, axes});
}

} // namespace

TEST_CASE("pointwise ops read each input once and apply one instruction") {
    const Pointwise kernel = std::get<Pointwise>(kernel_of(emit("sub", {f32({8, 4}), f32({4})})));
    CHECK(kernel.input_dims == std::vector<std::vector<int>>{{0, 1}, {1}});
    REQUIRE(kernel.steps.size() == 3);
    CHECK(kernel.steps[2].op == ScalarOp::sub);
    CHECK(kernel.steps[2].args == std::array<int, 3>{0, 1, -1});
    const Pointwise to_int = std::get<Pointwise>(kernel_of(emit("cast", {f32({8})}, {{"dtype", "i32"}})));
    CHECK(to_int.steps.back().dtype == DType::i32);
    const Pointwise clamp = std::get<Pointwise>(kernel_of(emit("clamp", {f32({8})}, {{"min", 1.0}, {"max", 2.0}})));
    REQUIRE(clamp.steps.size() == 5); // x, 1, max, 2, min
    CHECK(clamp.steps[2].op == ScalarOp::max);
    CHECK(clamp.steps[4].op == ScalarOp::min);
    CHECK(clamp.steps[4].args == std::array<int, 3>{2, 3, -1});
}

TEST_CASE("moves say where boxes come from and where they go") {
    const Move slice = std::get<Move>(kernel_of(
        emit("slice", {f32({8, 4})}, {{"dim", Dims{0}}, {"start", Dims{2}}, {"limit", Dims{7}}, {"stride", Dims{2}}})));
    REQUIRE(slice.pieces.size() == 1);
    CHECK(slice.pieces[0].in_start[0] == constant(2));
    CHECK(slice.pieces[0].in_stride == Dims{2, 1});
    CHECK(slice.pieces[0].extent == Dims{3, 4});
    CHECK(slice.covers);
    const Move pad =
        std::get<Move>(kernel_of(emit("pad", {f32({3})}, {{"low", Dims{1}}, {"interior", Dims{2}}, {"value", 7.0}})));
    CHECK(pad.pieces[0].out_start[0] == constant(1));
    CHECK(pad.pieces[0].out_stride == Dims{3});
    CHECK(pad.fill == 7);
    CHECK(!pad.covers);
    const Move joined = std::get<Move>(kernel_of(emit("concatenate", {f32({2, 3}), f32({2, 5})}, {{"dim", Dims{1}}})));
    REQUIRE(joined.pieces.size() == 2);
    CHECK(joined.pieces[1].operand == 1);
    CHECK(joined.pieces[1].out_start[1] == constant(3));
    const Move turned = std::get<Move>(kernel_of(emit("transpose", {f32({2, 3})})));
    CHECK(turned.permutation == std::vector<int>{1, 0});
    CHECK(turned.pieces[0].extent == Dims{3, 2});
    CHECK(std::get<Move>(kernel_of(emit("reshape", {f32({2, 3})}, {{"shape", Dims{6}}}))).flat);
}

TEST_CASE("a table split over its rows starts at the device's block") {
    const Emitted emitted = emit("gather", {f32({32, 16}), typed(DType::i32, {5})});
    const Gather kernel =
        std::get<Gather>(split_kernel(emitted, 2, {f32({8, 16}), typed(DType::i32, {5})}, f32({5, 16})));
    CHECK(kernel.axis == 0);
    CHECK(kernel.size == 32);
    CHECK(kernel.start == block_start(32, std::vector<AxisRef>{{0, 1, 4}}));
    REQUIRE(kernel.start.terms.size() == 1);
    CHECK(kernel.start.terms[0].coefficient == 8);
}

TEST_CASE("scatter_add into a split result starts at the device's block") {
    const Emitted emitted = emit("scatter_add", {typed(DType::i32, {5}), f32({5, 16})}, {{"size", Dims{32}}});
    const Scatter kernel =
        std::get<Scatter>(split_kernel(emitted, 0, {typed(DType::i32, {5}), f32({5, 16})}, f32({8, 16})));
    CHECK(kernel.size == 32);
    CHECK(kernel.start == block_start(32, std::vector<AxisRef>{{0, 1, 4}}));
}

TEST_CASE("windows begin at scalars, clamped so that they end inside") {
    const TensorType at = typed(DType::i32, {});
    const Move slice =
        std::get<Move>(kernel_of(emit("dynamic_slice", {f32({8, 16}), at}, {{"dim", Dims{1}}, {"size", Dims{4}}})));
    CHECK(slice.pieces[0].in_start[0] == constant(0));
    CHECK(slice.pieces[0].in_start[1] == LowerContext::scalar(1, 0, 12));
    const Move update =
        std::get<Move>(kernel_of(emit("dynamic_update_slice", {f32({8, 16}), f32({2, 16}), at}, {{"dim", Dims{0}}})));
    REQUIRE(update.pieces.size() == 2);
    CHECK(update.pieces[1].out_start[0] == LowerContext::scalar(2, 0, 6));
}

TEST_CASE("of a window over split rows a device takes and writes its own") {
    const TensorType at = typed(DType::i32, {});
    const Affine own = block_start(32, std::vector<AxisRef>{{0, 1, 4}}) * -1;
    const Emitted taken = emit("dynamic_slice", {f32({32, 16}), at}, {{"size", Dims{4}}});
    const Move slice = std::get<Move>(split_kernel(taken, 0, {f32({8, 16}), at}, f32({4, 16})));
    CHECK(slice.pieces[0].in_start[0] == LowerContext::scalar(1, 0, 28) + own);
    CHECK(!slice.covers); // zeros where the window lies elsewhere
    const Emitted written = emit("dynamic_update_slice", {f32({32, 16}), f32({2, 16}), at});
    const Move update = std::get<Move>(split_kernel(written, 0, {f32({8, 16}), f32({2, 16}), at}, f32({8, 16})));
    CHECK(update.pieces[1].out_start[0] == LowerContext::scalar(2, 0, 30) + own);
}

TEST_CASE("a split iota counts from the device's block on") {
    const Emitted emitted = emit("iota", {}, {{"shape", Dims{32, 16}}});
    const Generate kernel = std::get<Generate>(split_kernel(emitted, 0, {}, typed(DType::i32, {8, 16})));
    CHECK(std::get<Iota>(kernel.source).dim == 0);
    CHECK(kernel.shape == Shape{32, 16});
    REQUIRE(kernel.start[0].terms.size() == 1);
    CHECK(kernel.start[0].terms[0].coefficient == 8);
    CHECK(kernel.start[1].is_constant());
}

TEST_CASE("a dim of two factors starts at the sum of their starts") {
    // (8, 4) -> (32): the result's dim is i (8) major, j (4) minor; a device block of i starts at a multiple of 2 * 4.
    const Emitted emitted = emit("reshape", {f32({8, 4})}, {{"shape", Dims{32}}});
    const IndexRule rule = emitted.rule();
    std::vector<std::vector<AxisRef>> axes(rule.factors.size());
    axes[0] = {AxisRef{0, 1, 4}};
    const std::vector<TensorType> operands = {f32({8, 4})}, results = {emitted.type()};
    const LowerContext context{operands, results, operands, results, emitted.last().attributes(), rule, axes};
    REQUIRE(context.result_start(0, 0).terms.size() == 1);
    CHECK(context.result_start(0, 0).terms[0].coefficient == 8);
}

} // namespace shard
