// Mixed precision: what is computed in bf16, what stays f32, and that training is proved all the same.
#include "planner/pipeline/pipeline.h"
#include "tests/support/prove.h"
#include "tests/support/steps.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace shard {
namespace {

std::string mlp(const std::string& precision) {
    return fmt::format(R"(model: mlp
axes: {{batch: 8, in: 12, hidden: 16, out: 4}}
{}inputs: {{x: {{axes: [batch, in], init: normal}}}}
params:
  w1: {{axes: [in, hidden]}}
  b1: {{axes: [hidden], init: normal}}
  w2: {{axes: [hidden, out]}}
graph:
  - h: {{dot: [x, w1]}}
  - h: {{add: [h, b1]}}
  - a: {{tanh: h}}
  - y: {{dot: [a, w2]}}
outputs: [y]
train:
  targets: {{t: {{axes: [batch, out], init: normal}}}}
  loss: {{mse: [y, t]}}
  optimizer: {{sgd: {{learning_rate: 0.1}}}}
)",
                       precision);
}

const std::string layout = "mesh: {data: 2, model: 2}\nrules: [{batch: data}, {hidden: model}]\n";

DType dtype_of(const Plan& plan, const std::string& name) {
    for (const TensorReport& tensor : plan.report.tensors)
        if (tensor.name == name) return tensor.dtype;
    FAIL("no tensor " << name);
    return DType::boolean;
}

bool has(const Plan& plan, const std::string& name) {
    for (const TensorReport& tensor : plan.report.tensors)
        if (tensor.name == name) return true;
    return false;
}

std::string proved(const std::string& model) {
    ProofOptions options;
    options.mode = "train";
    options.steps = 2;
    options.interpreter = false; // it computes in f64
    return fmt::format("{}", fmt::join(prove(model, layout, options), "\n"));
}

} // namespace

TEST_CASE("compute: bf16 keeps parameters, states, targets and the loss in f32") {
    const Plan plan = train_plan(mlp("precision: {compute: bf16}\n"), layout);
    for (const std::string name : {"x", "w1", "b1", "w2", "t", "loss", "w1.grad", "w2.grad"}) {
        CAPTURE(name);
        CHECK(dtype_of(plan, name) == DType::f32);
    }
    for (const std::string name : {"h", "a", "y"}) {
        CAPTURE(name);
        CHECK(dtype_of(plan, name) == DType::bf16);
    }
    CHECK(proved(mlp("precision: {compute: bf16}\n")) == "");
}

TEST_CASE("a loss of what is wrong is one error, in bf16 too") {
    Sources sources;
    PlanRequest request;
    request.mode = "train";
    std::string model = mlp("precision: {compute: bf16}\n");
    model.replace(model.find("{dot: [a, w2]}"), 14, "{dot: [a]}");
    request.model_file = sources.add("model.yaml", model);
    request.layout_file = sources.add("layout.yaml", layout);
    const Compilation c = compile(sources, request);
    CHECK(c.diagnostics.error_count() == 1);
    CHECK(c.diagnostics.all().back().code == "E0221");
}

TEST_CASE("params: bf16 computes in bf16 and keeps an f32 master copy in the optimizer") {
    const Plan plan = train_plan(mlp("precision: {params: bf16}\n"), layout);
    for (const std::string name : {"w1", "h", "w1.grad"}) CHECK(dtype_of(plan, name) == DType::bf16);
    for (const std::string name : {"w1.master", "b1.master", "w2.master", "loss"})
        CHECK(dtype_of(plan, name) == DType::f32);
    CHECK_FALSE(has(train_plan(mlp(""), layout), "w1.master"));
    CHECK(proved(mlp("precision: {params: bf16}\n")) == "");
}

TEST_CASE("the master copy begins as the parameter, and learns what bf16 cannot hold") {
    const std::vector<std::map<std::string, Numbers>> steps =
        run_steps(train_plan(mlp("precision: {params: bf16}\n"), layout), 3);
    const Numbers &rounded = steps.back().at("w1"), &master = steps.back().at("w1.master");
    REQUIRE(rounded.size() == master.size());
    bool finer = false;
    for (size_t i = 0; i < master.size(); ++i) {
        CHECK(std::fabs(rounded[i] - master[i]) <= std::ldexp(std::fabs(master[i]), -8));
        finer = finer || rounded[i] != master[i];
    }
    CHECK(finer);
}

TEST_CASE("losses in bf16 are near those in f32") {
    const Numbers full = series(run_steps(train_plan(mlp(""), layout), 4), "loss");
    for (const std::string precision : {"precision: {compute: bf16}\n", "precision: {params: bf16}\n"}) {
        const Numbers half = series(run_steps(train_plan(mlp(precision), layout), 4), "loss");
        for (size_t n = 0; n < full.size(); ++n) {
            CHECK(half[n] != full[n]);
            CHECK(half[n] == doctest::Approx(full[n]).epsilon(0.03));
        }
    }
}

TEST_CASE("gradients of microbatches are added up, reduced and given on in the type that is said") {
    const std::string bf16 = "precision: {compute: bf16, params: bf16}\n",
                      wide = "  microbatches: {count: 8, dtype: f32}\n", own = "  microbatches: 8\n";
    for (const std::string& more : {wide, own, wide + "  clip: {global_norm: 0.5}\n", wide + "  reduce: each\n"})
        CHECK(proved(mlp(bf16) + more) == "");
    CHECK(dtype_of(train_plan(mlp(bf16) + wide, layout), "w1.grad") == DType::f32);
    CHECK(dtype_of(train_plan(mlp(bf16) + own, layout), "w1.grad") == DType::bf16);
    // Beside the whole batch at once, whose contraction sums in f32: what a step makes of the f32 copies.
    const auto error = [&](const std::string& more) {
        const Numbers whole = run_steps(train_plan(mlp(bf16), layout), 1).back().at("w1.master"),
                      parts = run_steps(train_plan(mlp(bf16) + more, layout), 1).back().at("w1.master");
        double sum = 0;
        for (size_t n = 0; n < whole.size(); ++n) sum += std::fabs(whole[n] - parts[n]);
        return sum;
    };
    CHECK(error(wide) > 0);
    CHECK(error(wide) < error(own));
}

} // namespace shard
