// Products lie as their weights are split, where tokens have the axes and are fewer than what a weight has of rows.
#include "planner/pipeline/products_as_weights.h"

#include "tests/support/planned_case.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace shard {
namespace {

std::string gated_mlp(int length) {
    return fmt::format(R"(model: gated
axes: {{batch: 2, length: {}, embed: 64, mlp: 256}}
inputs: {{x: {{axes: [batch, length, embed]}}}}
params: {{gate: {{axes: [embed, mlp]}}, up: {{axes: [embed, mlp]}}, down: {{axes: [mlp, embed]}}}}
graph:
  - n: {{silu: x}}
  - g: {{dot: [n, gate]}}
  - u: {{dot: [n, up]}}
  - h: {{mul: [{{silu: g}}, u]}}
  - y: {{add: [x, {{dot: [h, down]}}]}}
  - e: {{mul: [y, y]}}
outputs: [y]
train: {{loss: {{mean: e}}, optimizer: {{sgd: {{learning_rate: 0.1}}}}}}
)",
                       length);
}

constexpr const char* over_one_axis = "mesh: {data: 2, model: 4}\n"
                                      "rules: [{batch: data}, {length: model}, {mlp: model}, {heads: model}, "
                                      "{kv_heads: model}]\n";

std::map<std::string, i64> sent_by_kind(const PlannedCase& planned) {
    std::map<std::string, i64> sent;
    for (const CollectiveReport& collective : planned.compilation.plan->report.collectives)
        sent[std::string(collective.kind)] += collective.wire_bytes_total / 8;
    return sent;
}

bool is_as_weight(const PlannedCase& planned) {
    const DecisionLog& log = planned.compilation.propagation->log;
    return std::any_of(log.begin(), log.end(),
                       [](const Decision& decision) { return decision.cause == Decision::Cause::weight; });
}

} // namespace

TEST_CASE("few tokens are gathered to a weight's columns, and what comes of them is scattered: Megatron's sequence "
          "parallelism") {
    PlannedCase made(gated_mlp(160), over_one_axis);
    // Of 160 tokens of 64 numbers the other three quarters, once for both products; and as much of the sums.
    const i64 tokens = 3 * 40 * 64 * 4;
    CHECK(sent_by_kind(made) == std::map<std::string, i64>{{"all_gather", tokens}, {"reduce_scatter", tokens}});
    CHECK(is_as_weight(made));
    made.check_proof();
    const PlannedCase as_propagated(gated_mlp(160), over_one_axis, "forward", true);
    CHECK_FALSE(is_as_weight(as_propagated));
    CHECK(as_propagated.sent > made.sent);
}

TEST_CASE("a train step whose products lie as their weights is that of one device, and sends less") {
    PlannedCase made(gated_mlp(160), over_one_axis, "train");
    CHECK(is_as_weight(made));
    CHECK(made.sent < PlannedCase(gated_mlp(160), over_one_axis, "train", true).sent);
    made.check_proof();
}

TEST_CASE("many tokens stay where they are, and weights are gathered") {
    PlannedCase made(gated_mlp(4096), over_one_axis);
    CHECK_FALSE(is_as_weight(made));
    CHECK(sent_by_kind(made) == std::map<std::string, i64>{{"all_gather", 3 * (3 * 64 * 64 * 4)}});
}

TEST_CASE("what a layout says of a product, and its priorities, are kept to") {
    const std::string pinned = "values: {g: [data, model, ~], u: [data, model, ~]}\n";
    CHECK_FALSE(is_as_weight(PlannedCase(gated_mlp(160), over_one_axis + pinned)));
    std::string ordered = over_one_axis;
    ordered += "params: {down: [\"model@1\", ~]}\n";
    CHECK_FALSE(is_as_weight(PlannedCase(gated_mlp(160), ordered)));
    CHECK_FALSE(is_as_weight(PlannedCase(gated_mlp(160), over_one_axis + std::string("partitioner: xla\n"))));
}

TEST_CASE("heads of queries, keys and values go together") {
    constexpr const char* attention = R"(model: attends
axes: {batch: 2, length: 160, embed: 64, heads: 8, kv_heads: 4, kv: 32}
inputs: {x: {axes: [batch, length, embed]}}
params:
  wq: {axes: [embed, heads, kv]}
  wk: {axes: [embed, kv_heads, kv]}
  wv: {axes: [embed, kv_heads, kv]}
  wo: {axes: [heads, kv, embed]}
graph:
  - q: {einsum: "bld,dhk->blhk", in: [x, wq]}
  - k: {einsum: "bld,dhk->blhk", in: [x, wk]}
  - v: {einsum: "bld,dhk->blhk", in: [x, wv]}
  - o: {attention: [q, k, v], causal: true}
  - y: {einsum: "blhk,hkd->bld", in: [o, wo]}
outputs: [y]
train: {loss: {mean: y}, optimizer: {sgd: {learning_rate: 0.1}}}
)";
    PlannedCase made(attention, over_one_axis);
    const i64 tokens = 3 * 40 * 64 * 4;
    CHECK(sent_by_kind(made) == std::map<std::string, i64>{{"all_gather", tokens}, {"reduce_scatter", tokens}});
    made.check_proof();
    PlannedCase step(attention, over_one_axis, "train");
    CHECK(is_as_weight(step));
    step.check_proof();
}

TEST_CASE("tokens go to the devices that have their experts, and back") {
    constexpr const char* experts = R"(model: experts
axes: {experts: 8, capacity: 16, embed: 64, mlp: 256}
inputs: {x: {axes: [experts, capacity, embed]}, scale: {axes: [embed]}}
params:
  up: {axes: [experts, embed, mlp]}
  down: {axes: [experts, mlp, embed]}
graph:
  - n: {mul: [x, scale]}
  - h: {einsum: "ecd,edm->ecm", in: [n, up]}
  - h: {silu: h}
  - y: {einsum: "ecm,emd->ecd", in: [h, down]}
  - y: {mul: [x, y]}
outputs: [y]
)";
    PlannedCase made(experts, "mesh: {expert: 8}\nrules: [{capacity: expert}, {experts: expert}]\n"
                              "inputs: {x: [~, expert, ~]}\n");
    // Seven eighths of 2 places of 8 experts, of 64 numbers.
    CHECK(sent_by_kind(made) == std::map<std::string, i64>{{"all_to_all", 2 * (7 * 2 * 64 * 4)}});
    made.check_proof();
}

TEST_CASE("dims without a name go by their size, one after the other") {
    constexpr const char* unnamed = R"(model: unnamed
inputs: {x: {shape: [16, 64]}}
params: {wide: {shape: [64, 512]}, narrow: {shape: [64, 8]}}
graph:
  - a: {dot: [x, wide]}
  - b: {dot: [x, narrow]}
outputs: [a, b]
)";
    constexpr const char* layout = "mesh: {model: 8}\ninputs: {x: [model, ~]}\n"
                                   "params: {wide: [~, model], narrow: [~, model]}\n";
    PlannedCase made(unnamed, layout);
    const Graph& graph = *made.compilation.graph;
    std::map<std::string, std::string> shardings;
    for (ValueId id = 0; id < std::ssize(graph.values); ++id)
        shardings[graph.value(id).name] =
            text(made.compilation.layout->mesh, made.compilation.propagation->values[static_cast<size_t>(id)]);
    CHECK(shardings["a"] == "[- | model]");
    made.check_proof();
}

} // namespace shard
