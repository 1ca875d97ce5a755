// Pointwise programs: every instruction on every element type, broadcasting, blocks that do not divide.
#include "executor/elements/element.h"
#include "executor/formats/tensor.h"
#include "executor/kernels/kernels.h"
#include "executor/kernels/pointwise.h"
#include "plans/instruction/series.h"
#include "tests/support/plan_builder.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

namespace shard {
namespace {

std::vector<double> run(const Pointwise& kernel, const std::vector<Tensor>& inputs, DType dtype, const Shape& shape,
                        const AffineContext& context = {}) {
    std::vector<Operand> operands;
    for (const Tensor& input : inputs) operands.push_back({input.type.dtype, &input.type.shape, input.bytes.data()});
    Tensor output = make_tensor(dtype, shape, [](i64) { return 99.0; });
    Scratch scratch(nullptr, 0);
    run_pointwise(kernel, {operands, {dtype, &shape, output.bytes.data()}, scratch, context});
    return values(output);
}

double f32(double x) { return static_cast<float>(x); }

constexpr DType numbers[] = {DType::f32, DType::f64, DType::bf16, DType::i32, DType::i64, DType::u32};

} // namespace

TEST_CASE("arithmetic and comparisons on every number type") {
    const i64 count = 2500; // two and a half blocks
    for (DType dtype : numbers) {
        CAPTURE(name(dtype));
        const double low = dtype == DType::u32 ? 0 : -6;
        const Tensor a = make_tensor(dtype, {count}, [&](i64 i) { return low + static_cast<double>(i % 13); });
        const Tensor b = make_tensor(dtype, {count}, [&](i64 i) { return 1 + static_cast<double>(i % 5); });
        const std::vector<double> x = values(a), y = values(b);
        const auto check = [&](ScalarOp op, bool compares, const std::function<double(double, double)>& f) {
            CAPTURE(name(op));
            const DType result = compares ? DType::boolean : dtype;
            const std::vector<double> got = run(pointwise(op, 2, 1, dtype, result), {a, b}, result, {count});
            for (size_t i = 0; i < got.size(); ++i) {
                double expected = f(x[i], y[i]);
                if (is_integer(dtype)) expected = std::trunc(expected);
                if (dtype == DType::f32) expected = f32(expected);
                if (dtype == DType::bf16) expected = static_cast<float>(Bf16(static_cast<float>(expected)));
                if (dtype == DType::u32 && expected < 0) expected += 4294967296.0;
                REQUIRE(got[i] == expected);
            }
        };
        check(ScalarOp::add, false, [](double p, double q) { return p + q; });
        check(ScalarOp::sub, false, [](double p, double q) { return p - q; });
        check(ScalarOp::mul, false, [](double p, double q) { return p * q; });
        check(ScalarOp::div, false, [](double p, double q) { return p / q; });
        check(ScalarOp::rem, false, [](double p, double q) { return std::fmod(p, q); });
        check(ScalarOp::max, false, [](double p, double q) { return std::max(p, q); });
        check(ScalarOp::min, false, [](double p, double q) { return std::min(p, q); });
        check(ScalarOp::pow, false, [](double p, double q) { return std::pow(p, q); });
        check(ScalarOp::eq, true, [](double p, double q) { return p == q; });
        check(ScalarOp::ne, true, [](double p, double q) { return p != q; });
        check(ScalarOp::lt, true, [](double p, double q) { return p < q; });
        check(ScalarOp::le, true, [](double p, double q) { return p <= q; });
        check(ScalarOp::gt, true, [](double p, double q) { return p > q; });
        check(ScalarOp::ge, true, [](double p, double q) { return p >= q; });
        check(ScalarOp::logical_and, true, [](double p, double q) { return p != 0 && q != 0; });
        check(ScalarOp::logical_or, true, [](double p, double q) { return p != 0 || q != 0; });
        const auto unary = [&](ScalarOp op, const std::function<double(double)>& f) {
            CAPTURE(name(op));
            const std::vector<double> got = run(pointwise(op, 1, 1, dtype, dtype), {a}, dtype, {count});
            for (size_t i = 0; i < got.size(); ++i) {
                double expected = f(x[i]);
                if (dtype == DType::u32 && expected < 0) expected += 4294967296.0;
                REQUIRE(got[i] == expected);
            }
        };
        unary(ScalarOp::neg, [](double p) { return -p; });
        unary(ScalarOp::abs, [](double p) { return std::fabs(p); });
        unary(ScalarOp::sign, [](double p) { return p > 0 ? 1.0 : p < 0 ? -1.0 : 0.0; });
        for (DType to : numbers) {
            if (dtype == DType::f64 || to == DType::u32) continue;
            CAPTURE(name(to));
            CHECK(run(pointwise(ScalarOp::cast, 1, 1, dtype, to), {a}, to, {count}) == x);
        }
    }
}

TEST_CASE("float functions are libm's in f64, libm's or by series in f32, and round once more in bf16") {
    struct Function {
        ScalarOp op;
        double (*in_f64)(double);
        float (*in_f32)(float);
    };
    const Function functions[] = {
        {ScalarOp::exp, std::exp, series::exp},    {ScalarOp::expm1, std::expm1, series::expm1},
        {ScalarOp::log, std::log, series::log},    {ScalarOp::log1p, std::log1p, series::log1p},
        {ScalarOp::sqrt, std::sqrt, std::sqrt},    {ScalarOp::cbrt, std::cbrt, std::cbrt},
        {ScalarOp::sin, std::sin, std::sin},       {ScalarOp::cos, std::cos, std::cos},
        {ScalarOp::tanh, std::tanh, series::tanh}, {ScalarOp::erf, std::erf, series::erf},
        {ScalarOp::erfc, std::erfc, std::erfc},    {ScalarOp::floor, std::floor, std::floor},
        {ScalarOp::ceil, std::ceil, std::ceil},    {ScalarOp::round, std::nearbyint, std::nearbyint},
    };
    const auto inputs = [](DType dtype) {
        return make_tensor(dtype, {41}, [](i64 i) { return 0.25 + 0.25 * static_cast<double>(i); });
    };
    for (const Function& function : functions) {
        CAPTURE(name(function.op));
        for (DType dtype : {DType::f32, DType::f64, DType::bf16}) {
            const Tensor x = inputs(dtype);
            const std::vector<double> in = values(x),
                                      got = run(pointwise(function.op, 1, 1, dtype, dtype), {x}, dtype, {41});
            for (size_t i = 0; i < in.size(); ++i) {
                double expected = function.in_f64(in[i]);
                if (dtype != DType::f64) expected = function.in_f32(static_cast<float>(in[i]));
                if (dtype == DType::bf16) expected = static_cast<float>(Bf16(static_cast<float>(expected)));
                REQUIRE(got[i] == expected);
            }
        }
    }
    const Tensor x = make_tensor(DType::f32, {4}, [](i64 i) {
        return std::vector<double>{2.5, -1.5, INFINITY, NAN}[i];
    });
    CHECK(run(pointwise(ScalarOp::round, 1, 1, DType::f32, DType::f32), {x}, DType::f32, {4})[0] == 2);
    CHECK(run(pointwise(ScalarOp::is_finite, 1, 1, DType::f32, DType::boolean), {x}, DType::boolean, {4}) ==
          std::vector<double>{1, 1, 0, 0});
    CHECK(run(pointwise(ScalarOp::cast, 1, 1, DType::f32, DType::i32), {x}, DType::i32, {4}) ==
          std::vector<double>{2, -1, 2147483647, 0});
    CHECK(run(pointwise(ScalarOp::rsqrt, 1, 1, DType::f32, DType::f32),
              {make_tensor(DType::f32, {1}, [](i64) { return 16.0; })}, DType::f32, {1})[0] == 0.25);
}

TEST_CASE("integer division by zero and overflow are defined") {
    const Tensor a = make_tensor(DType::i32, {2}, [](i64 i) { return i == 0 ? 7.0 : -2147483648.0; });
    const Tensor b = make_tensor(DType::i32, {2}, [](i64 i) { return i == 0 ? 0.0 : -1.0; });
    CHECK(run(pointwise(ScalarOp::div, 2, 1, DType::i32, DType::i32), {a, b}, DType::i32, {2}) ==
          std::vector<double>{-1, -2147483648.0});
    CHECK(run(pointwise(ScalarOp::rem, 2, 1, DType::i32, DType::i32), {a, b}, DType::i32, {2}) ==
          std::vector<double>{7, 0});
}

TEST_CASE("inputs broadcast and run along any dims of the output") {
    const Shape out = {3, 7, 130};
    const Tensor a = make_tensor(DType::f32, {130, 3}, [](i64 i) { return static_cast<double>(i); }); // dims 2 and 0
    const Tensor b = make_tensor(DType::f32, {1, 7, 1}, [](i64 i) { return 1000.0 * static_cast<double>(i); });
    const Tensor c = make_tensor(DType::f32, {}, [](i64) { return 0.5; });
    Pointwise kernel;
    kernel.input_dims = {{2, 0}, {0, 1, 2}, {}};
    kernel.steps.resize(6);
    for (int n = 0; n < 3; ++n) {
        kernel.steps[n].op = ScalarOp::input;
        kernel.steps[n].args[0] = n;
    }
    kernel.steps[3] = {ScalarOp::add, {0, 1, -1}, DType::f32, 0, {}};
    kernel.steps[4] = {ScalarOp::add, {3, 2, -1}, DType::f32, 0, {}};
    kernel.steps[5] = {ScalarOp::sub, {4, 3, -1}, DType::f32, 0, {}}; // reads a register that step 4 must not reuse
    std::vector<double> got = run(kernel, {a, b, c}, DType::f32, out);
    CHECK(std::all_of(got.begin(), got.end(), [](double value) { return value == 0.5; }));
    kernel.steps.pop_back();
    got = run(kernel, {a, b, c}, DType::f32, out);
    size_t at = 0;
    for (i64 i = 0; i < 3; ++i)
        for (i64 j = 0; j < 7; ++j)
            for (i64 k = 0; k < 130; ++k)
                REQUIRE(got[at++] == static_cast<double>(k * 3 + i) + 1000.0 * static_cast<double>(j) + 0.5);
}

TEST_CASE("an output may lie where an input does, over many blocks and beside inputs that are one number") {
    for (DType dtype : {DType::f32, DType::bf16, DType::i32}) {
        CAPTURE(name(dtype));
        const Shape shape = {50, 50}, one = {};
        Tensor updated = make_tensor(dtype, shape, [](i64 i) { return static_cast<double>(i % 7); });
        const Tensor across = make_tensor(dtype, shape, [](i64 i) { return static_cast<double>(i % 50); });
        const Tensor factor = make_tensor(dtype, one, [](i64) { return 3.0; });
        Pointwise kernel;
        kernel.input_dims = {{0, 1}, {1, 0}, {}};
        const auto add = [&](ScalarOp op, std::array<int, 3> args) {
            ScalarStep step;
            step.op = op;
            step.args = args;
            step.dtype = dtype;
            kernel.steps.push_back(step);
        };
        for (int n = 0; n < 3; ++n) add(ScalarOp::input, {n, -1, -1});
        add(ScalarOp::mul, {1, 2, -1});
        add(ScalarOp::add, {3, 0, -1});
        const std::vector<Operand> operands = {{dtype, &shape, updated.bytes.data()},
                                               {dtype, &shape, across.bytes.data()},
                                               {dtype, &one, factor.bytes.data()}};
        Scratch scratch(nullptr, 0);
        run_pointwise(kernel, {operands, {dtype, &shape, updated.bytes.data()}, scratch, {}});
        const std::vector<double> got = values(updated);
        for (size_t i = 0; i < got.size(); ++i)
            REQUIRE(got[i] == static_cast<double>(i % 7) + 3 * static_cast<double>(i / 50));
    }
}

TEST_CASE("bits of one type are a number of another of the same size") {
    const auto taken = [](DType from, double x, DType to) {
        const Tensor tensor = make_tensor(from, {1}, [x](i64) { return x; });
        return run(pointwise(ScalarOp::bitcast, 1, 1, from, to), {tensor}, to, {1})[0];
    };
    CHECK(taken(DType::f32, 1, DType::u32) == 0x3F800000);
    CHECK(taken(DType::f32, -0.0, DType::i32) == -2147483648.0);
    CHECK(taken(DType::u32, 0x40490FDB, DType::f32) == 3.14159274101257324);
    CHECK(taken(DType::f64, -2, DType::i64) == -0x1p62);
    CHECK(taken(DType::bf16, 1, DType::u16) == 0x3F80);
    CHECK(taken(DType::f16, 1, DType::i16) == 0x3C00);
    CHECK(taken(DType::bf16, -1, DType::f16) == -1.875); // 0xBF80
    CHECK(taken(DType::f8e4m3fn, 1, DType::u8) == 0x38);
    CHECK(taken(DType::u8, 0x3C, DType::f8e5m2) == 1);
    CHECK(taken(DType::i8, -1, DType::u8) == 255);
}

TEST_CASE("index and select make a causal mask") {
    Pointwise kernel;
    kernel.steps.resize(6);
    kernel.steps[0] = {ScalarOp::index, {0, -1, -1}, DType::i32, 0, constant(2)}; // the shard starts at row 2
    kernel.steps[1] = {ScalarOp::index, {1, -1, -1}, DType::i32, 0, {}};
    kernel.steps[2] = {ScalarOp::ge, {0, 1, -1}, DType::boolean, 0, {}};
    kernel.steps[3] = {ScalarOp::constant, {-1, -1, -1}, DType::f32, 1, {}};
    kernel.steps[4] = {ScalarOp::constant, {-1, -1, -1}, DType::f32, -9, {}};
    kernel.steps[5] = {ScalarOp::select, {2, 3, 4}, DType::f32, 0, {}};
    const std::vector<double> got = run(kernel, {}, DType::f32, {40, 60});
    for (i64 i = 0; i < 40; ++i)
        for (i64 j = 0; j < 60; ++j) REQUIRE(got[i * 60 + j] == (i + 2 >= j ? 1 : -9));
}

} // namespace shard
