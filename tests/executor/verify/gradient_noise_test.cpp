// A gradient that is nothing but rounding is told from one that is small, and from one that jumps.
#include "executor/verify/gradient_noise.h"
#include "tests/support/memory_files.h"
#include "tests/support/plan_builder.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

namespace shard {
namespace {

// A parameter and its mean square after a step with this gradient.
RunResult after(double gradient) {
    RunResult result;
    result.steps = 1;
    for (const auto& [name, value] :
         {std::pair("w", -1e-3 * gradient), std::pair("w.nu", 1e-3 * gradient * gradient)}) {
        result.outputs[name] = make_tensor(DType::f64, {1}, [&](i64) { return value; });
        result.initial[name] = make_tensor(DType::f64, {1}, [](i64) { return 0.0; });
    }
    return result;
}

Plan plan_of_w() {
    PlanBuilder b(make_mesh({}));
    for (const std::string name : {"w", "w.nu"}) {
        const int input = b.input(name, DType::f64, {1});
        b.plan().buffers.back().role = name == "w" ? Role::param : Role::state;
        b.plan().outputs.push_back({name, input, input});
    }
    return b.plan();
}

// How large the terms are taken to be, of which the gradient is what rounding leaves, in units of the gradient's size.
double terms(double gradient, const std::function<double(double share)>& moved_by) {
    const Plan plan = plan_of_w();
    const RunResult reference = after(gradient);
    GradientNoise noise;
    for (const double share : {0x1p-38, 0x1p-28})
        noise.learn(plan, reference, {share, 1}, after(gradient + moved_by(share)));
    CHECK(noise.of_output("w") == doctest::Approx(1e-3 / std::sqrt(1e-3) * noise.of_sizes("w")));
    return noise.of_sizes("w") / largest(gradient_sizes(reference, "w"));
}

} // namespace

TEST_CASE("the terms of a gradient are seen by how far it moves when all is a little off") {
    CHECK(terms(1e-17, [](double share) { return share; }) ==
          doctest::Approx(1e17).epsilon(0.01));                                                   // cancels to nothing
    CHECK(terms(1e-9, [](double share) { return share; }) == doctest::Approx(1e9).epsilon(0.01)); // is small
    CHECK(terms(1.0, [](double share) { return share; }) == doctest::Approx(1).epsilon(0.01));
    CHECK(terms(1.0, [](double) { return 1.0; }) == doctest::Approx(0x1p28).epsilon(0.01)); // jumps: no noise is so far
    CHECK(terms(1.0, [](double) { return 0.0; }) == 0);
}

TEST_CASE(
    "steps that an optimizer makes of a gradient that is 0 by mathematics are verified, in one type and another") {
    for (const std::string optimizer : {"adam: {learning_rate: 0.001}", "adamw: {learning_rate: 0.001}",
                                        "lion: {learning_rate: 0.001}", "sgd: {learning_rate: 0.001, momentum: 0.9}",
                                        "muon: {learning_rate: 0.001}", "adam: {learning_rate: 0.001, eps: 0.0}"})
        for (const std::string dtype : {"f32", "f64"})
            for (const int steps : {1, 3}) {
                CAPTURE(optimizer);
                CAPTURE(dtype);
                CAPTURE(steps);
                MemoryFiles files;
                files.files["model.yaml"] = fmt::format(
                    "model: zero\naxes: {{batch: 8, embed: 256}}\ninputs: {{x: {{axes: [batch, embed], dtype: {0}}}}}\n"
                    "params: {{w: {{axes: [batch, embed], dtype: {0}}}}}\n"
                    "graph: [{{h: {{add: [x, w]}}}}, {{y: {{layer_norm: h, dim: embed}}}}]\noutputs: [h]\n"
                    "train: {{loss: {{mean: y}}, optimizer: {{{1}}}}}\n",
                    dtype, optimizer);
                files.files["layout.yaml"] = "mesh: {data: 4, model: 2}\nrules: [{batch: data}, {embed: model}]\n";
                const CommandResult result = run_command(
                    files, fmt::format("run model.yaml layout.yaml --mode train --steps {} --verify --quiet", steps));
                CHECK(result.code == 0);
                CHECK(result.err == "");
            }
}

TEST_CASE("a gradient that is returned and is 0 by mathematics is verified") {
    MemoryFiles files;
    files.files["model.yaml"] = R"(model: m
axes: {batch: 4, length: 8, heads: 2, kv: 16}
inputs:
  q: {axes: [batch, length, heads, kv]}
  k: {axes: [batch, length, heads, kv]}
  v: {axes: [batch, length, heads, kv]}
  bias: {axes: [heads, kv]}
modules:
  loss:
    inputs: [q, k, v, bias]
    graph:
      - o: {attention: [q, {add: [k, bias]}, v], causal: true}
      - l: {reduce_sum: {mul: [o, o]}}
    outputs: [l]
graph:
  - l, of_bias: {value_and_grad: loss, in: [q, k, v, bias], wrt: [bias]}
outputs: [l, of_bias]
)";
    files.files["layout.yaml"] = "mesh: {data: 2, model: 2}\nrules: [{batch: data}, {heads: model}, {kv: ~}]\n";
    const CommandResult result = run_command(files, "shardc run model.yaml layout.yaml --verify");
    INFO(result.out, result.err);
    CHECK(result.code == 0);
}

} // namespace shard
