// Of many equal layers, written out, few are looked at: the plan is the one of all.
#include "planner/pipeline/spread_on_few.h"

#include "planner/pipeline/layer_map.h"
#include "planner/pipeline/passes.h"
#include "planner/pipeline/pipeline.h"
#include "plans/disk/file.h"
#include "plans/plan/plan_difference.h"
#include "tests/support/prove.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "test_paths.h"

namespace shard {

namespace {

void spread_all(Compilation& c, const PlanRequest&, Sources&) {
    c.partitioned = spread_jointly(*c.graph, *c.seeds, *c.propagation, *c.layout, decisions_of(c));
}

std::span<const PassDef> passes_with(void (*spread)(Compilation&, const PlanRequest&, Sources&),
                                     std::vector<PassDef>& of) {
    of.assign(all_passes().begin(), all_passes().end());
    for (PassDef& pass : of)
        if (pass.name == "spread") pass.run = spread;
    return of;
}

std::string example(const std::string& name) {
    std::string problem;
    std::string text = read_file(SHARDC_SOURCE_DIR "/examples/" + name + "/model.yaml", problem).value_or("");
    for (const std::string scan : {", scan: true"})
        for (size_t at = text.find(scan); at != std::string::npos; at = text.find(scan)) text.erase(at, scan.size());
    return text;
}

struct Planned {
    std::string difference; // of the plan by few from the plan by all
    bool is_by_few = false;
};

Planned planned(const std::string& model, const std::string& layout, const std::string& mode = "train") {
    Planned made;
    std::vector<Plan> plans;
    for (const bool of_all : {false, true}) {
        std::vector<PassDef> own;
        Sources sources;
        PlanRequest request;
        request.model_file = sources.add("model.yaml", model);
        request.layout_file = sources.add("layout.yaml", layout);
        request.mode = mode;
        if (of_all) request.passes = passes_with(spread_all, own);
        Compilation begun;
        run_passes(begun, passes_before("spread", request), request, sources);
        INFO(text_of(sources, begun.diagnostics));
        REQUIRE(begun.propagation.has_value());
        if (!of_all) made.is_by_few = spread_as_few(begun, request, sources).has_value();
        const Compilation c = compile(sources, request);
        INFO(text_of(sources, c.diagnostics));
        REQUIRE(c.plan.has_value());
        plans.push_back(*c.plan);
    }
    made.difference = first_difference(plans[0], plans[1]);
    return made;
}

const std::string tensor = "mesh: {data: 2, model: 4}\nmissing_axes: ignore\ndivisibility: pad\n"
                           "rules: [{batch: data}, {heads: model}, {kv_heads: model}, {mlp: model}, {vocab: model}]\n";

} // namespace

TEST_CASE("many layers that are written out are planned as few of them, with the same plan") {
    const std::string llama = example("llama3"), gpt2 = example("gpt2");
    for (const std::string& model : {llama, gpt2})
        for (const std::string& layout :
             {tensor, tensor + "fsdp: {axis: data}\nhardware: h100\n", tensor + "hardware: b200\nprefer: compute\n",
              tensor + "hardware: tpu-v5p\nprefer: bytes\n"}) {
            CAPTURE(layout);
            const Planned made = planned(model, layout);
            CHECK(made.is_by_few);
            CHECK(made.difference == "");
        }
}

TEST_CASE("layers of which one is another, and layers that are few, are planned as they are") {
    const std::string llama = example("llama3");
    CHECK(planned(llama, tensor + "params: {llama_block.17.w_up: [~, ~]}\n").is_by_few == false);
    std::string six = llama;
    six.replace(six.find("times: 32"), 9, "times: 6");
    CHECK(planned(six, tensor).is_by_few == false);
    // Said of a layer, though it is what it would be without.
    CHECK(planned(llama, tensor + "values: {llama_block.1.h: [data, ~, model]}\n").is_by_few == false);
    CHECK(planned(llama, tensor + "prefer: memory\n").is_by_few == false);
}

TEST_CASE("a layer's values are like those of the first, the last, or the one between") {
    const auto graph_of = [](const std::vector<std::string>& names) {
        Graph graph;
        for (const std::string& name : names) {
            Value value;
            value.name = name;
            graph.values.push_back(std::move(value));
        }
        return graph;
    };
    const auto in_few = [&](const std::vector<std::string>& all, const std::vector<std::string>& few) {
        return values_in_few(graph_of(all), graph_of(few));
    };
    CHECK(in_few({"x", "b.0.h", "b.1.h", "b.2.h", "b.3.h"}, {"x", "b.0.h", "b.1.h", "b.2.h"}) ==
          std::vector<ValueId>{0, 1, 2, 2, 3});
    CHECK(in_few({"a.0.b.0.h", "a.0.b.1.h", "a.1.b.0.h", "a.1.b.1.h"},
                 {"a.0.b.0.h", "a.0.b.1.h", "a.1.b.0.h", "a.1.b.1.h"}) == std::vector<ValueId>{0, 1, 2, 3});
    CHECK(in_few({"a.0.h", "a.1.h", "a.2.h", "a.3.h", "a.3.y"}, {"a.0.h", "a.1.h", "a.2.h"}) ==
          std::vector<ValueId>{0, 1, 1, 2, -1});
}

} // namespace shard
