#include "planner/partition/joint_forms.h"
#include "planner/pipeline/pipeline.h"
#include "tests/support/steps.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {
namespace {

Compilation compiled(const std::string& model, const std::string& layout) {
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add("model.yaml", model);
    request.layout_file = sources.add("layout.yaml", layout);
    Compilation compilation = compile(sources, request);
    REQUIRE(compilation.plan.has_value());
    return compilation;
}

// Three products of x, each wanted over its heads.
std::string readers(i64 tokens, i64 embed, i64 heads) {
    return fmt::format(R"(model: readers
axes: {{tokens: {}, embed: {}, heads: {}}}
inputs: {{x: {{axes: [tokens, embed]}}}}
params: {{a: {{axes: [embed, heads]}}, b: {{axes: [embed, heads]}}, c: {{axes: [embed, heads]}}}}
graph:
  - a: {{dot: [x, a]}}
  - b: {{dot: [x, b]}}
  - c: {{dot: [x, c]}}
  - a: {{constrain: a, mesh: [~, model]}}
  - b: {{constrain: b, mesh: [~, model]}}
  - c: {{constrain: c, mesh: [~, model]}}
outputs: [a, b, c]
)",
                       tokens, embed, heads);
}
const std::string by_tokens = "mesh: {model: 8}\nrules: [{tokens: model}]\n";

// Three products with a split sum, put together by `graph`.
std::string terms(const std::string& graph) {
    return "model: terms\naxes: {b: 8, l: 32, m: 64, d: 64}\n"
           "inputs: {x: {axes: [b, l, m]}, y: {axes: [b, l, m]}, z: {axes: [b, l, m]}, r: {axes: [b, l, d]}}\n"
           "params: {wx: {axes: [m, d]}, wy: {axes: [m, d]}, wz: {axes: [m, d]}}\n"
           "graph:\n"
           "  - x: {dot: [x, wx]}\n  - y: {dot: [y, wy]}\n  - z: {dot: [z, wz]}\n" +
           graph + "outputs: [s]\n";
}
const std::string by_m = "mesh: {model: 4}\nrules: [{m: model}]\n";

} // namespace

TEST_CASE("readers of a value share one gather where that is cheaper for all of them") {
    const Compilation small = compiled(readers(256, 80, 320), by_tokens);
    CHECK(collectives_text(*small.plan) == "all_gather x over model 71680\n");
    CHECK(small.joint.shared.size() == 1);
    // Results that are smaller than what they are made of are sent one by one.
    const Compilation large = compiled(readers(256, 320, 80), by_tokens);
    CHECK(large.joint.empty());
    CHECK(large.plan->report.collectives.size() == 3);
}

TEST_CASE("terms of a sum are added before one reduction") {
    for (const char* graph :
         {"  - s: {add: [x, y]}\n  - s: {add: [s, z]}\n", "  - s: {sub: [y, z]}\n  - s: {add: [x, s]}\n",
          "  - s: {neg: y}\n  - s: {add: [s, x]}\n  - t: {mul: [z, 0.5]}\n  - s: {add: [t, s]}\n"}) {
        CAPTURE(graph);
        const Compilation compilation = compiled(terms(graph), by_m);
        REQUIRE(compilation.plan->report.collectives.size() == 1);
        CHECK(compilation.plan->report.collectives[0].kind == "all_reduce");
        CHECK(compilation.plan->report.collectives[0].wire_bytes_per_device == 98304);
        CHECK(compilation.joint.sums.size() == 3);
    }
}

TEST_CASE("a term that is read twice, or is no sum, stays whole") {
    for (const char* graph : {"  - s: {add: [x, y]}\n  - s: {add: [s, x]}\n", "  - s: {add: [x, r]}\n",
                              "  - s: {relu: x}\n  - s: {add: [s, y]}\n"}) {
        CAPTURE(graph);
        CHECK(compiled(terms(graph), by_m).joint.sums.empty());
    }
}

// Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models", the 22B model: with sequence
// parallelism a layer sends four all_gathers and four reduce_scatters of its activations, 84 MiB each, a step.
TEST_CASE("a Megatron layer with sequence sharding sends no more than published") {
    const std::string model = R"(model: megatron
axes: {batch: 4, length: 2048, embed: 6144, heads: 64, kv: 96, mlp: 4 * embed}
inputs: {x: {axes: [batch, length, embed], dtype: bf16}}
params:
  wq: {axes: [embed, heads, kv], dtype: bf16}
  wk: {axes: [embed, heads, kv], dtype: bf16}
  wv: {axes: [embed, heads, kv], dtype: bf16}
  wo: {axes: [heads, kv, embed], dtype: bf16}
  up: {axes: [embed, mlp], dtype: bf16}
  down: {axes: [mlp, embed], dtype: bf16}
  scale: {axes: [embed], dtype: bf16}
graph:
  - h: {mul: [x, scale]}
  - q: {einsum: "bld,dhk->blhk", in: [h, wq]}
  - q: {constrain: q, axes: [batch, ~, heads, kv]}
  - k: {einsum: "bld,dhk->blhk", in: [h, wk]}
  - k: {constrain: k, axes: [batch, ~, heads, kv]}
  - v: {einsum: "bld,dhk->blhk", in: [h, wv]}
  - v: {constrain: v, axes: [batch, ~, heads, kv]}
  - o: {attention: [q, k, v], causal: true}
  - o: {constrain: o, axes: [batch, ~, heads, kv]}
  - o: {einsum: "blhk,hkd->bld", in: [o, wo]}
  - o: {constrain: o, axes: [batch, length, embed]}
  - x: {add: [x, o]}
  - h: {tanh: x}
  - m: {dot: [h, up]}
  - m: {constrain: m, axes: [batch, ~, mlp]}
  - m: {gelu: m}
  - m: {dot: [m, down]}
  - m: {constrain: m, axes: [batch, length, embed]}
  - x: {add: [x, m]}
outputs: [x]
train:
  loss: {mean: x}
  optimizer: {sgd: {learning_rate: 1.0e-3}}
)";
    const Plan plan =
        train_plan(model, "mesh: {model: 8}\nrules: [{heads: model}, {mlp: model}, {length: model}]\nhardware: h100\n");
    i64 bytes = 0; // 100 kB beside: the scale and the loss
    for (const CollectiveReport& collective : plan.report.collectives) bytes += collective.wire_bytes_per_device;
    CHECK(bytes <= i64{8} * 84 * 1024 * 1024 + 100'000);
}

} // namespace shard
