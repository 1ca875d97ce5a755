// Published figures of memory per device, by planning such models.
//
// Mixed precision as these papers count it keeps parameters and gradients in bf16, and in the optimizer a copy of the
// parameters and both Adam moments in f32. That is what two plans of one model hold: its parameters and gradients in
// bf16, and its parameters and states in f32. Gradients are clipped by their global norm, so all are there at once.
#include "tests/support/steps.h"

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

namespace {

// A layer as Korthikanti et al. count it, figure 2 of the paper: layer norms, attention over all of the length with
// dropout of its probabilities, dropout behind both halves; everything in 16 bits. Updates are made at once and hold
// nothing back, so that the most is alive between the passes.
std::string megatron(i64 h, i64 heads, i64 batch, i64 layers) {
    return fmt::format(R"(model: megatron
axes: {{batch: {3}, length: 2048, embed: {0}, heads: {1}, kv: {2}, mlp: 4 * embed}}
inputs: {{x: {{axes: [batch, length, embed], dtype: bf16}}}}
modules:
  block:
    inputs: [x]
    params:
      scale1: {{axes: [embed], dtype: bf16}}
      bias1: {{axes: [embed], dtype: bf16}}
      wq: {{axes: [embed, heads, kv], dtype: bf16}}
      wk: {{axes: [embed, heads, kv], dtype: bf16}}
      wv: {{axes: [embed, heads, kv], dtype: bf16}}
      wo: {{axes: [heads, kv, embed], dtype: bf16}}
      scale2: {{axes: [embed], dtype: bf16}}
      bias2: {{axes: [embed], dtype: bf16}}
      up: {{axes: [embed, mlp], dtype: bf16}}
      down: {{axes: [mlp, embed], dtype: bf16}}
    graph:
      - n: {{layer_norm: [x, scale1, bias1]}}
      - q: {{einsum: "bld,dhk->blhk", in: [n, wq]}}
      - k: {{einsum: "bld,dhk->blhk", in: [n, wk]}}
      - v: {{einsum: "bld,dhk->blhk", in: [n, wv]}}
      - p: {{einsum: "blhk,bmhk->bhlm", in: [q, k]}}
      - p: {{softmax: p}}
      - p: {{dropout: p, rate: 0.1}}
      - o: {{einsum: "bhlm,bmhk->blhk", in: [p, v]}}
      - o: {{einsum: "blhk,hkd->bld", in: [o, wo]}}
      - o: {{dropout: o, rate: 0.1}}
      - x: {{add: [x, o]}}
      - m: {{layer_norm: [x, scale2, bias2]}}
      - m: {{dot: [m, up]}}
      - m: {{gelu: m}}
      - m: {{dot: [m, down]}}
      - m: {{dropout: m, rate: 0.1}}
      - x: {{add: [x, m]}}
    outputs: [x]
graph:
  - y: {{repeat: block, times: {4}, in: x}}
outputs: [y]
train:
  loss: {{mean: y}}
  optimizer: {{sgd: {{learning_rate: 1.0e-3}}}}
)",
                       h, heads, h / heads, batch, layers);
}

double activations(const std::string& model) {
    const std::string layout = "mesh: {model: 8}\nrules: [{heads: model}, {mlp: model}]\n";
    return static_cast<double>(train_plan(model, layout).report.memory.activations);
}

} // namespace

// Figure 3, the same paper: a layer keeps s b h (10 + 24/t + 5 a s / (h t)) bytes, t = 8. Of these s b h (2 + a s / (h
// t)) are dropout's masks, in a byte an element, which shardc draws again in the backward pass and does not keep.
TEST_CASE("figure 3: activations of the 22B and 175B models, without recompute") {
    struct Row {
        i64 h, heads, batch, layers;
        double gib;
    };
    // Of the 175B model the first of 8 stages, 3 of which are interleaved, keeps those of 96 (1 + 7 / (8 * 3)) layers.
    for (const Row& row : {Row{6144, 64, 4, 48, 59.25}, Row{12288, 96, 1, 124, 66.84375}}) {
        CAPTURE(row.h);
        const auto model = [&row](i64 layers) { return megatron(row.h, row.heads, row.batch, layers); };
        const double sbh = 2048.0 * static_cast<double>(row.batch * row.h), layers = static_cast<double>(row.layers);
        const double masks = sbh * (2 + static_cast<double>(row.heads) * 2048 / static_cast<double>(row.h * 8));
        const double layer = activations(model(3)) - activations(model(2));
        // What the paper leaves out: the norms' statistics, two numbers of 16 bits a position.
        CHECK(layer ==
              sbh * (10 + 24.0 / 8) + 5 * (masks - 2 * sbh) - masks + 2 * 2 * sbh / static_cast<double>(row.h));
        CHECK(layers * (layer + masks) / gibibyte == doctest::Approx(row.gib).epsilon(1e-4));
    }
    // And a whole plan, with what is alive besides where the passes meet.
    const double masks = 48 * 2048.0 * 4 * 6144 * (2 + 64 * 2048.0 / (6144 * 8));
    CHECK((activations(megatron(6144, 64, 4, 48)) + masks) / gibibyte == doctest::Approx(59.25).epsilon(0.005));
}

} // namespace shard
