#include "planner/partition/compute_asker.h"
#include "planner/partition/numbered_decisions.h"
#include "planner/partition/partitioner.h"
#include "planner/pipeline/graph_pass.h"
#include "planner/pipeline/pipeline.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {
namespace {

// Up to the shardings.
Compilation propagated(const std::string& model) {
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add("model.yaml", model);
    request.layout_file =
        sources.add("layout.yaml", "mesh: {data: 2, model: 4}\nrules: [{batch: data}, {hidden: model}]\n");
    request.passes = passes_before("spread", request);
    Compilation c = compile(sources, request);
    REQUIRE(!c.diagnostics.has_error());
    return c;
}

std::string model(std::string_view graph) {
    return fmt::format("model: m\naxes: {{batch: 8, embed: 64, hidden: 128}}\n"
                       "inputs: {{x: {{axes: [batch, embed]}}}}\n"
                       "params: {{up: {{axes: [embed, hidden]}}, down: {{axes: [hidden, embed]}}}}\n"
                       "graph:\n{}outputs: [y]\n",
                       graph);
}

std::string text_of(const Compilation& c, Local local) {
    Compilation partitioned = c;
    partitioned.local = std::move(local);
    return graph_text(*graph_state(partitioned), {nullptr, true});
}

const std::string one = model("  - s: {add: [x, x]}\n  - h: {dot: [s, up]}\n  - y: {dot: [h, down]}\n"),
                  other = model("  - s: {mul: [x, x]}\n  - h: {dot: [s, up]}\n  - y: {dot: [h, down]}\n");

} // namespace

TEST_CASE("decisions that a graph has left behind are those of equal nodes of the next graph") {
    const Compilation first = propagated(one), second = propagated(other);
    ComputeDecisions decisions(first.layout->mesh, *first.hardware), fresh(first.layout->mesh, *first.hardware);
    NumberedDecisions numbered(decisions);
    CHECK(text_of(first, partition(*first.graph, GraphFacts(*first.graph), *first.propagation, numbered, {})) ==
          text_of(first, partition(*first.graph, *first.propagation, fresh)));
    // Its first class is numbered as that of the first graph, reads values of the same shardings, and is another op.
    CHECK(text_of(second, partition(*second.graph, GraphFacts(*second.graph), *second.propagation, numbered, {})) ==
          text_of(second, partition(*second.graph, *second.propagation, fresh)));
}

TEST_CASE("a question is another one with other forms, another result, or sums that stay") {
    const Compilation c = propagated(one);
    ComputeDecisions decisions(c.layout->mesh, *c.hardware);
    NumberedDecisions numbered(decisions);
    const GraphFacts facts(*c.graph);
    ComputeAsker asker(*c.graph, facts, c.propagation->values, numbered);
    const NodeId node = 1; // s . up
    const auto ask = [&](const auto& more) {
        asker.begin(node);
        for (const ValueId input : c.graph->node(node).inputs) {
            asker.operand();
            asker.form(asker.number_of_kept(input));
        }
        more();
        return &asker.decide();
    };
    const auto nothing = [] {};
    const NumberedDecision* const asked = ask(nothing);
    CHECK(ask(nothing) == asked);
    CHECK(ask([&] { asker.form(numbered.number_of(replicated_sharding(2))); }) != asked);
    CHECK(ask([&] { asker.set_result(replicated_sharding(2)); }) != asked);
    CHECK(ask([&] { asker.set_sums_where_split(); }) != asked);
    CHECK(ask(nothing) == asked);
    CHECK(asker.query().operand_types.size() == 2);
}

} // namespace shard
