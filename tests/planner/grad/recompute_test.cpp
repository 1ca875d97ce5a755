// What a module's `remat` costs and saves; values are the same.
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

TEST_CASE("remat: full computes each contraction of the forward pass a second time, but for the last of a block") {
    // h is needed for the softmax's gradient; y only by the next block, which begins with it.
    const auto contractions = [](const Plan& plan) {
        i64 count = 0;
        for (const Step& step : plan.steps)
            if (const Compute* compute = std::get_if<Compute>(&step.variant_ref()))
                count += std::holds_alternative<Contract>(compute->kernel) ? 1 : 0;
        return count;
    };
    CHECK(contractions(train_plan(blocks(full, ""), layout)) == contractions(train_plan(blocks(none, ""), layout)) + 6);
    CHECK(contractions(train_plan(blocks(dots, ""), layout)) == contractions(train_plan(blocks(none, ""), layout)));
}

} // namespace shard
