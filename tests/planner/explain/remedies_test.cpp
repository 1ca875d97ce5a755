#include "planner/explain/changes.h"
#include "planner/explain/remedies.h"

#include "planner/pipeline/pipeline.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {
namespace {

struct Remedies {
    std::vector<CollectiveReport> collectives;
    std::vector<std::string> remedies;
};

Remedies remedies_of(const std::string& layout) {
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add("model.yaml", R"(model: dot_relu_dot
axes: {batch: 64, embed: 1024, hidden: 1024}
inputs:
  x: {axes: [batch, embed]}
params:
  w1: {axes: [embed, hidden]}
  w2: {axes: [hidden, embed]}
graph:
  - h: {dot: [x, w1]}
  - a: {relu: h}
  - z: {dot: [a, w2]}
outputs: [z]
)");
    request.layout_file = sources.add("layout.yaml", layout);
    const Compilation compilation = compile(sources, request);
    REQUIRE(compilation.plan);
    return {compilation.plan->report.collectives, find_remedies(compilation, sources, request)};
}

} // namespace

TEST_CASE("a remedy is an edit that was tried, with its effect on the whole plan") {
    // What a device computes stays the same if the weights are not split by rows over the axis that splits the batch.
    const Remedies found = remedies_of("mesh: {data: 8}\nrules:\n  - {batch: data}\n  - {embed: data}\n");
    REQUIRE_FALSE(found.collectives.empty());
    REQUIRE(found.remedies.size() == found.collectives.size());
    bool any = false;
    for (const std::string& remedy : found.remedies) {
        any = any || !remedy.empty();
        CHECK((remedy.empty() || remedy.find(": step -") != std::string::npos));
    }
    CHECK(any);
}

TEST_CASE("of a change with which rules begin to depend on their semantics, these are said too") {
    const auto layout_of = [](const std::string& rules) {
        Sources sources;
        PlanRequest request;
        request.model_file =
            sources.add("model.yaml", "model: m\naxes: {batch: 8, embed: 8}\ninputs: {x: {axes: [batch, "
                                      "embed]}}\ngraph:\n  - y: {tanh: x}\noutputs: [y]\n");
        request.layout_file = sources.add("layout.yaml", "mesh: {data: 2}\nrules: " + rules + "\n");
        return compile(sources, request);
    };
    const Compilation one = layout_of("[{batch: data}]"), both = layout_of("[{batch: data}, {embed: data}]");
    REQUIRE(one.plan);
    REQUIRE(both.plan);
    // Linen gives x's first dim the axis, nnx an error: W0306.
    CHECK(text_of({"{embed: data}", *both.layout}, one) == "{embed: data}, with `semantics: linen`");
    CHECK(text_of({"{embed: data}", *both.layout}, both) == "{embed: data}"); // it is so without the change
    CHECK(text_of({"without it", *one.layout}, both) == "without it");
    Layout said = *both.layout;
    said.semantics_written = true;
    CHECK(text_of({"{embed: data}", said}, one) == "{embed: data}");
}

TEST_CASE("of rules on one line those that are spoken of are tried first") {
    std::vector<Change> changes;
    for (const int column : {5, 20, 40}) changes.push_back({"rule", {}, {}, {0, 2, column, 10}});
    changes.push_back({"on another line", {}, {}, {0, 3, 20, 10}});
    const std::vector<Span> named = {{0, 2, 20, 10}};
    keep_most_promising(changes, 2, named);
    REQUIRE(changes.size() == 2);
    CHECK(changes[0].place.column == 20);
    CHECK(changes[1].place.column == 5); // the same line still says more than another
}

TEST_CASE("data parallelism is never switched off") {
    // Without it the collectives are gone and every device does all of the work.
    const Remedies found = remedies_of("mesh: {data: 8}\nrules: [{hidden: data}]\n");
    REQUIRE_FALSE(found.collectives.empty());
    for (const std::string& remedy : found.remedies) CHECK(remedy.find("without the rule") == std::string::npos);
}

TEST_CASE("where no edit helps there is no remedy, and no collective asks for none") {
    const Remedies none = remedies_of("mesh: {data: 8}\nrules: [{batch: data}]\n");
    CHECK(none.collectives.empty());
    CHECK(none.remedies.empty());
}

TEST_CASE("of a plan that does not fit, what takes less memory is a remedy though it takes longer") {
    Sources sources;
    PlanRequest request;
    request.mode = "train";
    request.model_file = sources.add("model.yaml", R"(model: wide
axes: {batch: 8, embed: 32768, hidden: 65536}
inputs: {x: {axes: [batch, embed]}}
params: {w1: {axes: [embed, hidden]}}
graph: [{h: {dot: [x, w1]}}]
outputs: [h]
train: {loss: {mean: h}, optimizer: {adam: {learning_rate: 0.01}}}
)");
    request.layout_file = sources.add("layout.yaml", "mesh: {data: 8}\nrules: [{batch: data}]\nhardware: tpu-v5e\n");
    const Compilation compilation = compile(sources, request);
    REQUIRE(compilation.plan);
    const Report& report = compilation.plan->report;
    REQUIRE(report.memory.peak > report.memory.capacity);
    const std::vector<std::string> remedies = find_remedies(compilation, sources, request);
    for (size_t i = 0; i < remedies.size(); ++i)
        if (report.collectives[i].tensor == "w1.grad")
            CHECK(remedies[i].starts_with("fsdp: {axis: data} in the layout: step "));
}

} // namespace shard
