// What a module's `remat` costs and saves; values are the same.
#include "executor/run/run.h"
#include "tests/support/plan_builder.h"
#include "tests/support/prove.h"
#include "tests/support/steps.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {
namespace {

std::string blocks(const std::string& remat, const std::string& scan) {
    return fmt::format(R"(model: blocks
axes: {{batch: 64, embed: 8, hidden: 32, layers: 6}}
inputs: {{x: {{axes: [batch, embed], init: normal}}}}
modules:
  block:
    inputs: [x]
    {}params:
      w1: {{axes: [embed, hidden]}}
      w2: {{axes: [hidden, embed]}}
    graph:
      - h: {{dot: [x, w1]}}
      - p: {{softmax: h}}
      - y: {{dot: [p, w2]}}
      - y: {{add: [x, y]}}
    outputs: [y]
graph:
  - y: {{repeat: block, times: 6, in: x, axis: layers{}}}
outputs: [y]
train:
  targets: {{t: {{axes: [batch, embed], init: normal}}}}
  loss: {{mse: [y, t]}}
  optimizer: {{sgd: {{learning_rate: 0.1}}}}
)",
                       remat, scan);
}

const std::string none, full = "remat: full\n    ", dots = "remat: dots\n    ";
const std::string scan = ", scan: true";
const std::string layout = "mesh: {data: 2, model: 2}\nrules: [{batch: data}, {hidden: model}]\n";

std::string proved(const std::string& model) {
    ProofOptions options;
    options.mode = "train";
    options.steps = 2;
    return fmt::format("{}", fmt::join(prove(model, layout, options), "\n"));
}

} // namespace

TEST_CASE("remat: full and dots compute the same, on one device and on four") {
    for (const std::string& loop : {std::string(), scan})
        for (const std::string& remat : {full, dots}) {
            CAPTURE(loop);
            CAPTURE(remat);
            CHECK(proved(blocks(remat, loop)) == "");
            const Numbers plain = series(run_steps(train_plan(blocks(none, loop), layout), 3), "loss");
            const Numbers again = series(run_steps(train_plan(blocks(remat, loop), layout), 3), "loss");
            for (size_t n = 0; n < plain.size(); ++n) CHECK(again[n] == doctest::Approx(plain[n]).epsilon(1e-6));
        }
}

TEST_CASE("remat: full needs the least memory and the most FLOPs, dots lies between") {
    for (const std::string& loop : {std::string(), scan}) {
        CAPTURE(loop);
        const Plan plain = train_plan(blocks(none, loop), layout), some = train_plan(blocks(dots, loop), layout),
                   all = train_plan(blocks(full, loop), layout);
        CHECK(all.peak_bytes < some.peak_bytes);
        CHECK(some.peak_bytes <= plain.peak_bytes);
        CHECK(all.report.flops_per_device > some.report.flops_per_device);
        CHECK(some.report.flops_per_device >= plain.report.flops_per_device);
    }
}

// h waits, by name, for the softmax's gradient; with the input nothing else of a block is kept.
const std::string save = "remat: {save: h}\n    ", offload = "remat: {offload: [h]}\n    ",
                  offload_more = "remat: {offload: [x, h]}\n    ", everything = "remat: {save: \"**\"}\n    ";

TEST_CASE("remat by name computes the same: saved, offloaded, in loops and written out, with microbatches") {
    for (const std::string& micro : {std::string(), std::string("  microbatches: 2\n")})
        for (const std::string& loop : {std::string(), scan}) {
            const Numbers plain = series(run_steps(train_plan(blocks(none, loop) + micro, layout), 3), "loss");
            for (const std::string& remat : {save, offload, offload_more, everything}) {
                CAPTURE(micro);
                CAPTURE(loop);
                CAPTURE(remat);
                CHECK(proved(blocks(remat, loop) + micro) == "");
                const Numbers again = series(run_steps(train_plan(blocks(remat, loop) + micro, layout), 3), "loss");
                for (size_t n = 0; n < plain.size(); ++n) CHECK(again[n] == doctest::Approx(plain[n]).epsilon(1e-6));
            }
        }
}

TEST_CASE("remat by name: what is saved is not computed again, and what is offloaded is not on the device either") {
    for (const std::string& loop : {std::string(), scan}) {
        CAPTURE(loop);
        const Plan all = train_plan(blocks(full, loop), layout), saved = train_plan(blocks(save, loop), layout),
                   away = train_plan(blocks(offload, loop), layout),
                   more = train_plan(blocks(offload_more, loop), layout);
        CHECK(all.peak_bytes < saved.peak_bytes);
        CHECK(all.report.flops_per_device > saved.report.flops_per_device);
        CHECK(away.report.flops_per_device == saved.report.flops_per_device);
        CHECK(away.peak_bytes < saved.peak_bytes);
        CHECK(more.peak_bytes < away.peak_bytes);
        CHECK(saved.host_peak_bytes == 0);
        CHECK(away.host_peak_bytes == 6 * 32 * 16 * 4); // six blocks of a device's part of h: 32 x 16 numbers
        CHECK(more.host_peak_bytes > away.host_peak_bytes);
        // There and back at 1e9 bytes/s, which the step waits for.
        CHECK(away.report.time.host_seconds == doctest::Approx(2 * 6 * 32 * 16 * 4 / 1e9));
        const TimeReport& time = away.report.time;
        CHECK(time.step_seconds ==
              doctest::Approx(time.compute_seconds + time.exposed_communication_seconds + time.host_seconds));
        // The same bits as where it is saved, and the bytes that the plan says.
        RunOptions options;
        options.steps = 2;
        const RunResult a = run_clean(saved, options), b = run_clean(away, options);
        CHECK(a.scalars == b.scalars);
        for (const auto& [name, tensor] : a.outputs) CHECK(tensor.bytes == b.outputs.at(name).bytes);
        CHECK(b.touched_peak_bytes == away.peak_bytes);
        CHECK(b.touched_host_peak_bytes == away.host_peak_bytes);
    }
}

TEST_CASE("remat by name in a scan of scans: the outer stack is on the host") {
    const std::string model = R"(model: nested
axes: {batch: 64, embed: 8, wide: 16, inner: 3, outer: 2}
inputs: {x: {axes: [batch, embed], init: normal}}
modules:
  block:
    inputs: [x]
    remat: {offload: h}
    params: {w: {axes: [embed, wide]}, v: {axes: [wide, embed]}}
    graph:
      - h: {dot: [x, w]}
      - y: {dot: [{softmax: h}, v]}
    outputs: [y]
  blocks:
    inputs: [x]
    graph: [{y: {repeat: block, times: 3, in: x, axis: inner, scan: true}}]
    outputs: [y]
graph:
  - y: {repeat: blocks, times: 2, in: x, axis: outer, scan: true}
outputs: [y]
train:
  targets: {t: {axes: [batch, embed], init: normal}}
  loss: {mse: [y, t]}
  optimizer: {adam: {learning_rate: 0.1, offload: true}}
)";
    CHECK(proved(model) == "");
    const Plan plan = train_plan(model, "mesh: {data: 2}\nrules: [{batch: data}]\n");
    const i64 h = 2 * 3 * 32 * 16 * 4,
              states = 2 * 2 * 2 * 3 * 8 * 16 * 4; // of six blocks: h, and Adam's two means of two
    CHECK(plan.host_peak_bytes == h + states);
}

TEST_CASE("remat: full computes each contraction of the forward pass a second time, but for the last of a block") {
    // h is needed for the softmax's gradient; y only by the next block, which begins with it.
    const auto contractions = [](const Plan& plan) {
        i64 count = 0;
        for (const Step& step : plan.steps)
            if (const Compute* compute = std::get_if<Compute>(&step.variant_ref()))
                count += std::holds_alternative<Contract>(*compute->kernel) ? 1 : 0;
        return count;
    };
    CHECK(contractions(train_plan(blocks(full, ""), layout)) == contractions(train_plan(blocks(none, ""), layout)) + 6);
    CHECK(contractions(train_plan(blocks(dots, ""), layout)) == contractions(train_plan(blocks(none, ""), layout)));
}

TEST_CASE("a chain of any length has a gradient, computed again or kept") {
    std::string chain = "graph:\n  - y: {mul: [x, w]}\n", module = "[{y: {mul: [x, w]}}";
    for (int i = 0; i < 12000; ++i) {
        chain += "  - y: {mul: [y, w]}\n";
        if (i < 6000) module += ", {y: {tanh: y}}";
    }
    const std::string head = "model: deep\ninputs: {x: {shape: [2]}}\n",
                      tail = "outputs: [y]\ntrain: {loss: {mean: y}, optimizer: {sgd: {learning_rate: 0.1}}}\n";
    CHECK(train_plan(head + "params: {w: {shape: []}}\n" + chain + tail, "mesh: {}\n").outputs.size() == 2);
    const std::string block = "inputs: [x], params: {w: {shape: []}}, graph: " + module + "], outputs: [y]}\n";
    CHECK(train_plan(head + "modules:\n  block: {remat: full, " + block + "graph: [{y: {block: x}}]\n" + tail,
                     "mesh: {}\n")
              .outputs.size() == 2);
    CHECK(train_plan(head + "modules:\n  block: {" + block +
                         "graph: [{y: {repeat: block, times: 3, in: x, scan: true}}]\n" + tail,
                     "mesh: {}\n")
              .outputs.size() == 2);
}

} // namespace shard
