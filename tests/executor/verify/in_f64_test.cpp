// A plan in f64: the same steps in a larger arena, safe to run, and free of the rounding of narrower types.
#include "executor/verify/in_f64.h"
#include "plans/plan/plan_check.h"
#include "tests/support/plan_builder.h"
#include "tests/support/random_case.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <random>

namespace shard {
namespace {

std::string problems_of(const Plan& plan) {
    std::string text;
    for (const PlanProblem& problem : plan_problems(plan)) text += problem.where + ": " + problem.what + "\n";
    return text;
}

double first(const Tensor& tensor) {
    double value = 0;
    REQUIRE(tensor.type.dtype == DType::f64);
    std::memcpy(&value, tensor.bytes.data(), sizeof value);
    return value;
}

} // namespace

TEST_CASE("a plan in f64 computes without the rounding of its own types") {
    for (DType dtype : {DType::f32, DType::bf16, DType::f16}) {
        PlanBuilder b(make_mesh({}));
        const int x = b.input("x", dtype, {4, 3}), w = b.input("w", dtype, {3, 4});
        const int y = b.buffer("y", dtype, {4, 4});
        b.compute(Contract{{0, 1}, {1, 2}, {0, 2}}, {x, w}, y);
        b.output("y", y);
        const Plan plan = b.plan();
        CHECK(is_below_f64(plan));
        const Plan wide = in_f64(plan);
        CHECK_FALSE(is_below_f64(wide));
        CHECK(problems_of(wide) == "");
        RunOptions options;
        // 1.25 * 1 + 1/1024 * 1/1024: all of it is there in f64 alone.
        options.inputs["x"] =
            make_tensor(dtype, {4, 3}, [](i64 i) { return i % 3 == 0 ? 1.25 : std::ldexp(1.0, -10); });
        options.inputs["w"] = make_tensor(dtype, {3, 4}, [](i64 i) {
            return i < 4 ? 1 : i < 8 ? std::ldexp(1.0, -14) : 0;
        });
        Diagnostics diagnostics;
        const std::optional<RunResult> result = run_plan(wide, options, diagnostics);
        REQUIRE(result);
        CHECK(first(result->outputs.at("y")) == 1.25 + std::ldexp(1.0, -24));
    }
}

TEST_CASE("bits of floats are others in f64, bits of whole numbers are not") {
    const auto bitcast = [](DType from, DType to, bool in_loop) {
        PlanBuilder b(make_mesh({}));
        const int x = b.input("x", from, {4}), index = b.buffer("index", DType::i32, {}), y = b.buffer("y", to, {4});
        if (in_loop) b.begin_loop(index, 2);
        Pointwise bits = pointwise(ScalarOp::bitcast, 1, 1, from, to);
        b.compute(bits, {x}, y);
        if (in_loop) b.end_loop();
        b.output("y", y);
        return b.plan();
    };
    for (const bool in_loop : {false, true}) {
        CAPTURE(in_loop);
        CHECK(takes_float_bits(bitcast(DType::f32, DType::u32, in_loop)));
        CHECK(takes_float_bits(bitcast(DType::u16, DType::bf16, in_loop)));
        CHECK_FALSE(takes_float_bits(bitcast(DType::i32, DType::u32, in_loop)));
        CHECK_FALSE(takes_float_bits(bitcast(DType::f64, DType::i64, in_loop)));
        CHECK(problems_of(bitcast(DType::f32, DType::u32, in_loop)) == "");
    }
    CHECK(problems_of(bitcast(DType::f32, DType::u16, false)) != "");
    CHECK(problems_of(bitcast(DType::boolean, DType::u8, false)) != "");
}

TEST_CASE("what a plan begins with is the same in f64, draws too") {
    PlanBuilder b(make_mesh({}));
    const int x = b.input("x", DType::f32, {64});
    Plan plan = b.plan();
    plan.inputs[0].init = Generate{Random{}, {64}, {}};
    plan.outputs = {{"x", x}};
    Diagnostics diagnostics;
    const std::optional<RunResult> narrow = run_plan(plan, {}, diagnostics);
    RunOptions options;
    std::optional<std::map<std::string, Tensor>> begun = beginning(plan, options, diagnostics);
    REQUIRE(begun);
    options.inputs = *begun;
    const std::optional<RunResult> wide = run_plan(in_f64(plan), options, diagnostics);
    REQUIRE(narrow);
    REQUIRE(wide);
    for (size_t i = 0; i < 64; ++i) {
        float one = 0;
        double other = 0;
        std::memcpy(&one, narrow->outputs.at("x").bytes.data() + i * sizeof one, sizeof one);
        std::memcpy(&other, wide->outputs.at("x").bytes.data() + i * sizeof other, sizeof other);
        CHECK(double{one} == other);
    }
}

} // namespace shard
