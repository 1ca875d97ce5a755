// Blocks of experts of the box beside the same in JAX 0.10.2 (float32, highest matmul precision): what they give, their
// losses, and the gradients of their parameters. A step of gradient descent at rate 1 subtracts the gradient.
#include "tests/support/steps.h"
#include "tests/support/tensors.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

namespace shard {
namespace {

// sin(0.7 i^2 + seed) * scale
Tensor numbers(Shape shape, double seed, double scale = 1) {
    return make_tensor(DType::f32, std::move(shape), [seed, scale](i64 i) {
        const double n = static_cast<double>(i);
        return scale * std::sin(n * n * 0.7 + seed);
    });
}

struct Answer {
    const char* parameter; // the end of its name
    Numbers gradient;      // elements 0, n / 3, n / 2 and n - 1, and the sum of magnitudes
};

void check_samples(const std::string& name, const Numbers& got, const Numbers& want) {
    CAPTURE(name);
    const size_t n = got.size();
    const size_t places[] = {0, n / 3, n / 2, n - 1};
    for (size_t i = 0; i < 4; ++i)
        CHECK(std::fabs(got[places[i]] - want[i]) <= 1e-5 * std::max(1.0, std::fabs(want[i])));
    double sum = 0;
    for (double value : got) sum += std::fabs(value);
    CHECK(std::fabs(sum - want[4]) <= 1e-5 * want[4]);
}

// Parameters in the order of `answers` are numbers with the seeds from `seed` on.
void check(const std::string& model, std::map<std::string, Tensor> inputs, double loss, const Numbers& y, double seed,
           const std::vector<Answer>& answers) {
    for (const char* layout :
         {"mesh: {data: 1}\n",
          "mesh: {data: 2, expert: 2}\nrules: [{batch: data}, {experts: expert}, {heads: expert}]\n",
          "mesh: {data: 2}\nrules: [{batch: data}]\nfsdp: {axis: data, min_size: 16}\n"}) {
        CAPTURE(layout);
        const Plan plan = train_plan(model, layout);
        RunOptions options;
        options.inputs = inputs;
        std::map<std::string, std::string> names;
        for (size_t n = 0; n < answers.size(); ++n)
            for (const PlanInput& input : plan.inputs) {
                const Buffer& buffer = plan.buffers[input.buffer];
                if (!buffer.name.ends_with(std::string(".") + answers[n].parameter)) continue;
                names[answers[n].parameter] = buffer.name;
                options.inputs[buffer.name] = numbers(buffer.real_shape(), seed + static_cast<double>(n));
            }
        REQUIRE(names.size() == answers.size());
        Diagnostics diagnostics;
        const std::optional<RunResult> result = run_plan(plan, options, diagnostics);
        REQUIRE(result);
        CHECK(std::fabs(result->scalars.at("loss")[0] - loss) <= 1e-5 * loss);
        Sources sources;
        PlanRequest request;
        request.model_file = sources.add("model.yaml", model);
        request.layout_file = sources.add("layout.yaml", layout);
        const Compilation forward = compile(sources, request);
        REQUIRE(forward.plan);
        if (model.find("targets") != std::string::npos) options.inputs.erase("t"); // it is none
        const std::optional<RunResult> given = run_plan(*forward.plan, options, diagnostics);
        REQUIRE(given);
        check_samples("y", values(given->outputs.at("y")), y);
        for (const Answer& answer : answers) {
            const std::string& name = names.at(answer.parameter);
            const Numbers before = values(options.inputs.at(name)), after = values(result->outputs.at(name));
            Numbers gradient;
            for (size_t i = 0; i < before.size(); ++i) gradient.push_back(before[i] - after[i]);
            check_samples(name, gradient, answer.gradient);
        }
    }
}

} // namespace

TEST_CASE("a block of Mixtral gives what JAX gives, and its gradients") {
    const std::string model = R"(model: block
include: moe
axes: {batch: 2, length: 6, embed: 8, heads: 2, kv_heads: 1, kv: 4, experts: 4, expert_mlp: 12}
inputs: {x: {axes: [batch, length, embed]}}
graph: [{y: {moe_block: x, by: dropless, name: b}}]
outputs: [y]
train:
  targets: {t: {axes: [batch, length, embed]}}
  loss: {mse: [y, t]}
  optimizer: {sgd: {learning_rate: 1.0}}
)";
    check(model, {{"x", numbers({2, 6, 8}, 1)}, {"t", numbers({2, 6, 8}, 2)}}, 15.472064,
          {1.9787062, -8.0714703, -0.049696207, 7.4347172, 284.52142}, 3,
          {{"attention_norm", {-8.1055746, 2.243582, 2.677969, 5.4714756, 38.153309}},
           {"wq", {0.13487893, -0.43222997, -0.078615874, 0.32766858, 22.776194}},
           {"wk", {-0.035483807, 0.56798315, -1.2012315, 0.74137682, 15.994716}},
           {"wv", {0.57872897, 1.1914718, -2.4936073, -1.1900369, 29.672218}},
           {"wo", {0.062004145, -0.53272629, 0.21783045, 0.93084013, 50.403657}},
           {"mlp_norm", {1.658615, -6.3491626, 3.4160402, -15.172853, 61.769999}},
           {"router", {0.99258387, 3.7212019, 0.52171403, -0.1265073, 48.342614}},
           {"w_gate", {1.193249, 0.0094646476, -0.013856078, -0.017208058, 73.127293}},
           {"w_up", {1.2332377, -0.0057769874, 0.021701198, -0.002299258, 70.036264}},
           {"w_down", {1.7344649, -0.12474279, -0.0044302815, -0.013992489, 68.725702}}});
}

TEST_CASE("DeepSeek's experts give what JAX gives, with the balance of each sequence as a loss, and its gradients") {
    const std::string model = R"(model: experts
include: deepseek
axes: {batch: 2, length: 6, embed: 8, experts: 8, expert_mlp: 12}
inputs: {x: {axes: [batch, length, embed]}, t: {axes: [batch, length, embed]}}
graph:
  - y, balance_loss: {deepseek_moe: x, chosen: 2, groups: 2, chosen_groups: 1, by: dropless, losses: true,
                      gives: [y, balance_loss], name: b}
  - total: {add: [{mse: [y, t]}, {mul: [balance_loss, 0.1]}]}
outputs: [y]
train:
  loss: total
  optimizer: {sgd: {learning_rate: 1.0}}
)";
    check(model, {{"x", numbers({2, 6, 8}, 1)}, {"t", numbers({2, 6, 8}, 2)}, {"b.balance", numbers({8}, 30, 0.2)}},
          39.914616, {11.229571, -1.2993478, 1.7147957, 1.5574901, 450.94238}, 20,
          {{"router", {0.016254663, -0.037596762, 0.21235378, -5.769424, 35.358424}},
           {"w_gate", {0.0029078175, -0.002327729, 0.51668638, -2.2029982, 289.364}},
           {"w_up", {0.0065041063, 0.015036276, 0.73038065, -2.3799827, 256.26056}},
           {"w_down", {-0.018096069, -0.011273536, 0.27332678, 0.62937206, 161.88257}}});
}

} // namespace shard
