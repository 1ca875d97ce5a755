// Models that published layouts split unevenly, trained on padded shards: against one device, the interpreter, and
// checkpoints that another mesh goes on from.
#include "tests/support/prove.h"
#include "tests/support/steps.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {
namespace {

// A decoder: batch 6 over 4, heads 6 over 4, vocab 50257 over 8 and what is small enough to run of everything else.
std::string decoder(i64 vocab, const std::string& optimizer) {
    return fmt::format(R"(model: decoder
axes: {{batch: 6, seq: 4, embed: 12, heads: 6, head: 2, mlp: 10, vocab: {0}}}
inputs: {{tokens: {{axes: [batch, seq], dtype: i32, init: {{randint: {{low: 0, high: {0}}}}}}}}}
params:
  table: {{axes: [vocab, embed], init: {{normal: {{stddev: 0.2}}}}}}
  wq: {{axes: [embed, heads, head], init: lecun_normal}}
  wk: {{axes: [embed, heads, head], init: lecun_normal}}
  wv: {{axes: [embed, heads, head], init: lecun_normal}}
  wo: {{axes: [heads, head, embed], init: lecun_normal}}
  up: {{axes: [embed, mlp], init: lecun_normal}}
  bias: {{axes: [mlp], init: zeros}}
  down: {{axes: [mlp, embed], init: lecun_normal}}
graph:
  - x: {{gather: [table, tokens]}}
  - n: {{layer_norm: x}}
  - q: {{einsum: "bse,ehd->bshd", in: [n, wq]}}
  - k: {{einsum: "bse,ehd->bshd", in: [n, wk]}}
  - v: {{einsum: "bse,ehd->bshd", in: [n, wv]}}
  - o: {{attention: [q, k, v], causal: true}}
  - x: {{add: [x, {{einsum: "bshd,hde->bse", in: [o, wo]}}]}}
  - h: {{gelu: {{add: [{{dot: [{{layer_norm: x}}, up]}}, bias]}}}}
  - x: {{add: [x, {{dropout: {{dot: [h, down]}}, rate: 0.25}}]}}
  - logits: {{einsum: "bse,ve->bsv", in: [x, table]}}
  - loss: {{softmax_cross_entropy: [logits, tokens]}}
outputs: [logits]
train:
  loss: loss
  optimizer: {1}
)",
                       vocab, optimizer);
}

std::string proved(const std::string& model, const std::string& layout, int steps = 2) {
    ProofOptions options;
    options.mode = "train";
    options.steps = steps;
    return fmt::format("{}", fmt::join(prove(model, layout, options), "\n"));
}

const std::string rules =
    "divisibility: pad\nrules: [{batch: data}, {heads: model}, {vocab: model}, {mlp: model}, {embed: ~}]\n";

} // namespace

TEST_CASE("a decoder whose batch, heads, mlp and vocabulary do not divide trains as on one device") {
    for (const char* const optimizer : {"{sgd: {learning_rate: 0.1}}", "{adamw: {learning_rate: 1.0e-2}}"}) {
        CHECK(proved(decoder(50, optimizer), "mesh: {data: 4, model: 4}\n" + rules) == "");
        CHECK(proved(decoder(50, optimizer), "mesh: {data: 2, model: 8}\n" + rules) == "");
    }
}

TEST_CASE("optimizers of all kinds keep zeros in the padding of parameters") {
    for (const char* const optimizer :
         {"{lion: {learning_rate: 1.0e-3}}", "{sgd: {learning_rate: 1.0e-2, momentum: 0.9}}"})
        CHECK(proved(decoder(50, optimizer), "mesh: {model: 4}\nmissing_axes: ignore\n" + rules) == "");
}

TEST_CASE("states and gradients that are split unevenly are padded with their parameters") {
    CHECK(proved(
              decoder(50, "{adam: {learning_rate: 1.0e-2}}"),
              "mesh: {data: 4, model: 2}\ndivisibility: pad\nrules: [{batch: data}, {heads: model}, {embed: ~}]\n"
              "states: {\"w?.mu\": [data, \"?\", \"?\"], \"table.mu\": [data, ~]}\ngradients: {\"up\": [~, data]}\n") ==
          "");
}

TEST_CASE("GPT-2's vocabulary of 50257 over 8 devices") {
    const std::string layout = "mesh: {model: 8}\ndivisibility: {vocab: pad}\nrules: [{vocab: model}, {embed: ~}]\n";
    CHECK(proved(decoder(50257, "{sgd: {learning_rate: 0.1}}"), layout, 1) == "");
    const Plan plan = train_plan(decoder(50257, "{sgd: {learning_rate: 0.1}}"), layout);
    for (const Buffer& buffer : plan.buffers)
        if (buffer.name == "table") {
            CHECK(buffer.shape == Shape{6283, 12}); // ceil(50257 / 8)
            CHECK(buffer.real_shape() == Shape{50257, 12});
        }
    CHECK(plan.padding.bytes == 42); // 7 of 8 * 6283 rows of 48 B, an eighth of them on a device
}

TEST_CASE("shapes of MaxText that its meshes do not divide are planned") {
    const std::string model = R"(model: shapes
axes: {batch: 64, embed: 2880, kv_lora: 512, heads: 64, head: 64}
inputs: {x: {axes: [batch, embed]}}
params:
  a: {axes: [embed, kv_lora]}
  b: {axes: [kv_lora, heads, head]}
graph:
  - c: {dot: [x, a]}
  - y: {einsum: "bk,khd->bhd", in: [c, b]}
outputs: [y]
)";
    for (const char* const layout :
         {"mesh: {fsdp: 64}\ndivisibility: pad\nrules: [{batch: fsdp}, {embed: fsdp}]\n",
          "mesh: {model: 128}\ndivisibility: pad\nrules: [{embed: model}]\n",
          "mesh: {model: 1024}\ndivisibility: pad\nrules: [{kv_lora: model}, {embed: ~}]\n"}) {
        Sources sources;
        PlanRequest request;
        request.model_file = sources.add("model.yaml", model);
        request.layout_file = sources.add("layout.yaml", layout);
        const Compilation compilation = compile(sources, request);
        INFO(text_of(sources, compilation.diagnostics));
        CAPTURE(layout);
        CHECK(compilation.plan.has_value());
    }
}

} // namespace shard
