// Published figures of memory per device (reference/cost.md), by planning such models.
//
// Mixed precision as these papers count it keeps parameters and gradients in bf16, and in the optimizer a copy of the
// parameters and both Adam moments in f32. That is what two plans of one model hold: its parameters and gradients in
// bf16, and its parameters and states in f32. Gradients are clipped by their global norm, so all are there at once.
#include "tests/training/steps.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {
namespace {

constexpr double gigabyte = 1e9, gibibyte = 1024.0 * 1024 * 1024;

struct Held {
    double params, gradients, states; // bytes on a device
};
Held held(const std::string& model, const std::string& layout) {
    const Plan plan = train_plan(model, layout);
    // What there is of each role; all of it is alive at one time.
    std::map<Role, i64> bytes;
    for (const TensorReport& tensor : plan.report.tensors)
        if (tensor.name.find("unclipped") == std::string::npos) bytes[tensor.role] += tensor.bytes_per_device;
    CHECK(plan.report.memory.params == bytes[Role::param]);
    CHECK(plan.report.memory.optimizer_state == bytes[Role::state]);
    CHECK(plan.peak_bytes >= bytes[Role::param] + bytes[Role::state] + bytes[Role::gradient]);
    return {static_cast<double>(bytes[Role::param]), static_cast<double>(bytes[Role::gradient]),
            static_cast<double>(bytes[Role::state])};
}

const std::string train = "  optimizer: {adam: {learning_rate: 1.0e-3}}\n  clip: {global_norm: 1.0}\n";

// 12 matrices of 3125 x 200000 are 7.5e9 parameters.
std::string zero_model(const std::string& dtype) {
    std::string text = fmt::format("model: zero\naxes: {{batch: 64, narrow: 3125, wide: 200000}}\n"
                                   "inputs: {{x: {{axes: [batch, narrow], dtype: {}}}}}\nparams:\n",
                                   dtype);
    for (int layer = 0; layer < 6; ++layer)
        text += fmt::format("  up{0}: {{axes: [narrow, wide], dtype: {1}}}\n  down{0}: {{axes: [wide, narrow], dtype: "
                            "{1}}}\n",
                            layer, dtype);
    text += "graph:\n";
    for (int layer = 0; layer < 6; ++layer)
        text += fmt::format(
            "  - h{0}: {{dot: [{1}, up{0}]}}\n  - h{0}: {{relu: h{0}}}\n  - y{0}: {{dot: [h{0}, down{0}]}}\n", layer,
            layer == 0 ? "x" : fmt::format("y{}", layer - 1));
    return text + "outputs: [y5]\ntrain:\n  loss: {mean: y5}\n" + train;
}

} // namespace

// Figure 1, ZeRO (Rajbhandari et al.): 16 bytes a parameter, 7.5e9 of them, 64 devices.
TEST_CASE("figure 1: ZeRO's bytes per device, from data parallelism to everything sharded") {
    const std::string dp = "mesh: {data: 64}\nrules: [{batch: data}]\n";
    const std::string states = dp + "states: {\"up*.*\": [~, data], \"down*.*\": [data, ~]}\n";
    const std::string both = states + "gradients: {\"up*\": [~, data], \"down*\": [data, ~]}\n";
    const std::string fsdp = dp + "fsdp: {axis: data}\n";
    const Held whole16 = held(zero_model("bf16"), dp), whole32 = held(zero_model("f32"), dp);
    CHECK((whole16.params + whole16.gradients + whole32.params + whole32.states) / gigabyte ==
          doctest::Approx(120).epsilon(1e-6));
    // The optimizer's copy of the parameters is sharded as its moments are.
    const Held shards32 = held(zero_model("f32"), fsdp);
    const double optimizer = shards32.params + shards32.states;
    CHECK(held(zero_model("f32"), states).states == shards32.states);
    CHECK((whole16.params + whole16.gradients + optimizer) / gigabyte == doctest::Approx(31.4).epsilon(0.002));
    const Held scattered16 = held(zero_model("bf16"), both);
    CHECK(scattered16.params == whole16.params);
    CHECK((scattered16.params + scattered16.gradients + optimizer) / gigabyte == doctest::Approx(16.6).epsilon(0.005));
    const Held shards16 = held(zero_model("bf16"), fsdp);
    CHECK((shards16.params + shards16.gradients + optimizer) / gigabyte == doctest::Approx(1.9).epsilon(0.02));
}

namespace {

// The matrices of a transformer's layer, 12 h^2 parameters, `layers` of them: what one stage of a pipeline holds.
std::string transformer(i64 h, i64 heads, i64 layers, const std::string& dtype) {
    return fmt::format(R"(model: transformer
axes: {{batch: 1, length: 8, embed: {0}, heads: {1}, kv: {2}, mlp: 4 * embed}}
inputs: {{x: {{axes: [batch, length, embed], dtype: {4}}}}}
modules:
  block:
    inputs: [x]
    params:
      wq: {{axes: [embed, heads, kv], dtype: {4}}}
      wk: {{axes: [embed, heads, kv], dtype: {4}}}
      wv: {{axes: [embed, heads, kv], dtype: {4}}}
      wo: {{axes: [heads, kv, embed], dtype: {4}}}
      up: {{axes: [embed, mlp], dtype: {4}}}
      down: {{axes: [mlp, embed], dtype: {4}}}
    graph:
      - q: {{einsum: "bld,dhk->blhk", in: [x, wq]}}
      - k: {{einsum: "bld,dhk->blhk", in: [x, wk]}}
      - v: {{einsum: "bld,dhk->blhk", in: [x, wv]}}
      - o: {{attention: [q, k, v], causal: true}}
      - o: {{einsum: "blhk,hkd->bld", in: [o, wo]}}
      - x: {{add: [x, o]}}
      - m: {{dot: [x, up]}}
      - m: {{gelu: m}}
      - m: {{dot: [m, down]}}
      - x: {{add: [x, m]}}
    outputs: [x]
graph:
  - y: {{repeat: block, times: {3}, in: x}}
outputs: [y]
train:
  loss: {{mean: y}}
)",
                       h, heads, h / heads, layers, dtype) +
           train;
}

} // namespace

// Figure 2, Korthikanti et al.: 18 bytes a parameter, since gradients are f32 there; tensor parallel 8.
TEST_CASE("figure 2: parameters, gradients and optimizer of the 22B, 175B, 530B and 1T models") {
    struct Row {
        i64 h, heads, layers, stages;
        double gib;
    };
    const std::string layout = "mesh: {model: 8}\nrules: [{heads: model}, {mlp: model}]\n";
    for (const Row& row : {Row{6144, 64, 48, 1, 45.5625}, Row{12288, 96, 96, 8, 45.5625},
                           Row{20480, 128, 105, 35, 31.640625}, Row{25600, 160, 128, 64, 32.958984375}}) {
        CAPTURE(row.h);
        const i64 layers = row.layers / row.stages;
        const Held low = held(transformer(row.h, row.heads, layers, "bf16"), layout);
        const Held high = held(transformer(row.h, row.heads, layers, "f32"), layout);
        CHECK((low.params + high.gradients + high.params + high.states - 4) / gibibyte == row.gib); // 4: the step count
    }
}

} // namespace shard
