// What a train step consists of, and what it sends.
#include "tests/support/steps.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {

namespace {

std::string tensors_text(const Plan& plan, Role role) {
    std::string text;
    for (const TensorReport& tensor : plan.report.tensors)
        if (tensor.role == role)
            text +=
                fmt::format("{}{} {}", text.empty() ? "" : ", ", tensor.name, shard::text(plan.mesh, tensor.sharding));
    return text;
}

} // namespace

// z is a partial sum over model, as in the forward pass; the weights' gradients contract over the batch, which is split
// over data; the loss is a mean over the batch. An all_reduce of n bytes over k devices makes each send 2 (k-1)/k n.
TEST_CASE("a train step of DotReluDot on 2 x 4 devices sums z, both gradients and the loss, and sends nothing else") {
    const Plan plan = train_plan(example("nnx_guide/model.yaml"), example("nnx_guide/layout.yaml"));
    const std::string expected = "all_reduce loss over data 4\n"
                                 "all_reduce w1.grad over data 1048576\n"
                                 "all_reduce w2.grad over data 1048576\n"
                                 "all_reduce z over model 24576\n";
    CHECK(collectives_text(plan) == expected);
}

TEST_CASE("gradients and states are sharded like their parameters, and new values are not listed again") {
    const Plan plan = train_plan(example("nnx_guide/model.yaml"), example("nnx_guide/layout.yaml"));
    CHECK(tensors_text(plan, Role::param) == "w1 [- | model], w2 [model | -]");
    CHECK(tensors_text(plan, Role::gradient) == "w2.grad [model | -], w1.grad [- | model]");
    CHECK(tensors_text(plan, Role::state) ==
          "count [], w1.mu [- | model], w1.nu [- | model], w2.mu [model | -], w2.nu [model | -]");
    CHECK(tensors_text(plan, Role::output) == "loss []");
    std::string outputs;
    for (const PlanOutput& output : plan.outputs) outputs += output.name + " ";
    CHECK(outputs == "loss w1 w1.mu w1.nu w2 w2.mu w2.nu count ");
    const i64 mib = 1024 * 1024; // a quarter of 1024 x 1024 f32
    CHECK(plan.report.memory.params == 2 * mib);
    CHECK(plan.report.memory.optimizer_state == 4 * mib + 4);
    CHECK(plan.report.memory.gradients == 2 * mib); // both, when the update begins
}

TEST_CASE("data parallelism keeps everything whole and sums gradients over all devices") {
    const Plan plan = train_plan(example("nnx_guide/model.yaml"), example("nnx_guide/data_only.yaml"));
    const i64 mib = 1024 * 1024;
    CHECK(collectives_text(plan) == fmt::format("all_reduce loss over data 7\nall_reduce w1.grad over data {0}\n"
                                                "all_reduce w2.grad over data {0}\n",
                                                7 * mib));
    CHECK(plan.report.memory.optimizer_state == 16 * mib + 4);
}

TEST_CASE("the linen guide's train step: every state is sharded like its kernel") {
    const Plan plan = train_plan(example("linen_guide/model.yaml"), example("linen_guide/layout.yaml"));
    int kernels = 0;
    for (const TensorReport& tensor : plan.report.tensors) {
        if (tensor.role != Role::param && tensor.role != Role::state) continue;
        const std::string sharding = text(plan.mesh, tensor.sharding);
        CAPTURE(tensor.name);
        if (tensor.name == "count")
            CHECK(sharding == "[]");
        else if (tensor.name.find("kernel") != std::string::npos)
            CHECK(sharding == "[- | model]");
        else
            CHECK(sharding == "[model | -]");
        ++kernels;
    }
    CHECK(kernels == 8 * 3 + 1);
}

TEST_CASE("a metric of a sum and a count is their quotient") {
    const std::string model = R"(model: classifier
axes: {batch: 8, classes: 4}
inputs:
  x: {axes: [batch, classes], init: ones}
params:
  w: {axes: [classes], init: {constant: {value: 0.0}}}
graph:
  - logits: {add: [x, w]}
outputs: [logits]
train:
  targets:
    label: {axes: [batch], dtype: i32, init: zeros}
  loss: {softmax_cross_entropy: [logits, label]}
  metrics:
    accuracy: {accuracy: [logits, label]}
    entropy: {softmax_cross_entropy: [logits, label]}
  optimizer: {sgd: {learning_rate: 1.0}}
)";
    const Plan plan = train_plan(model, "mesh: {data: 4}\nrules: [{batch: data}]\n");
    const auto steps = run_steps(plan, 2);
    // All logits are equal: the loss is log 4, the first class is taken for the largest, and the gradient of w is
    // softmax - one-hot = (-3/4, 1/4, 1/4, 1/4).
    CHECK(steps[0].at("loss")[0] == doctest::Approx(std::log(4.0)));
    CHECK(steps[0].at("entropy")[0] == steps[0].at("loss")[0]);
    CHECK(steps[0].at("accuracy")[0] == 1);
    CHECK(steps[0].at("w")[0] == doctest::Approx(0.75));
    CHECK(steps[0].at("w")[3] == doctest::Approx(-0.25));
    CHECK(steps[1].at("loss")[0] == doctest::Approx(std::log(1 + 3 * std::exp(-1.0))));
    CHECK(steps[0].count("count") == 0); // sgd at a fixed rate counts nothing
}

TEST_CASE("arguments that the loss, a metric or the optimizer lacks are errors without training too") {
    const auto problems = [](const std::string& loss, const std::string& metric, const std::string& optimizer) {
        Sources sources;
        PlanRequest request;
        request.model_file = sources.add(
            "model.yaml", "model: m\naxes: {batch: 8, out: 4}\ninputs: {x: {axes: [batch, out]}}\n"
                          "params: {w: {shape: [4, 4]}}\ngraph: [{z: {dot: [x, w]}}]\noutputs: [z]\ntrain:\n"
                          "  targets: {t: {axes: [batch, out]}}\n  loss: {mse: [z, t]" +
                              loss + "}\n  metrics: {m: {mse: [z, t]" + metric +
                              "}}\n  optimizer: {adamw: {learning_rate: 0.1" + optimizer + "}}\n");
        request.layout_file = sources.add("layout.yaml", "mesh: {d: 2}\n");
        std::string text;
        const Compilation compilation = compile(sources, request);
        for (const Diagnostic& d : compilation.diagnostics.all()) text += d.code + " " + d.message + "\n";
        return text;
    };
    CHECK(problems("", "", "") == "");
    CHECK(problems("", "", ", weight_decay: 0.1") == "");
    CHECK(problems(", zzz: 1", "", "") == "E0225 'mse' has no argument 'zzz'\n");
    CHECK(problems("", ", zzz: 1", "") == "E0225 'mse' has no argument 'zzz'\n");
    CHECK(problems("", "", ", lr: 1") == "E0225 'adamw' has no argument 'lr'\n");
}

} // namespace shard
