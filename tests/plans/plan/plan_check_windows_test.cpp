// As plan_check_kernel_test.cpp: the rules of convolutions and poolings.
#include "tests/plans/plan/checked_kernel.h"

#include <doctest/doctest.h>

using namespace shard;

TEST_CASE("check of a convolution: dims of its operands, sizes that agree, windows that can be computed") {
    const auto with = [](const Convolve& convolve, const Types& inputs, const TensorType& output) {
        return problem_of(convolve, inputs, output);
    };
    const Types inputs = {f32({2, 6, 4}), f32({3, 4, 5})};
    const TensorType output = f32({2, 7, 5}); // any number of places
    const Slide slide = {1, 1, 1, 1, false};
    const Convolve plain = {"nwi,wio->nwo", 1, {slide}};
    CHECK(with(plain, inputs, output) == "");
    CHECK(with(plain, {inputs[0]}, output) == "convolve: it takes two operands");
    CHECK(with({"nwi,wio", 1, {slide}}, inputs, output) == "convolve: it says no dims of two operands and a result");
    CHECK(with({"nwi,wio->nwoo", 1, {slide}}, inputs, output) == "convolve: letter 'o' is twice in 'nwoo'");
    CHECK(with({"nhwi,hwio->nhwo", 1, {slide, slide}}, inputs, output) == "convolve: one letter per dim");
    CHECK(with(plain, {inputs[0], f32({3, 5, 5})}, output) == "convolve: letter 'i' has two sizes");
    CHECK(with(plain, inputs, f32({3, 7, 5})) == "convolve: letter 'n' has two sizes");
    CHECK(with(plain, {inputs[0], of(DType::bf16, {3, 4, 5})}, output) == "convolve: operands of two types");
    CHECK(with(plain, {i32({2, 6, 4}), i32({3, 4, 5})}, i32({2, 7, 5})) ==
          "convolve: only floating-point types multiply");
    CHECK(with(plain, inputs, of(DType::bf16, {2, 7, 5})) == "convolve: a result of another type");
    CHECK(with(plain, {of(DType::bf16, {2, 6, 4}), of(DType::bf16, {3, 4, 5})}, output) == "");
    CHECK(with({"nwi,wio->nwo", 1, {}}, inputs, output) == "convolve: one window per letter that all three have");
    CHECK(with({"nwi,wio->nwo", 2, {slide}}, inputs, output) == "convolve: groups that its dims do not have");
    CHECK(with({"nw(gi),wi(go)->nw(go)", 3, {slide}}, {f32({2, 6, 8}), f32({3, 4, 10})}, f32({2, 7, 10})) ==
          "convolve: a dim of groups that does not divide");
    CHECK(with({"nw(gi),wi(go)->nw(go)", 2, {slide}}, {f32({2, 6, 8}), f32({3, 4, 10})}, f32({2, 7, 10})) == "");
    const auto sliding = [&](const Slide& one) { return with({"nwi,wio->nwo", 1, {one}}, inputs, output); };
    CHECK(sliding({0, 1, 1, 1, false}) == "convolve: a stride or dilation below 1");
    CHECK(sliding({1, 1, 1, -1, false}) == "convolve: a stride or dilation below 1");
    for (const i64 far : {i64{1} << 60, -(i64{1} << 60)})
        CHECK(sliding({1, far, 1, 1, false}) == "convolve: a window that reaches further than can be computed");
    CHECK(sliding({i64{1} << 60, 0, 1, 1, false}) == "convolve: a window that reaches further than can be computed");
}

TEST_CASE("check of a pooling and of its gradient: a window per dim, and a result within the operand") {
    const Types inputs = {f32({2, 6})};
    const std::vector<Slide> slides(2);
    const auto reduced = [](const ReduceWindows& reduce, const Types& operands, const TensorType& output) {
        return problem_of(reduce, operands, output);
    };
    const ReduceWindows reduce = {ReduceOp::max, {1, 3}, slides};
    CHECK(reduced(reduce, inputs, f32({2, 4})) == "");
    CHECK(reduced(reduce, {inputs[0], inputs[0]}, f32({2, 4})) == "reduce_windows: it takes one operand");
    CHECK(reduced(reduce, inputs, of(DType::bf16, {2, 4})) == "reduce_windows: a result of another type");
    CHECK(reduced(reduce, {of(DType::boolean, {2, 6})}, of(DType::boolean, {2, 4})) ==
          "reduce_windows: windows of truths");
    CHECK(reduced(reduce, inputs, f32({2, 4, 1})) == "reduce_windows: one window per dim");
    CHECK(reduced({ReduceOp::max, {3}, slides}, inputs, f32({2, 4})) == "reduce_windows: one window per dim");
    CHECK(reduced({ReduceOp::max, {}, {}}, {f32({})}, f32({})) == "reduce_windows: one window per dim");
    CHECK(reduced({ReduceOp::max, {1, 0}, slides}, inputs, f32({2, 4})) == "reduce_windows: a dim without elements");
    CHECK(reduced({ReduceOp::max, {1, 3}, {{}, {1, 0, 1, 1, true}}}, inputs, f32({2, 4})) ==
          "reduce_windows: a reversed window");

    const auto selected = [](const SelectWindows& select, const Types& operands, const TensorType& output) {
        return problem_of(select, operands, output);
    };
    const SelectWindows select = {false, {1, 3}, slides, {0, 0}};
    const Types both = {f32({2, 6}), f32({2, 4})};
    CHECK(selected(select, both, f32({2, 6})) == "");
    CHECK(selected({false, {1, 3}, slides, {0, 2}}, both, f32({2, 4})) == "");
    CHECK(selected(select, inputs, f32({2, 6})) == "select_windows: it takes two operands");
    CHECK(selected(select, {f32({2, 6}), of(DType::f64, {2, 4})}, f32({2, 6})) ==
          "select_windows: operands of two types");
    CHECK(selected(select, {i32({2, 6}), i32({2, 4})}, i32({2, 6})) ==
          "select_windows: a gradient that is not floating-point");
    CHECK(selected({false, {1, 3}, slides, {0}}, both, f32({2, 6})) == "select_windows: one start per dim");
    CHECK(selected({false, {1, 3}, {{}, {1, 0, 1, 2, false}}, {0, 0}}, both, f32({2, 6})) ==
          "select_windows: a dilated operand");
    CHECK(selected({false, {1, 3}, slides, {0, 3}}, both, f32({2, 4})) ==
          "select_windows: a result outside of the operand");
    CHECK(selected({false, {1, 3}, slides, {-1, 0}}, both, f32({2, 6})) ==
          "select_windows: a result outside of the operand");
}
