// Convolutions by blocks against the interpreter's sums, over sizes that take several blocks and end within one; and
// poolings.
#include "planner/graph/op_def.h"
#include "plans/kernel/convolve_sizes.h"
#include "tests/executor/kernels/run_alone.h"
#include "tests/support/plan_builder.h"
#include "tests/support/window_interpreter.h"

#include <doctest/doctest.h>

#include <cmath>

namespace shard {

namespace {

Tensor waves(DType dtype, const Shape& shape, double phase) {
    return make_tensor(dtype, shape, [&](i64 i) { return std::sin(0.37 * static_cast<double>(i) + phase); });
}

Node node_of(std::string_view op, const std::vector<Slide>& slides) {
    Apply apply;
    apply.op = find_op(op);
    std::vector<i64> strides, low, dilation, between;
    for (const Slide& slide : slides) {
        strides.push_back(slide.stride);
        low.push_back(slide.low);
        dilation.push_back(slide.dilation);
        between.push_back(slide.input_dilation);
    }
    apply.attributes.set("strides", strides);
    apply.attributes.set("low", low);
    apply.attributes.set("dilation", dilation);
    apply.attributes.set("input_dilation", between);
    Node node;
    node.does = apply;
    return node;
}

// The largest difference, of the largest value.
double difference(const Node& node, const Kernel& kernel, const std::vector<Tensor>& inputs, const TensorType& type) {
    const std::vector<double> got = run_alone(kernel, inputs, type.dtype, type.shape);
    std::vector<Array> arrays;
    for (const Tensor& input : inputs) arrays.push_back({input.type.shape, values(input)});
    std::vector<const Array*> operands;
    for (const Array& array : arrays) operands.push_back(&array);
    const Array want = find_window_op(node.op()->name)(operands, node, type);
    REQUIRE(got.size() == want.values.size());
    double most = 0, largest = 1e-30;
    for (size_t n = 0; n < got.size(); ++n) {
        most = std::max(most, std::isfinite(got[n]) ? std::fabs(got[n] - want.values[n]) : INFINITY);
        largest = std::max(largest, std::fabs(want.values[n]));
    }
    return most / largest;
}

double convolved(const Convolve& kernel, const Shape& lhs, const Shape& rhs, const Shape& out,
                 DType dtype = DType::f64) {
    Node node = node_of("conv", kernel.windows);
    node.apply().attributes.set("dims", kernel.dims);
    node.apply().attributes.set("groups", kernel.groups);
    node.apply().attributes.set("reverse", kernel.windows[0].reversed);
    const std::vector<Tensor> inputs = {waves(dtype, lhs, 0), waves(dtype, rhs, 1)};
    return difference(node, kernel, inputs, {dtype, out, {}});
}

} // namespace

TEST_CASE("a convolution by blocks is the convolution, whatever the order of dims") {
    const std::vector<Slide> plain = {{1, 1, 1, 1, false}, {1, 1, 1, 1, false}};
    const auto check = [](const Convolve& kernel, const Shape& lhs, const Shape& rhs, const Shape& out) {
        CAPTURE(kernel.dims);
        CHECK(convolved(kernel, lhs, rhs, out) < 1e-12);
    };
    // 1400 rows, 540 terms and 520 columns are two blocks of each.
    check({"nwi,wio->nwo", 1, {plain[0]}}, {2, 700, 180}, {3, 180, 2}, {2, 700, 2});
    check({"nwi,wio->nwo", 1, {plain[0]}}, {1, 5, 3}, {3, 3, 520}, {1, 5, 520});
    check({"nhwi,hwio->nhwo", 1, plain}, {2, 7, 6, 3}, {3, 3, 3, 4}, {2, 7, 6, 4});
    check({"nihw,oihw->nohw", 1, plain}, {2, 3, 7, 6}, {4, 3, 3, 3}, {2, 4, 7, 6});
    check({"wnhi,ohiw->onhw", 1, plain}, {6, 2, 7, 3}, {4, 3, 3, 3}, {4, 2, 7, 6});
    check({"nhwi,nhwo->hwio", 1, {{1, 1, 1, 1, false}, {1, 1, 1, 1, false}}}, {2, 7, 6, 3}, {2, 7, 6, 4}, {3, 3, 3, 4});
    check({"ndhwi,dhwio->ndhwo", 1, {{1, 1, 1, 1, false}, {2, 0, 1, 1, false}, {1, 0, 2, 1, false}}}, {2, 4, 5, 6, 3},
          {3, 3, 2, 3, 4}, {2, 4, 2, 4, 4});
    check({"nwi,wio->nwo", 1, {Slide{}}}, {3, 5, 4}, {1, 4, 6}, {3, 5, 6}); // a product where operands lie
    check({"niw,oiw->now", 1, {Slide{}}}, {3, 5, 4}, {6, 5, 1}, {3, 6, 4});
}

TEST_CASE("a convolution by blocks slides as it is said: strides, borders, dilations, reversed") {
    for (const i64 stride : {1, 2, 3})
        for (const i64 low : {-2, 0, 1, 4})
            for (const i64 dilation : {1, 2})
                for (const i64 between : {1, 2, 3})
                    for (const bool reversed : {false, true}) {
                        const Slide slide = {stride, low, dilation, between, reversed};
                        CAPTURE(stride);
                        CAPTURE(low);
                        CAPTURE(dilation);
                        CAPTURE(between);
                        CHECK(convolved({"nwi,wio->nwo", 1, {slide}}, {2, 6, 3}, {3, 3, 2}, {2, 7, 2}) < 1e-12);
                        CHECK(convolved({"niw,oiw->now", 1, {slide}}, {2, 3, 6}, {2, 3, 3}, {2, 2, 7}) < 1e-12);
                        CHECK(convolved({"nwi,nwo->wio", 1, {slide}}, {2, 6, 3}, {2, 7, 2}, {3, 3, 2}) < 1e-12);
                    }
}

TEST_CASE("a convolution of groups is one for each, wherever their parts lie, and of one channel each") {
    const std::vector<Slide> slide = {{1, 1, 1, 1, false}};
    CHECK(convolved({"nw(gi),wi(go)->nw(go)", 2, slide}, {2, 6, 6}, {3, 3, 8}, {2, 6, 8}) < 1e-12);
    CHECK(convolved({"nw(go),wi(go)->nw(gi)", 2, slide}, {2, 6, 8}, {3, 3, 8}, {2, 6, 6}) < 1e-12);
    CHECK(convolved({"nw(gi),nw(go)->wi(go)", 2, slide}, {2, 6, 6}, {2, 6, 8}, {3, 3, 8}) < 1e-12);
    CHECK(convolved({"(gn)wi,wi(go)->nw(go)", 2, slide}, {4, 6, 3}, {3, 3, 8}, {2, 6, 8}) < 1e-12);
    CHECK(convolved({"nw(gi),wi(go)->nw(go)", 6, slide}, {2, 6, 6}, {3, 1, 6}, {2, 6, 6}) < 1e-12);
    CHECK(convolved({"nw(gi),wi(go)->nw(go)", 6, {{2, 0, 2, 3, true}}}, {2, 6, 6}, {3, 1, 6}, {2, 7, 6}) < 1e-12);
    CHECK(convolved({"n(gi)w,(go)iw->n(go)w", 6, slide}, {2, 6, 6}, {6, 1, 3}, {2, 6, 6}) < 1e-12);
    CHECK(convolved({"nw(gi),nw(go)->wi(go)", 6, slide}, {2, 6, 6}, {2, 6, 6}, {3, 1, 6}) < 1e-12);
}

TEST_CASE("a convolution of narrow floats is summed in f32") {
    const std::vector<Slide> slide = {{1, 1, 1, 1, false}};
    CHECK(convolved({"nwi,wio->nwo", 1, slide}, {2, 90, 60}, {3, 60, 4}, {2, 90, 4}, DType::f32) < 1e-5);
    CHECK(convolved({"nwi,wio->nwo", 1, slide}, {2, 90, 60}, {3, 60, 4}, {2, 90, 4}, DType::bf16) < 5e-3);
    CHECK(convolved({"nw(gi),wi(go)->nw(go)", 8, slide}, {2, 9, 8}, {3, 1, 8}, {2, 9, 8}, DType::bf16) < 5e-3);
}

TEST_CASE("a convolution's scratch does not grow with the operands") {
    const auto bytes = [](i64 batch, i64 length) {
        const TensorType x = {DType::bf16, {batch, length, 512}, {}}, w = {DType::bf16, {3, 512, 512}, {}};
        const TensorType types[] = {x, w};
        const Convolve kernel = {"nwi,wio->nwo", 1, {{1, 1, 1, 1, false}}};
        return convolve_scratch(convolve_sizes(kernel, types, {DType::bf16, {batch, length, 512}, {}}), DType::bf16)
            .bytes;
    };
    CHECK(bytes(32, 4096) == bytes(64, 1 << 20));
    CHECK(bytes(32, 4096) <= 5 << 20);
    const TensorType none = {DType::f32, {1, 8, 0}, {}}, of_none = {DType::f32, {3, 0, 4}, {}};
    const TensorType empty[] = {none, of_none};
    const Convolve summing_none = {"nwi,wio->nwo", 1, {{1, 1, 1, 1, false}}};
    CHECK(convolve_scratch(convolve_sizes(summing_none, empty, {DType::f32, {1, 8, 4}, {}}), DType::f32).terms == 0);
    // What windows meet of a small picture is nine times the picture.
    const TensorType x = {DType::f32, {1, 32, 8, 16}, {}}, w = {DType::f32, {3, 3, 16, 16}, {}};
    const TensorType types[] = {x, w};
    const Convolve kernel = {"nhwi,hwio->nhwo", 1, {{1, 1, 1, 1, false}, {1, 1, 1, 1, false}}};
    const ConvolveScratch small = convolve_scratch(convolve_sizes(kernel, types, x), DType::f32);
    CHECK(small.rhs - small.met <= 2 * x.bytes() + w.bytes() + 64);
    CHECK(small.rows > 64);
}

TEST_CASE("windows are reduced and their elements found, in the order of their dims") {
    const Shape shape = {2, 7, 6, 3};
    const std::vector<i64> window = {1, 3, 2, 1};
    const std::vector<Slide> slides = {{}, {2, 1, 1, 1, false}, {1, 0, 1, 1, false}, {}};
    Node node = node_of("sum_pool", slides);
    node.apply().attributes.set("dim", std::vector<i64>{0, 1, 2, 3});
    node.apply().attributes.set("window", window);
    const Shape pooled = {2, 4, 5, 3};
    const auto check = [&](std::string_view op, const Kernel& kernel, const std::vector<Tensor>& inputs,
                           const TensorType& type, double allowed) {
        CAPTURE(op);
        node.apply().op = find_op(op);
        CHECK(difference(node, kernel, inputs, type) < allowed);
    };
    for (const DType dtype : {DType::f64, DType::f32, DType::bf16}) {
        const double allowed = dtype == DType::bf16 ? 5e-3 : 1e-6;
        const Tensor x = waves(dtype, shape, 0), given = waves(dtype, pooled, 1);
        check("sum_pool", ReduceWindows{ReduceOp::sum, window, slides}, {x}, {dtype, pooled, {}}, allowed);
        check("max_pool", ReduceWindows{ReduceOp::max, window, slides}, {x}, {dtype, pooled, {}}, allowed);
        check("min_pool", ReduceWindows{ReduceOp::min, window, slides}, {x}, {dtype, pooled, {}}, allowed);
        check("max_pool_gradient", SelectWindows{false, window, slides, {0, 0, 0, 0}}, {x, given}, {dtype, shape, {}},
              allowed);
        check("min_pool_gradient", SelectWindows{true, window, slides, {0, 0, 0, 0}}, {x, given}, {dtype, shape, {}},
              allowed);
    }
    // Along the last dim, and with nothing between elements.
    const std::vector<Slide> sparse = {{}, {1, 0, 1, 2, false}, {}, {1, 1, 1, 1, false}};
    node = node_of("sum_pool", sparse);
    node.apply().attributes.set("dim", std::vector<i64>{0, 1, 2, 3});
    node.apply().attributes.set("window", std::vector<i64>{1, 2, 1, 2});
    check("sum_pool", ReduceWindows{ReduceOp::sum, {1, 2, 1, 2}, sparse}, {waves(DType::f64, shape, 0)},
          {DType::f64, {2, 12, 6, 4}, {}}, 1e-12);
}

TEST_CASE("of equal elements the first takes what is given for a window, and a part of the result is that part") {
    const Tensor x = make_tensor(DType::f32, {1, 5}, [](i64) { return 1; }),
                 given = make_tensor(DType::f32, {1, 4}, [](i64 i) { return static_cast<double>(i + 1); });
    const SelectWindows kernel = {false, {1, 2}, {{}, {}}, {0, 0}};
    CHECK(run_alone(kernel, {x, given}, DType::f32, {1, 5}) == std::vector<double>{1, 2, 3, 4, 0});
    SelectWindows part = kernel;
    part.start = {0, 1};
    CHECK(run_alone(part, {x, given}, DType::f32, {1, 3}) == std::vector<double>{2, 3, 4});
}

} // namespace shard
