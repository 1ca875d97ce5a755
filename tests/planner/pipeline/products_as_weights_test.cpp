// Products lie as their weights are split, where tokens have the axes and are fewer than what a weight has of rows.
#include "planner/pipeline/products_as_weights.h"

#include "planner/pipeline/passes.h"
#include "planner/pipeline/weights_ways.h"

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

bool is_as_weight(const Propagation& propagation) {
    const DecisionLog& log = propagation.log;
    return std::any_of(log.begin(), log.end(),
                       [](const Decision& decision) { return decision.cause == Decision::Cause::weight; });
}

bool is_as_weight(const PlannedCase& planned) { return is_as_weight(*planned.compilation.propagation); }

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

TEST_CASE("weights without names are of one kind by their sizes") {
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
    CHECK(shardings["b"] == "[- | model]"); // x is gathered anyway
    made.check_proof();
}

TEST_CASE("a weight that is scaled first is a weight") {
    std::string scaled = gated_mlp(160);
    const auto replace = [&](const std::string& from, const std::string& to) {
        scaled.replace(scaled.find(from), from.size(), to);
    };
    replace("params: {", "params: {scale: {axes: [mlp]}, ");
    replace("  - g: {dot: [n, gate]}", "  - s: {mul: [gate, scale]}\n  - s: {mul: [s, 0.5]}\n  - g: {dot: [n, s]}");
    PlannedCase made(scaled, over_one_axis);
    const i64 tokens = 3 * 40 * 64 * 4;
    CHECK(sent_by_kind(made) == std::map<std::string, i64>{{"all_gather", tokens}, {"reduce_scatter", tokens}});
    made.check_proof();
}

TEST_CASE("what a weight is made of is followed through any number of ops, each once") {
    std::string many = gated_mlp(160), ops;
    for (int n = 0; n < 20000; ++n) ops += n == 0 ? "  - s: {mul: [gate, gate]}\n" : "  - s: {mul: [s, s]}\n";
    const std::string product = "  - g: {dot: [n, gate]}";
    many.replace(many.find(product), product.size(), ops + "  - g: {dot: [n, s]}");
    CHECK(is_as_weight(PlannedCase(many, over_one_axis)));
}

// What is gathered for a product waits for its gradient.
TEST_CASE("a faster step that does not fit is not taken where the other fits") {
    constexpr const char* positions = R"(model: positions
axes: {batch: 4, length: 64, embed: 64, mlp: 64, heads: 8, kv: 8}
inputs:
  x: {axes: [batch, length, embed]}
  tokens: {axes: [batch, length], dtype: i32, init: {randint: {high: 64}}}
params: {wq: {axes: [embed, heads, kv]}, wo: {axes: [heads, kv, embed]}, table: {axes: [embed, mlp]}}
graph:
  - q: {einsum: "bld,dhk->blhk", in: [x, wq]}
  - a: {einsum: "blhk,hkd->bld", in: [{silu: q}, wo]}
  - g: {gather: [table, tokens], dim: 0}
  - s: {einsum: "blm,bLm->blL", in: [g, g]}
  - y: {einsum: "blL,bLd->bld", in: [s, a]}
  - e: {mul: [y, y]}
outputs: [y]
train: {loss: {mean: e}, optimizer: {sgd: {learning_rate: 0.1}}}
)";
    const auto planned = [&](i64 memory) {
        Sources sources;
        sources.add(
            "device.yaml",
            fmt::format("hardware: device\nflops: {{f32: 1.0e+12}}\nlatency: add\nmemory: {{bytes: {}, bandwidth: "
                        "1.0e+12}}\nlinks: {{wire: {{topology: switched, bandwidth: 1.0e+9}}}}\n",
                        memory));
        PlanRequest request;
        request.mode = "train";
        request.model_file = sources.add("model.yaml", positions);
        request.layout_file = sources.add("layout.yaml", std::string(over_one_axis) + "hardware: device.yaml\n");
        Compilation made = compile(sources, request);
        INFO(text_of(sources, made.diagnostics));
        REQUIRE(made.plan);
        return made;
    };
    const Compilation large = planned(1000000), tight = planned(150000), tiny = planned(100000);
    CHECK(is_as_weight(*large.propagation));
    CHECK(large.plan->peak_bytes > 150000);
    CHECK_FALSE(is_as_weight(*tight.propagation));
    CHECK(tight.plan->peak_bytes <= 150000);
    CHECK(is_as_weight(*tiny.propagation)); // neither fits
}

TEST_CASE("what is made of numbers alone is no weight") {
    std::string made_of_numbers = gated_mlp(160);
    const std::string declared = "gate: {axes: [embed, mlp]}, ", product = "  - g: {dot: [n, gate]}";
    made_of_numbers.erase(made_of_numbers.find(declared), declared.size());
    made_of_numbers.replace(made_of_numbers.find(product), product.size(),
                            "  - ones: {constant: 1, shape: []}\n  - gate: {broadcast: ones, shape: [64, 256]}\n" +
                                product);
    const PlannedCase made(made_of_numbers, over_one_axis + std::string("values: {gate: [~, model]}\n"), "forward",
                           true);
    const Compilation& c = made.compilation;
    for (const CrossedProduct& crossed : crossed_products(*c.graph, *c.seeds, *c.propagation))
        CHECK(c.graph->value(crossed.weight).name != "gate");
}

TEST_CASE("of many equal layers the kinds are those of few, and of all") {
    constexpr const char* layers = R"(model: layers
include: llama
axes: {batch: 2, length: 512, embed: 64, heads: 8, kv_heads: 8, kv: 8, mlp: 512}
inputs: {x: {axes: [batch, length, embed]}}
graph: [{y: {repeat: llama_block, times: 12, in: x}}]
outputs: [y]
)";
    const PlannedCase made(layers, over_one_axis);
    const DecisionLog& log = made.compilation.propagation->log;
    const auto seeded = [&](const std::string& name) {
        return std::count_if(log.begin(), log.end(), [&](const Decision& why) {
            return why.cause == Decision::Cause::weight &&
                   made.compilation.graph->value(why.value).name.ends_with(name);
        });
    };
    CHECK(seeded(".gate") == 12);
    CHECK(seeded(".up") == 12);
    PlanRequest request = made.request;
    const Compilation& c = made.compilation;
    Compilation again;
    Sources sources = made.sources;
    run_passes(again, passes_before("weights", request), request, sources);
    const std::vector<CrossedProduct> crossed = crossed_products(*again.graph, *again.seeds, *again.propagation);
    const std::set<std::string> kinds =
        kinds_as_weights(*again.graph, *again.seeds, *again.propagation, crossed, {*c.layout, decisions_of(again)});
    std::set<std::string> used;
    for (const CrossedProduct& product : crossed)
        if (std::any_of(log.begin(), log.end(), [&](const Decision& why) {
                return why.cause == Decision::Cause::weight && why.value == product.value;
            }))
            used.insert(product.kind);
    CHECK(used == kinds);
}

} // namespace shard
