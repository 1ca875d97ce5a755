// Comparing two runs: what counts as equal, and how the first mismatch is named.
#include "executor/verify/compare.h"
#include "tests/support/plan_builder.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace shard {
namespace {

// What is compared: y of (4, 6) over a 2 x 3 mesh.
Plan example(DType dtype) {
    PlanBuilder b(make_mesh({{"a", 2}, {"b", 3}}));
    b.output("y", b.buffer("y", dtype, {4, 6}, "[a | b]"));
    return b.plan();
}

// The reference: on one device, y is a contraction of length 192.
Plan one_device(DType dtype) {
    PlanBuilder b(make_mesh({}));
    const int x = b.input("x", dtype, {4, 192}), w = b.input("w", dtype, {192, 6});
    const int y = b.buffer("y", dtype, {4, 6});
    b.compute(Contract{{0, 1}, {1, 2}, {0, 2}}, {x, w}, y);
    b.output("y", y);
    return b.plan();
}

std::optional<Comparison> compare(DType dtype, const RunResult& result, const RunResult& reference,
                                  Diagnostics& diagnostics) {
    const Plan plan = example(dtype), one = one_device(dtype);
    return compare_results({plan, result}, {one, reference}, diagnostics);
}

std::string message_of(const RunOf& run, const RunOf& reference) {
    Diagnostics diagnostics;
    CHECK_FALSE(compare_results(run, reference, diagnostics));
    REQUIRE(diagnostics.all().size() == 1);
    CHECK(diagnostics.all()[0].code == "P0202");
    return diagnostics.all()[0].message;
}

RunResult result_of(DType dtype, const std::function<double(i64)>& f) {
    RunResult result;
    result.outputs["y"] = make_tensor(dtype, {4, 6}, f);
    return result;
}

} // namespace

TEST_CASE("differences within eps * (16 + 8 sqrt K + 8 sqrt D) * scale are rounding, larger ones are named") {
    const RunResult reference = result_of(DType::f32, [](i64 i) { return i == 3 ? -2.0 : 1.0; });
    const double tolerance = std::ldexp(16 + 8 * std::sqrt(192.0) + 8, -23) * 2; // K = 64 * 3, D = 1, scale 2
    Diagnostics diagnostics;
    std::optional<Comparison> comparison =
        compare(DType::f32, result_of(DType::f32, [&](i64 i) { return (i == 3 ? -2.0 : 1.0) + 0.9 * tolerance; }),
                reference, diagnostics);
    REQUIRE(comparison);
    CHECK(comparison->equal);
    CHECK(comparison->max_absolute == doctest::Approx(0.9 * tolerance).epsilon(0.01));
    CHECK(diagnostics.all().empty());

    // Element (2, 5) is in the block of the device at a = 1, b = 2: position 5, local index (0, 1).
    comparison =
        compare(DType::f32,
                result_of(DType::f32, [&](i64 i) { return (i == 3 ? -2.0 : 1.0) + (i >= 17 ? 1.5 * tolerance : 0); }),
                reference, diagnostics);
    REQUIRE(comparison);
    CHECK_FALSE(comparison->equal);
    REQUIRE(diagnostics.all().size() == 1);
    const Diagnostic& finding = diagnostics.all()[0];
    CHECK(finding.code == "P0201");
    CHECK(finding.finding);
    CHECK(finding.message.starts_with("'y' differs from the reference at index (2, 5): 1.0000"));
    CHECK(finding.notes.at(0) == "the element is on device 5, at (0, 1) of its block ([a | b])");
    CHECK(finding.notes.at(1).starts_with("7 of 24 elements"));
}

TEST_CASE("a long sum of bf16 is accumulated in f32, so its length hardly loosens what may differ") {
    // K = 192, D = 1: 2^-7 * (16 + 8) + 2^-23 * 8 * sqrt(192), far below 2^-7 * 8 * sqrt(192) = 0.87 alone.
    const double tolerance = std::ldexp(24, -7) + std::ldexp(8 * std::sqrt(192.0), -23);
    const RunResult ones = result_of(DType::bf16, [](i64) { return 1.0; });
    Diagnostics diagnostics;
    const std::optional<Comparison> near =
        compare(DType::bf16, result_of(DType::bf16, [](i64 i) { return i == 7 ? 1.0625 : 1.0; }), ones, diagnostics);
    REQUIRE(near);
    CHECK(near->equal);
    CHECK(near->allowed_relative == doctest::Approx(tolerance));
    CHECK_FALSE(
        compare(DType::bf16, result_of(DType::bf16, [](i64 i) { return i == 7 ? 1.25 : 1.0; }), ones, diagnostics)
            ->equal);
}

TEST_CASE("integers must be equal, NaN must be at the same places") {
    Diagnostics diagnostics;
    const RunResult ones = result_of(DType::i32, [](i64) { return 1.0; });
    CHECK(compare(DType::i32, ones, ones, diagnostics)->equal);
    CHECK_FALSE(compare(DType::i32, result_of(DType::i32, [](i64 i) { return i == 23 ? 2.0 : 1.0; }), ones, diagnostics)
                    ->equal);
    const RunResult holes = result_of(DType::f32, [](i64 i) { return i == 4 ? NAN : i == 5 ? INFINITY : 1.0; });
    CHECK(compare(DType::f32, holes, holes, diagnostics)->equal);
    const RunResult filled = result_of(DType::f32, [](i64) { return 1.0; });
    CHECK_FALSE(compare(DType::f32, holes, filled, diagnostics)->equal);
    CHECK_FALSE(compare(DType::f32, filled, holes, diagnostics)->equal);
    const RunResult negative = result_of(DType::f32, [](i64 i) { return i == 4 ? NAN : i == 5 ? -INFINITY : 1.0; });
    CHECK_FALSE(compare(DType::f32, holes, negative, diagnostics)->equal);
    CHECK_FALSE(compare(DType::f32, RunResult{}, filled, diagnostics));
    CHECK(diagnostics.all().back().code == "P0202");
}

TEST_CASE("integers of 64 bits that are alike as f64 are not equal") {
    const auto of_last = [](i64 last) {
        RunResult result = result_of(DType::i64, [](i64) { return 1.0; });
        Tensor& tensor = result.outputs["y"];
        std::memcpy(tensor.bytes.data() + 23 * sizeof(i64), &last, sizeof(i64));
        return result;
    };
    const i64 large = i64{1} << 53;
    REQUIRE(static_cast<double>(large) == static_cast<double>(large + 1));
    Diagnostics diagnostics;
    CHECK(compare(DType::i64, of_last(large + 1), of_last(large + 1), diagnostics)->equal);
    const std::optional<Comparison> comparison = compare(DType::i64, of_last(large + 1), of_last(large), diagnostics);
    REQUIRE(comparison);
    CHECK_FALSE(comparison->equal);
    CHECK(comparison->max_absolute == 1);
    REQUIRE(diagnostics.all().size() == 1);
    CHECK(diagnostics.all()[0].message ==
          "'y' differs from the reference at index (3, 5): 9007199254740993, expected 9007199254740992");
    // From one end of the type to the other: 2^64 - 1.
    const std::optional<Comparison> apart = compare(DType::i64, of_last(std::numeric_limits<i64>::max()),
                                                    of_last(std::numeric_limits<i64>::min()), diagnostics);
    REQUIRE(apart);
    CHECK(apart->max_absolute == 0x1p64);
}

TEST_CASE("an f64 output that was cast from f32 may differ as f32 does") {
    PlanBuilder b(make_mesh({}));
    const int x = b.input("x", DType::f32, {24, 64});
    const int sum = b.buffer("sum", DType::f32, {24}), y = b.buffer("y", DType::f64, {24});
    b.compute(Reduce{{1}, ReduceOp::sum}, {x}, sum);
    b.compute(Pointwise{{{0}}, {{ScalarOp::input, {0}, DType::f32, 0, {}}, {ScalarOp::cast, {0}, DType::f64, 0, {}}}},
              {sum}, y);
    b.output("y", y);
    const auto result = [](double value) {
        RunResult run;
        run.outputs["y"] = make_tensor(DType::f64, {24}, [value](i64) { return value; });
        return run;
    };
    Diagnostics diagnostics;
    CHECK(compare_results({b.plan(), result(3.60169435)}, {b.plan(), result(3.60169411)}, diagnostics)
              ->equal); // one ulp of f32
    CHECK_FALSE(compare_results({b.plan(), result(3.6017)}, {b.plan(), result(3.6018)}, diagnostics)->equal);
}

TEST_CASE("an output of a few elements is compared with its own size") {
    PlanBuilder b(make_mesh({}));
    const int x = b.input("x", DType::f32, {12});
    const int y = b.buffer("y", DType::f32, {});
    b.compute(Contract{{0}, {0}, {}}, {x, x}, y);
    b.output("y", y);
    const double tolerance = std::ldexp(16 + 8 * std::sqrt(12.0) + 8, -23);
    for (const double size : {1e-9, 0.128425598, 1e9}) {
        CAPTURE(size);
        const auto result = [size](double factor) {
            RunResult run;
            run.outputs["y"] = make_tensor(DType::f32, {}, [&](i64) { return size * factor; });
            return run;
        };
        Diagnostics diagnostics;
        CHECK(compare_results({b.plan(), result(1 + 0.9 * tolerance)}, {b.plan(), result(1)}, diagnostics)->equal);
        CHECK_FALSE(
            compare_results({b.plan(), result(1 + 1.1 * tolerance)}, {b.plan(), result(1)}, diagnostics)->equal);
    }
}

TEST_CASE("where terms cancel, the reference run again says how large they are") {
    constexpr i64 count = 1024;
    PlanBuilder b(make_mesh({}));
    const int x = b.input("x", DType::f32, {count});
    const int y = b.buffer("y", DType::f32, {});
    b.compute(Reduce{{0}, ReduceOp::sum}, {x}, y);
    b.output("y", y);
    RunOptions options;
    options.workers = 1;
    for (const double size : {1e6, 1e-3, 1e-9}) { // of the terms
        CAPTURE(size);
        // Pairs that add to nothing, and one more of a millionth of their size.
        options.inputs["x"] = make_tensor(DType::f32, {count}, [size](i64 i) {
            return i + 1 == count ? 1e-6 * size : i == 0 ? 0 : (i % 2 == 0 ? -1 : 1) * size;
        });
        Diagnostics diagnostics;
        const std::optional<RunResult> reference = run_plan(b.plan(), options, diagnostics);
        REQUIRE(reference);
        const auto verdict = [&](double error, const RunOptions* again) {
            RunResult run = *reference;
            const double expected = values(reference->outputs.at("y"))[0];
            run.outputs["y"] = make_tensor(DType::f32, {}, [&](i64) { return expected + error * size; });
            Diagnostics findings;
            const std::optional<Comparison> comparison =
                compare_results({b.plan(), run}, {b.plan(), *reference}, findings, again);
            REQUIRE(comparison);
            CHECK(comparison->equal == findings.all().empty());
            return comparison->equal;
        };
        const double rounding = size < 1 ? 1e-6 : 1e-8; // of a thousand terms
        CHECK(verdict(rounding, &options));
        CHECK_FALSE(verdict(rounding, nullptr));
        CHECK_FALSE(verdict(0.5, &options)); // half a term is missing
        CHECK_FALSE(verdict(-0.5, &options));
    }
}

TEST_CASE("two sums that cancel to nothing in the reference may round otherwise in a run") {
    constexpr i64 count = 1000;
    PlanBuilder b(make_mesh({}));
    const int x = b.input("x", DType::f32, {count});
    const int first = b.buffer("first", DType::f32, {}), second = b.buffer("second", DType::f32, {});
    for (const int sum : {first, second}) b.compute(Reduce{{0}, ReduceOp::sum}, {x}, sum);
    const int y = b.buffer("y", DType::f32, {});
    b.compute(pointwise(ScalarOp::sub, 2, 0, DType::f32, DType::f32), {first, second}, y);
    b.output("y", y);
    RunOptions options;
    options.workers = 1;
    options.inputs["x"] = make_tensor(DType::f32, {count}, [](i64 i) { return 1e-3 + 1e-6 * static_cast<double>(i); });
    const RunResult reference = run_clean(b.plan(), options);
    REQUIRE(values(reference.outputs.at("y"))[0] == 0);
    const auto verdict = [&](double off, const RunOptions* again) {
        RunResult run = reference;
        run.outputs["y"] = make_tensor(DType::f32, {}, [off](i64) { return off; });
        Diagnostics findings;
        return compare_results({b.plan(), run}, {b.plan(), reference}, findings, again)->equal;
    };
    CHECK(verdict(1e-6, &options)); // the sums are near 1.5
    CHECK_FALSE(verdict(1e-6, nullptr));
    CHECK_FALSE(verdict(1e-2, &options));
}

TEST_CASE("both runs have the same outputs, which update the same inputs") {
    const auto plan_of = [](std::vector<std::pair<std::string, std::string>> outputs) {
        PlanBuilder b(make_mesh({}));
        std::map<std::string, int> inputs;
        for (const char* name : {"m", "w"}) inputs[name] = b.input(name, DType::f32, {4, 6});
        for (const auto& [name, updates] : outputs)
            b.plan().outputs.push_back({name, inputs["w"], updates.empty() ? -1 : inputs.at(updates)});
        return b.plan();
    };
    const auto result_with = [](const Plan& plan) {
        RunResult result;
        for (const PlanOutput& output : plan.outputs) {
            result.outputs[output.name] = make_tensor(DType::f32, {4, 6}, [](i64) { return 1.0; });
            if (output.updates >= 0) result.initial[output.name] = result.outputs[output.name];
        }
        return result;
    };
    const Plan reference = plan_of({{"m", "m"}, {"z", ""}});
    const RunResult wanted = result_with(reference);
    const auto message = [&](std::vector<std::pair<std::string, std::string>> outputs) {
        const Plan plan = plan_of(std::move(outputs));
        const RunResult result = result_with(plan);
        return message_of({plan, result}, {reference, wanted});
    };
    CHECK(message({}) == "the two runs do not both have an output 'm' of the same type");
    CHECK(message({{"m", "m"}}) == "the two runs do not both have an output 'z' of the same type");
    CHECK(message({{"m", "m"}, {"z", ""}, {"more", ""}}) == "the reference has no output 'more'");
    CHECK(message({{"m", ""}, {"z", ""}}) == "output 'm' updates nothing, that of the reference 'm'");
    CHECK(message({{"m", "w"}, {"z", ""}}) == "output 'm' updates 'w', that of the reference 'm'");
    CHECK(message({{"m", "m"}, {"z", "w"}}) == "output 'z' updates 'w', that of the reference nothing");
    Diagnostics diagnostics;
    CHECK(compare_results({reference, wanted}, {reference, wanted}, diagnostics)->equal);
}

TEST_CASE("how far an output may be off follows from the reference, whatever the plan holds") {
    const double tolerance = std::ldexp(16 + 8 * std::sqrt(192.0) + 8, -23);
    PlanBuilder b(make_mesh({}));
    b.output("y", b.buffer("y", DType::f32, {4, 6}));
    b.buffer("unused", DType::bf16, {4});
    const Plan one = one_device(DType::f32);
    const RunResult ones = result_of(DType::f32, [](i64) { return 1.0; });
    const RunResult far = result_of(DType::f32, [&](i64 i) { return i == 7 ? 1 + 1.5 * tolerance : 1.0; });
    Diagnostics diagnostics;
    const std::optional<Comparison> comparison = compare_results({b.plan(), far}, {one, ones}, diagnostics);
    REQUIRE(comparison);
    CHECK_FALSE(comparison->equal);
    CHECK(comparison->allowed_relative == doctest::Approx(tolerance));
}

} // namespace shard
