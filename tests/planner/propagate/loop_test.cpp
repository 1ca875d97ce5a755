// Shardings through loops: what is carried is one value in four places.
#include "planner/build/build.h"
#include "planner/graph/builder.h"
#include "planner/propagate/propagate.h"
#include "planner/read/layout_reader.h"
#include "planner/read/model_reader.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace shard;

namespace {

struct Case {
    Sources sources;
    Diagnostics diagnostics;
    std::optional<Layout> layout;
    std::optional<Graph> graph;
    Propagation propagation;

    explicit Case(const std::string& model_text) {
        const std::optional<Model> model = read_model(sources, sources.add("model.yaml", model_text), diagnostics);
        layout = read_layout(sources, sources.add("layout.yaml", "mesh: {a: 2, b: 2}\nrules: []\n"), diagnostics);
        if (model) graph = build_graph(*model, diagnostics);
        for (const Diagnostic& diagnostic : diagnostics.all()) MESSAGE(diagnostic.code << " " << diagnostic.message);
        REQUIRE(graph);
        const std::optional<Seeds> seeds = seed_shardings(*graph, *layout, diagnostics);
        REQUIRE(seeds);
        propagation = propagate(*graph, layout->mesh, *seeds);
    }
    std::string spec(ValueId id) const { return text(layout->mesh, propagation.values[id]); }
    std::string spec(const char* name) const {
        const std::optional<ValueId> id = find_value(*graph, name);
        REQUIRE_MESSAGE(id, name);
        return spec(*id);
    }
    // Init, argument, yield and result of the first carried value.
    std::vector<std::string> carried() const {
        REQUIRE(graph->loops.size() == 1);
        REQUIRE(graph->loops[0].carried.size() == 1);
        const GraphLoop::Carried& value = graph->loops[0].carried[0];
        return {spec(value.init), spec(value.argument), spec(value.yield), spec(value.result)};
    }
};

// `x` goes in, `w` is a stack, `body` makes y of h and w, `after` follows the loop.
std::string scanned(const std::string& x, const std::string& w, const std::string& body,
                    const std::string& after = {}) {
    return fmt::format(R"(model: m
inputs: {{x: {{shape: [8, 8], mesh: {0}}}}}
modules:
  block:
    inputs: [h]
    params: {{w: {{shape: [8, 8], mesh: {1}}}}}
    graph:
{2}    outputs: [y]
graph:
  - z: {{repeat: block, times: 4, in: x, scan: true}}
{3}outputs: [z]
)",
                       x, w, body, after);
}

const std::string open = "[\"?\", \"?\"]", tanh_body = "      - p: {mul: [h, w]}\n      - y: {tanh: p}\n";
using Specs = std::vector<std::string>;

} // namespace

TEST_CASE("what goes into a loop leads to what it carries, in the body and behind it") {
    CHECK(Case(scanned("[a, ~]", open, tanh_body)).carried() == Specs(4, "[a | -]"));
}

TEST_CASE("what is asked of a loop's result leads back to what goes in") {
    const Case c(scanned(open, open, tanh_body, "  - z: {constrain: z, mesh: [~, b]}\n"));
    CHECK(c.carried() == Specs(4, "[- | b]"));
    CHECK(c.spec("x") == "[- | b]");
}

TEST_CASE("the body leads too: a stack's sharding goes through a layer to the value carried and to what goes in") {
    const Case c(scanned(open, "[~, b]", tanh_body));
    CHECK(c.spec("block.w") == "[- | - | b]");
    CHECK(c.spec("block.w.layer") == "[- | b]");
    CHECK(c.carried() == Specs(4, "[- | b]"));
}

TEST_CASE("a layer's sharding leads to its stack, and not to the dim of the layers") {
    const Case c(scanned("[a, ~]", open, tanh_body));
    CHECK(c.spec("block.w") == "[- | a | -]");
}

TEST_CASE("what goes in as it is declared stays so, and the trips carry what the body wants") {
    // h (i, k) times w (k, j), k split: propagation along the contraction splits h, and so all that is carried.
    const Case c(scanned("[a, ~]", "[b, ~]", "      - y: {dot: [h, w]}\n"));
    CHECK(c.carried() == Specs{"[a | -]", "[a | b]", "[a | b]", "[a | b]"});
}
