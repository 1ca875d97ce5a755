// Products in 8 bits, beside JAX 0.10.2 with the same scales and casts (float8_e4m3fn forwards, float8_e5m2 backwards).
#include "planner/graph/op_def.h"
#include "planner/read/hardware.h"
#include "plans/kernel/kernel_cost.h"
#include "tests/support/model_harness.h"
#include "tests/support/steps.h"
#include "tests/support/tensors.h"

#include <doctest/doctest.h>

#include <cmath>

namespace shard {
namespace {

// sin(0.7 i^2 + seed) / 2
Tensor numbers(Shape shape, double seed) {
    return make_tensor(DType::f32, std::move(shape), [seed](i64 i) {
        const double n = static_cast<double>(i);
        return 0.5 * std::sin(n * n * 0.7 + seed);
    });
}

const std::string model = R"(model: fp8
axes: {rows: 8, in: 16, out: 12}
inputs: {x: {axes: [rows, in]}, w: {axes: [in, out]}, c: {axes: [rows, out]}}
modules:
  f:
    inputs: [x, w, c]
    graph: [{y: {fp8_dot: [x, w]}}, {p: {mul: [y, c]}}, {l: {reduce_sum: p}}]
    outputs: [l]
graph:
  - y: {fp8_dot: [x, w]}
  - z: {fp8_dot: [x, w], equation: "ik,kj->ji"}
  - l, dx, dw: {value_and_grad: f, in: [x, w, c], wrt: [x, w]}
outputs: [y, z, dx, dw]
)";

Plan planned(const std::string& text, const std::string& layout) {
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add("model.yaml", text);
    request.layout_file = sources.add("layout.yaml", layout);
    Compilation compilation = compile(sources, request);
    REQUIRE(compilation.plan);
    return *compilation.plan;
}

} // namespace

TEST_CASE("fp8_dot and its gradients are JAX's with the same casts, however operands are split") {
    const std::map<std::string, Numbers> want = {
        {"y", {-0.43362874, 0.046867475, -0.55133045, 0.30352268, -0.67734659, 0.1705721}},
        {"dx", {0.48946553, -0.51633036, 0.51975822, 0.41405278, 0.3823252, 0.19578622}},
        {"dw", {0.026462423, -0.4004434, 0.4591071, -0.077075794, -0.23991534, 0.042403642}}};
    for (const char* layout :
         {"mesh: {a: 1}\n", "mesh: {a: 4}\nrules: [{in: a}]\n", "mesh: {a: 2, b: 2}\nrules: [{rows: a}, {out: b}]\n",
          "mesh: {a: 2, b: 2}\nrules: [{rows: a}, {in: b}]\n"}) {
        CAPTURE(layout);
        const Plan plan = planned(model, layout);
        RunOptions options;
        options.inputs = {{"x", numbers({8, 16}, 1)}, {"w", numbers({16, 12}, 2)}, {"c", numbers({8, 12}, 3)}};
        Diagnostics diagnostics;
        const std::optional<RunResult> result = run_plan(plan, options, diagnostics);
        REQUIRE(result);
        CHECK(result->touched_peak_bytes == plan.peak_bytes);
        for (const auto& [name, expected] : want) {
            CAPTURE(name);
            const Numbers got = values(result->outputs.at(name));
            const size_t places[] = {0, 1, 17, 30, 50, 90};
            for (size_t n = 0; n < 6; ++n) CHECK(std::fabs(got[places[n]] - expected[n]) < 1e-6);
        }
        const Numbers y = values(result->outputs.at("y")), z = values(result->outputs.at("z"));
        for (size_t i = 0; i < 8; ++i)
            for (size_t j = 0; j < 12; ++j) CHECK(z[j * 8 + i] == y[i * 12 + j]);
    }
}

TEST_CASE("zeros in 8 bits are zeros, and what is no product of two operands is refused") {
    const Plan plan = planned(model, "mesh: {a: 1}\n");
    RunOptions options;
    for (const auto& [name, shape] : {std::pair<std::string, Shape>("x", {8, 16}), {"w", {16, 12}}, {"c", {8, 12}}})
        options.inputs[name] = make_tensor(DType::f32, shape, [](i64) { return 0.0; });
    Diagnostics diagnostics;
    const std::optional<RunResult> result = run_plan(plan, options, diagnostics);
    REQUIRE(result);
    for (const char* name : {"y", "dx", "dw"})
        for (double value : values(result->outputs.at(name))) CHECK(value == 0);
    CHECK(
        build_text("model: m\ninputs: {x: {shape: [4, 4]}}\ngraph:\n  - y: {fp8_dot: [x, x], equation: \"ii,ij->j\"}\n"
                   "outputs: [y]\n")
            .problems()
            .starts_with("E0229 4: fp8_dot \"ii,ij->j\": it sums or repeats within one operand"));
}

TEST_CASE("narrow operands of two types multiply where their sums are asked for") {
    const std::string inputs =
        "model: m\ninputs: {x: {shape: [4, 8], dtype: f8e5m2}, w: {shape: [8, 4], dtype: f8e4m3fn}}\n";
    const Built wide = build_text(inputs + "graph:\n  - y: {dot: [x, w], result: f32}\noutputs: [y]\n");
    CHECK(wide.problems() == "");
    CHECK(build_text(inputs + "graph:\n  - y: {dot: [x, w]}\noutputs: [y]\n").problems().starts_with("E0224 4: "));
}

TEST_CASE("products of 8 bits take the profile's rate for them") {
    Sources sources;
    Diagnostics diagnostics;
    const std::optional<Hardware> h100 = load_hardware("h100", {}, sources, diagnostics, 8),
                                  a100 = load_hardware("a100", {}, sources, diagnostics, 8);
    REQUIRE(h100);
    REQUIRE(a100);
    const i64 flops = i64{1} << 50;
    const auto seconds = [&](const Hardware& hardware, DType dtype) {
        const TensorType type{dtype, {}, {}};
        return kernel_seconds(hardware, Contract{}, {&type, 1}, type, flops, 1);
    };
    for (DType dtype : {DType::f8e4m3fn, DType::f8e5m2}) {
        CHECK(seconds(*h100, dtype) == doctest::Approx(static_cast<double>(flops) / (1.98e15 * 0.70)));
        CHECK(seconds(*a100, dtype) == seconds(*a100, DType::bf16)); // it has none
    }
}

} // namespace shard
