// Propagation on models and layouts as a user writes them.
#include "planner/build/build.h"
#include "planner/graph/builder.h"
#include "planner/partition/local.h"
#include "planner/partition/partition.h"
#include "planner/partition/verify_local.h"
#include "planner/propagate/cause_chain.h"
#include "planner/propagate/propagate.h"
#include "planner/read/layout_reader.h"
#include "planner/read/model_reader.h"

#include <doctest/doctest.h>

#include <map>

using namespace shard;

namespace {

struct Case {
    Sources sources;
    Diagnostics diagnostics;
    std::optional<Layout> layout;
    std::optional<Graph> graph;
    std::optional<Seeds> seeds;
    Propagation propagation;

    Case(const std::string& model_text, const std::string& layout_text) {
        const std::optional<Model> model = read_model(sources, sources.add("model.yaml", model_text), diagnostics);
        layout = read_layout(sources, sources.add("layout.yaml", layout_text), diagnostics);
        if (model) graph = build_graph(*model, diagnostics);
        if (graph && layout) seeds = seed_shardings(*graph, *layout, diagnostics);
        for (const Diagnostic& diagnostic : diagnostics.all()) MESSAGE(diagnostic.code << " " << diagnostic.message);
        REQUIRE(seeds);
        propagation = propagate(*graph, layout->mesh, *seeds);
    }
    ValueId value(const char* name) const {
        const std::optional<ValueId> id = find_value(*graph, name);
        REQUIRE_MESSAGE(id, name);
        return *id;
    }
    std::string spec(const char* name) const { return text(layout->mesh, propagation.values[value(name)]); }
    std::vector<std::string> collectives() const {
        Hardware hardware;
        hardware.links.resize(1);
        ComputeDecisions decisions(layout->mesh, hardware);
        const Local local = partition(*graph, propagation, decisions);
        verify_local(local, layout->mesh);
        std::vector<std::string> found;
        for (const Node& node : local.graph.nodes)
            if (node.collective()) found.push_back(text(layout->mesh, *node.collective()));
        return found;
    }
};

const std::string dot_relu_dot = R"(
model: dot_relu_dot
axes: {batch: 8, embed: 1024, hidden: 1024}
inputs:
  x: {axes: [batch, embed]}
params:
  w1: {axes: [embed, hidden], init: lecun_normal}
  w2: {axes: [hidden, embed], init: lecun_normal}
graph:
  - h: {dot: [x, w1]}
  - a: {relu: h}
  - z: {dot: [a, w2]}
outputs: [z]
)";

} // namespace

TEST_CASE("DotReluDot as a model: rules give the inputs, propagation the rest") {
    const Case c(dot_relu_dot, R"(
mesh: {data: 2, model: 4}
rules:
  - {batch: data}
  - {hidden: model}
  - {embed: ~}
)");
    const std::map<std::string, std::string> expected = {{"x", "[data | -]"},     {"w1", "[- | model]"},
                                                         {"w2", "[model | -]"},   {"h", "[data | model]"},
                                                         {"a", "[data | model]"}, {"z", "[data | -]"}};
    for (const std::pair<const std::string, std::string>& entry : expected)
        CHECK_MESSAGE(c.spec(entry.first.c_str()) == entry.second, entry.first);
    CHECK(c.collectives().size() == 1);

    const std::vector<Decision> chain = cause_chain(c.propagation.log, c.value("a"), 1, c.layout->mesh.whole(1));
    REQUIRE(chain.size() >= 3);
    CHECK(chain.front().value == c.value("a"));
    CHECK(chain.back().value == c.value("w1"));
    CHECK(chain.back().cause == Decision::Cause::rule);
    CHECK(chain.back().rule == 1);
    CHECK(chain.back().span.line == 5); // of the layout
}

TEST_CASE("the same model under other rules") {
    const Case embed(dot_relu_dot, "mesh: {data: 2, model: 4}\nrules: [{batch: data}, {embed: model}]\n");
    CHECK(embed.spec("x") == "[data | model]");
    CHECK(embed.spec("h") == "[data | -]");
    CHECK(embed.spec("z") == "[data | model]");
    const Case data(dot_relu_dot, "mesh: {data: 8}\nrules: [{batch: data}]\n");
    CHECK(data.spec("h") == "[data | -]");
    CHECK(data.spec("w1") == "[- | -]");
    CHECK(data.collectives().empty());
}

TEST_CASE("a closed constraint reaches the value before it, and what is left is a reshard") {
    std::string model = dot_relu_dot;
    model.insert(model.find("  - z:"), "  - a: {constrain: a, mesh: [data, ~]}\n");
    const Case c(model, "mesh: {data: 2, model: 4}\nrules: [{batch: data}, {hidden: model}]\n");
    CHECK(c.spec("a") == "[data | -]");
    CHECK(c.spec("h") == "[data | model]");
    CHECK(!c.collectives().empty());
}

TEST_CASE("an output may be asked for in another sharding than it is made in") {
    const Case c(dot_relu_dot, R"(
mesh: {data: 2, model: 4}
rules: [{batch: data}, {hidden: model}]
values: {z: [data, ~]}
outputs: {z: [~, model]}
)");
    CHECK(c.spec("z") == "[data | -]");
    CHECK(text(c.layout->mesh, c.propagation.outputs[0]) == "[- | model]");
    Hardware hardware;
    hardware.links.resize(1);
    ComputeDecisions decisions(c.layout->mesh, hardware);
    const Local local = partition(*c.graph, c.propagation, decisions);
    verify_local(local, c.layout->mesh);
    CHECK(text(c.layout->mesh, local.graph.value(local.graph.outputs[0]).part->sharding) == "[- | model]");
}

TEST_CASE("an input that is returned in another sharding") {
    const Case c("model: m\ninputs: {x: {shape: [8, 8], mesh: [data, ~]}}\ngraph: []\noutputs: [x]\n",
                 "mesh: {data: 2}\noutputs: {x: [~, data]}\n");
    CHECK(c.spec("x") == "[data | -]");
    CHECK(c.collectives().size() == 1);
}
TEST_CASE("a new value lies as the input that it updates where its operands ask for different things") {
    const std::string model = "model: m\ninputs: {p: {shape: [64, 32]}, u: {shape: [64, 32]}}\n"
                              "graph: [{n: {add: [p, u]}}]\noutputs: []\nupdates: {p: n}\n";
    const std::string layout = "mesh: {data: 2, model: 4}\ninputs: {p: [model, data], u: [data, model]}\n";
    const Case c(model, layout);
    CHECK(c.spec("n") == "[model | data]");
    // What the layout says of it, or what else reads it, comes first.
    CHECK(Case(model, layout + "values: {n: [~, ~]}\n").spec("n") == "[- | -]");
    const Case read("model: m\ninputs: {p: {shape: [64, 32]}, u: {shape: [64, 32]}}\n"
                    "graph: [{n: {add: [p, u]}}, {z: {reduce_sum: n}}]\noutputs: [z]\nupdates: {p: n}\n",
                    layout);
    CHECK(read.spec("n") == "[- | -]");
}

TEST_CASE("layer norm keeps its rows apart, whatever its statistics are") {
    const Case c(R"(
model: m
axes: {batch: 8, length: 16, embed: 32}
inputs: {x: {axes: [batch, length, embed]}}
params: {g: {axes: [embed]}, b: {axes: [embed]}}
graph:
  - y: {layer_norm: [x, g, b]}
outputs: [y]
)",
                 "mesh: {data: 2, model: 4}\nrules: [{batch: data}, {length: model}]\n");
    CHECK(c.spec("y") == "[data | model | -]");
    CHECK(c.collectives().empty());
}
