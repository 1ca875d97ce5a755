#include "planner/explain/tensor_names.h"
#include "planner/explain/tensor_remedies.h"
#include "planner/pipeline/pipeline.h"

#include <doctest/doctest.h>

namespace shard {
namespace {

struct Case {
    Sources sources;
    PlanRequest request;
    Compilation compilation;
};

// README's: a batch over data, the hidden dim over model, so that the last product is a partial sum.
Case compiled() {
    Case c;
    c.request.model_file = c.sources.add("model.yaml", R"(model: dot_relu_dot
axes: {batch: 8, embed: 1024, hidden: 1024}
inputs:
  x: {axes: [batch, embed]}
params:
  w1: {axes: [embed, hidden]}
  w2: {axes: [hidden, embed]}
graph:
  - h: {dot: [x, w1]}
  - a: {relu: h}
  - a: {constrain: a, axes: [batch, hidden]}
  - z: {dot: [a, w2]}
outputs: [z]
)");
    c.request.layout_file = c.sources.add("layout.yaml", R"(mesh: {data: 2, model: 4}
rules:
  - {batch: data}
  - {hidden: model}
)");
    c.compilation = compile(c.sources, c.request);
    REQUIRE(c.compilation.plan);
    return c;
}

Explanation explained(const Case& c, const std::string& name) {
    const std::vector<const TensorReport*> rows = find_tensors(c.compilation, name);
    REQUIRE(rows.size() == 1);
    Explanation out = explain_as_planned(c.compilation, c.sources, *rows.front());
    add_remedies({&out, 1}, c.compilation, c.sources, c.request);
    return out;
}

} // namespace

TEST_CASE("an axis is explained back to the line that asked for it, as it is written") {
    const Explanation z = explained(compiled(), "z");
    REQUIRE(z.dims.size() == 2);
    CHECK(z.dims[0].name == "dim 0 batch");
    REQUIRE(z.dims[0].axes.size() == 1);
    const std::vector<Because>& chain = z.dims[0].axes[0].chain;
    REQUIRE(chain.size() == 2);
    CHECK(chain[0].cause == Decision::Cause::propagation);
    CHECK(chain[0].from == "a#2");
    CHECK(chain[0].through == "dot");
    CHECK(chain[1].cause == Decision::Cause::constraint);
    CHECK(chain[1].source == SourceRef{"layout.yaml", 3, 6});
    CHECK(chain[1].excerpt == "- {batch: data}");
    CHECK(z.dims[1].axes.empty());
    CHECK(z.dims[1].whole == "nothing splits it");
}

TEST_CASE("before a constraint a value is kept as that asks, and its op makes it as it can") {
    Case c;
    c.request.model_file = c.sources.add("model.yaml", R"(model: m
axes: {batch: 8, embed: 64, hidden: 64}
inputs: {x: {axes: [batch, embed]}}
params: {w: {axes: [embed, hidden]}}
graph:
  - h: {dot: [x, w]}
  - h: {constrain: h, axes: [batch, ~]}
outputs: [h]
)");
    c.request.layout_file = c.sources.add("layout.yaml", "mesh: {data: 2, model: 4, unit: 1}\n"
                                                         "rules: [{batch: data}, {hidden: model}, {embed: ~}]\n");
    c.compilation = compile(c.sources, c.request);
    REQUIRE(c.compilation.plan);
    const Explanation h = explained(c, "h#1");
    REQUIRE(h.dims.size() == 2);
    CHECK(h.dims[1].axes.empty());
    CHECK(h.dims[1].whole == "the constraint at model.yaml:7 asks for it whole; dot makes it split over model");
    REQUIRE(h.ways.size() == 1);
    CHECK(text(c.compilation.plan->mesh, h.ways[0].from) == "[data | model]");
}

TEST_CASE("what would help is found by planning again, best first") {
    const Explanation z = explained(compiled(), "z");
    CHECK(z.as_it_is.kinds == std::map<std::string, i64>{{"all_reduce", 1}});
    // 2 * 3/4 of the (4, 1024) floats that a device has
    CHECK(z.as_it_is.touching_bytes == 2 * 3 * 4096);
    REQUIRE_FALSE(z.remedies.empty());
    CHECK(z.remedies[0].change == "without the rule {hidden: model} at layout.yaml:4");
    CHECK(z.remedies[0].touching == 0);
    CHECK(kind_changes(z.remedies[0], z.as_it_is) == std::map<std::string, i64>{{"all_reduce", -1}});
}

TEST_CASE("a bare name is the last of its bindings, a row's name its own") {
    const Case c = compiled();
    const Graph& graph = *c.compilation.graph;
    const std::vector<const TensorReport*> rows = find_tensors(c.compilation, "a");
    REQUIRE(rows.size() == 1);
    CHECK(rows[0]->name == "a#2");
    CHECK(graph.value(*value_of(graph, "a#2", Role::value)).name == "a#2");
    CHECK(value_of(graph, "a", Role::value) == find_value(graph, "a#1"));
    CHECK(value_of(graph, "a", Role::value) != find_value(graph, "a"));
    CollectiveReport collective;
    collective.tensor = "a#2";
    CHECK(touches(collective, "a"));
    CHECK(touches(collective, "a#1"));
    CHECK_FALSE(touches(collective, "ab"));
    CHECK(find_tensors(c.compilation, "nothing").empty());
    CHECK(find_tensors(c.compilation, "w?").size() == 2);
}

TEST_CASE("what is gathered of a parameter is its cast, and explaining the parameter says so") {
    Case c;
    c.request.model_file = c.sources.add("model.yaml", R"(model: cast
axes: {batch: 1024, embed: 64, hidden: 64}
inputs: {x: {axes: [batch, embed], dtype: bf16}}
params: {w: {axes: [embed, hidden]}}
graph:
  - half: {cast: w, dtype: bf16}
  - y: {dot: [x, half]}
outputs: [y]
)");
    c.request.layout_file = c.sources.add("layout.yaml", R"(mesh: {data: 4}
rules: [{batch: data}]
params: {w: [data, ~]}
)");
    c.compilation = compile(c.sources, c.request);
    REQUIRE(c.compilation.plan);
    const Explanation of_w = explain_as_planned(c.compilation, c.sources, *find_tensors(c.compilation, "w").front());
    CHECK(of_w.collectives.empty());
    CHECK(of_w.for_made_of_it == std::vector<std::string>{"all_gather of half"});
    CHECK(
        explain_as_planned(c.compilation, c.sources, *find_tensors(c.compilation, "x").front()).for_made_of_it.empty());
}

} // namespace shard
