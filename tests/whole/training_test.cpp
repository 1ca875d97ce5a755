// Whole training plans, several steps, against one device and the scalar interpreter; and plans that train wrongly.
#include "executor/verify/compare.h"
#include "planner/graph/optimizer.h"
#include "tests/support/prove.h"
#include "tests/support/steps.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {
namespace {

// An MLP with biases on 8 samples; `dtype` of everything.
std::string mlp(const std::string& dtype, const std::string& optimizer, const std::string& more = {}) {
    return fmt::format(R"(model: mlp
axes: {{batch: 8, in: 12, hidden: 16, out: 4}}
inputs: {{x: {{axes: [batch, in], dtype: {0}, init: normal}}}}
params:
  w1: {{axes: [in, hidden], dtype: {0}, init: lecun_normal}}
  b1: {{axes: [hidden], dtype: {0}, init: zeros}}
  w2: {{axes: [hidden, out], dtype: {0}, init: lecun_normal}}
graph:
  - h: {{dot: [x, w1]}}
  - h: {{add: [h, b1]}}
  - a: {{tanh: h}}
  - y: {{dot: [a, w2]}}
outputs: [y]
train:
  targets: {{t: {{axes: [batch, out], dtype: {0}, init: normal}}}}
  loss: {{mse: [y, t]}}
  optimizer: {1}
{2})",
                       dtype, optimizer, more);
}

// Keys have a bias, whose gradient is zero but for rounding: a softmax does not see what is added to all its scores.
std::string attention(std::string_view optimizer) {
    return fmt::format(R"(model: attention
axes: {{batch: 4, seq: 6, embed: 8, heads: 8}}
inputs: {{x: {{axes: [batch, seq, embed], init: normal}}}}
params:
  wq: {{axes: [embed, heads], init: lecun_normal}}
  wk: {{axes: [embed, heads], init: lecun_normal}}
  wv: {{axes: [embed, heads], init: lecun_normal}}
  bk: {{axes: [heads], init: zeros}}
graph:
  - q: {{einsum: "bse,eh->bsh", in: [x, wq]}}
  - k: {{einsum: "bse,eh->bsh", in: [x, wk]}}
  - k: {{add: [k, bk]}}
  - v: {{einsum: "bse,eh->bsh", in: [x, wv]}}
  - s: {{einsum: "bqh,bkh->bqk", in: [q, k]}}
  - p: {{softmax: s}}
  - y: {{einsum: "bqk,bkh->bqh", in: [p, v]}}
outputs: [y]
train:
  targets: {{t: {{axes: [batch, seq, heads], init: normal}}}}
  loss: {{mse: [y, t]}}
  optimizer: {{{}: {{learning_rate: 1.0e-2}}}}
)",
                       optimizer);
}

const std::string layout = "mesh: {data: 2, model: 2}\nrules: [{batch: data}, {hidden: model}, {heads: model}]\n";

// What is wrong, or nothing.
std::string trained(const std::string& model, int steps) {
    ProofOptions options;
    options.mode = "train";
    options.steps = steps;
    return fmt::format("{}", fmt::join(prove(model, layout, options), "\n"));
}

RunResult run_for(const Plan& plan, int steps) {
    RunOptions options;
    options.steps = steps;
    options.return_initial = true;
    Diagnostics diagnostics;
    std::optional<RunResult> result = run_plan(plan, options, diagnostics);
    REQUIRE(result);
    return *result;
}

} // namespace

TEST_CASE("training is proved: one and several steps, every optimizer, f32 and f64") {
    // Learning rates are f32 constants in the graph: the interpreter, which does not round, agrees on those that f32
    // has.
    std::vector<std::string> optimizers = {"{adamw: {learning_rate: 0.0078125, weight_decay: 0.1}}",
                                           "{sgd: {learning_rate: 0.125, momentum: 0.9}}"};
    for (const OptimizerDef* def : all_optimizers())
        optimizers.push_back(fmt::format("{{{}: {{learning_rate: 0.0078125}}}}", def->composite.name));
    for (const std::string& optimizer : optimizers) {
        CAPTURE(optimizer);
        for (const char* dtype : {"f32", "f64"}) {
            CAPTURE(dtype);
            for (const int steps : {1, 4}) CHECK(trained(mlp(dtype, optimizer), steps) == "");
        }
    }
    CHECK(trained(mlp("f64", "{adam: {learning_rate: 0.0078125}}", "  clip: {global_norm: 0.125}\n"), 3) == "");
}

TEST_CASE("training is proved where a gradient is nothing but rounding, whatever steps an optimizer makes of it") {
    for (const OptimizerDef* def : all_optimizers()) {
        CAPTURE(def->composite.name);
        for (const int steps : {1, 2, 5}) CHECK(trained(attention(def->composite.name), steps) == "");
    }
}

TEST_CASE("a sum that is reduced twice is found, be it a gradient of which Adam and Lion see only the sign") {
    for (const OptimizerDef* def : all_optimizers()) {
        CAPTURE(def->composite.name);
        const std::string model = mlp("f32", fmt::format("{{{}: {{learning_rate: 1.0e-2}}}}", def->composite.name));
        const Plan one = train_plan(model, "mesh: {data: 1}\n");
        const RunResult reference = run_for(one, 3);
        Plan plan = train_plan(model, layout);
        Diagnostics diagnostics;
        CHECK(compare_results({plan, run_for(plan, 3)}, {one, reference}, diagnostics)->equal);
        int found = 0;
        for (size_t i = 0; i < plan.steps.size(); ++i) {
            const Wait* wait = std::get_if<Wait>(&plan.steps[i].variant_ref());
            if (wait == nullptr) continue;
            for (size_t j = 0; j < i; ++j) {
                const Start* start = std::get_if<Start>(&plan.steps[j].variant_ref());
                if (start == nullptr || start->token != wait->token || !start->collective.def->uses.reduce ||
                    element_count(plan.buffers[start->output].shape) != element_count(plan.buffers[start->input].shape))
                    continue;
                // A norm may be doubled where nothing is so large that the norm counts.
                if (element_count(plan.buffers[start->input].shape) == 1 &&
                    plan.buffers[start->output].name.find(std::string(".") + std::string(def->composite.name)) !=
                        std::string::npos)
                    continue;
                Plan wrong = plan;
                Start again = *start;
                again.input = again.output;
                again.token = 1000;
                const auto behind = wrong.steps.begin() + static_cast<std::ptrdiff_t>(i) + 1;
                wrong.steps.insert(wrong.steps.insert(behind, Wait{again.token}), again);
                for (const int steps : {1, 3}) {
                    const RunResult expected = steps == 3 ? reference : run_for(one, 1);
                    Diagnostics findings;
                    CHECK_FALSE(compare_results({plan, run_for(wrong, steps)}, {one, expected}, findings)->equal);
                }
                ++found;
            }
        }
        CHECK(found >= 5); // y over model, the loss, and the gradients of w1, b1 and w2 over data
    }
}

TEST_CASE("training holds parameters and states once, and not all gradients at a time") {
    std::string model =
        "model: deep\naxes: {batch: 4, width: 64, to: 64}\ninputs: {x: {axes: [batch, width]}}\nparams:\n";
    std::string graph = "graph:\n";
    for (int layer = 0; layer < 8; ++layer) {
        model += fmt::format("  w{}: {{axes: [width, to], init: lecun_normal}}\n", layer);
        graph += fmt::format("  - h{}: {{dot: [{}, w{}]}}\n  - h{}: {{tanh: h{}}}\n", layer,
                             layer == 0 ? "x" : fmt::format("h{}", layer - 1), layer, layer, layer);
    }
    model += graph + "outputs: [h7]\ntrain:\n  targets: {t: {axes: [batch, width]}}\n  loss: {mse: [h7, t]}\n"
                     "  optimizer: {adam: {learning_rate: 1.0e-3}}\n";
    const i64 weight = 64 * 64 * 4;
    const Plan one = train_plan(model, "mesh: {data: 1}\n");
    CHECK(one.report.memory.params == 8 * weight);
    CHECK(one.report.memory.optimizer_state == 2 * 8 * weight + 4);
    CHECK(one.report.memory.gradients == weight);
    CHECK(one.peak_bytes < (8 + 16 + 2) * weight);
    // A gradient is reduced while the one before it is put to use.
    const Plan four = train_plan(model, "mesh: {data: 4}\nrules: [{batch: data}]\n");
    CHECK(four.report.memory.optimizer_state == 2 * 8 * weight + 4);
    CHECK(four.report.memory.gradients <= 2 * weight);
    CHECK(four.peak_bytes < (8 + 16 + 3) * weight);
}

} // namespace shard
