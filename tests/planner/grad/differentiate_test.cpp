// What reverse mode adds to a graph: names, types, and what it keeps of the forward pass.
#include "planner/grad/differentiate.h"
#include "tests/support/model_harness.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <set>

namespace shard {

namespace {

// x (8, 16) and parameters w (16, 16), v (16, 16), b (16), c (16), q (8, 16); the loss is the sum of `z`.
struct Differentiated {
    Graph graph;
    NodeId backward = -1; // the first node of the backward pass
    std::vector<ValueId> gradients;

    const Value& value(const std::string& name) const {
        const std::optional<ValueId> id = find_value(graph, name);
        REQUIRE(id.has_value());
        return graph.value(*id);
    }
    // The values, other than inputs, that live from the forward pass to the backward pass.
    std::string kept() const {
        std::set<ValueId> ids;
        for (size_t n = static_cast<size_t>(backward); n < graph.nodes.size(); ++n)
            for (ValueId id : graph.nodes[n].inputs)
                if (graph.value(id).producer >= 0 && graph.value(id).producer < backward) ids.insert(id);
        std::string names;
        for (ValueId id : ids) names += (names.empty() ? "" : " ") + graph.value(id).name;
        return names;
    }
};

Differentiated differentiated(const std::string& entries, const std::vector<std::string>& with_respect_to) {
    Built built = build_text(fmt::format(R"(model: m
axes: {{rows: 8, columns: 16, inner: 16}}
inputs: {{x: {{axes: [rows, columns]}}}}
params:
  w: {{axes: [columns, inner]}}
  v: {{axes: [inner, columns]}}
  b: {{shape: [16]}}
  c: {{shape: [16]}}
  q: {{shape: [8, 16]}}
graph:
{}  - loss: {{reduce_sum: z}}
outputs: [loss]
)",
                                         entries));
    INFO(built.problems());
    REQUIRE(built.graph.has_value());
    Differentiated made;
    made.graph = std::move(*built.graph);
    made.backward = static_cast<NodeId>(made.graph.nodes.size());
    std::vector<ValueId> ids;
    for (const std::string& name : with_respect_to) ids.push_back(*find_value(made.graph, name));
    Diagnostics diagnostics;
    Builder builder(made.graph, diagnostics);
    made.gradients = differentiate(builder, *find_value(made.graph, "loss"), ids);
    for (ValueId id : made.gradients) {
        made.graph.outputs.push_back(id);
        made.graph.output_names.push_back(made.graph.value(id).name);
    }
    verify_graph(made.graph);
    return made;
}

using Ids = std::vector<ValueId>;

} // namespace

TEST_CASE("a cotangent is called after its value, has its axes, and stands at its line") {
    const Differentiated made =
        differentiated("  - h: {dot: [x, w]}\n  - a: {tanh: h}\n  - z: {dot: [a, v]}\n", {"w", "v"});
    CHECK(made.value("h.grad").type.logical == std::vector<std::string>{"rows", "inner"});
    CHECK(made.value("h.grad").span == made.value("h").span);
    CHECK(made.graph.value(made.gradients[0]).name == "h.grad.einsum");
    CHECK(made.graph.value(made.gradients[0]).type == made.value("w").type);
    CHECK(made.graph.value(made.gradients[1]).type == made.value("v").type);
}

TEST_CASE("only what lies between the loss and the values asked for has a cotangent") {
    const Differentiated made = differentiated("  - h: {dot: [x, w]}\n  - a: {tanh: h}\n  - z: {dot: [a, v]}\n", {"v"});
    CHECK(find_value(made.graph, "z.grad").has_value());
    CHECK(!find_value(made.graph, "a.grad"));
    CHECK(!find_value(made.graph, "h.grad"));
}

TEST_CASE("a value that the loss does not depend on has zeros") {
    const Differentiated made = differentiated("  - z: {dot: [x, w]}\n", {"w", "b"});
    const Node& node = made.graph.node(made.graph.value(made.gradients[1]).producer);
    CHECK(node.op()->name == "constant");
    CHECK(node.attributes().numbers("value") == std::vector<double>{0});
    CHECK(made.graph.value(made.gradients[1]).type.shape == Shape{16});
}

TEST_CASE("gradients are distinct values, even where they are equal") {
    const Differentiated made = differentiated("  - s: {add: [b, c]}\n  - z: {mul: [x, s]}\n", {"b", "c", "b"});
    CHECK(made.gradients[0] != made.gradients[1]);
    CHECK(made.gradients[0] != made.gradients[2]);
}

TEST_CASE("the backward pass keeps what a hand-written one would, and computes pointwise chains again") {
    const auto kept = [](const std::string& op) {
        return differentiated(fmt::format("  - h: {{dot: [x, w]}}\n  - a: {{{}}}\n  - z: {{dot: [a, v]}}\n", op),
                              {"w", "v", "b", "c"})
            .kept();
    };
    CHECK(kept("relu: h") == "a");
    CHECK(kept("tanh: h") == "a");
    CHECK(kept("gelu: h") == "h a");
    CHECK(kept("gelu: h, approximate: false") == "h a");
    CHECK(kept("silu: h") == "h a");
    CHECK(kept("softmax: h") == "a");
    CHECK(kept("log_softmax: h") == "a");
    CHECK(kept("rms_norm: [h, b]") == "h a.rms_norm.rsqrt a");
    CHECK(kept("layer_norm: [h, b, c]") == "a.layer_norm.sub a.layer_norm.rsqrt a");
}

TEST_CASE("the steps of a composite have gradients where they are read from outside or asked for") {
    const Differentiated whole = differentiated("  - z: {softmax: x}\n", {"x"});
    CHECK(!find_value(whole.graph, "z.softmax.exp.grad"));
    const Differentiated read =
        differentiated("  - a: {softmax: x}\n  - e: {neg: a.softmax.exp}\n  - z: {add: [a, e]}\n", {"x"});
    CHECK(find_value(read.graph, "a.softmax.exp.grad").has_value());
    CHECK(!find_value(read.graph, "a.softmax.reduce_sum.grad"));
    const Differentiated asked = differentiated("  - z: {softmax: x}\n", {"z.softmax.exp"});
    CHECK(find_value(asked.graph, "z.softmax.reduce_sum.grad").has_value());
}

} // namespace shard
