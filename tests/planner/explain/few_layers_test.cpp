#include "planner/explain/few_layers.h"

#include "planner/explain/remedies.h"
#include "planner/pipeline/pipeline.h"
#include "plans/base/units.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {
namespace {

constexpr const char* model = R"(model: many
axes: {{batch: 64, embed: 512, hidden: 2048}}
inputs: {{x: {{axes: [batch, embed]}}}}
modules:
  block:
    inputs: [x]
    params: {{up: {{axes: [embed, hidden]}}, down: {{axes: [hidden, embed]}}}}
    graph:
      - h: {{dot: [x, up]}}
      - h: {{relu: h}}
      - y: {{dot: [h, down]}}
      - y: {{add: [x, y]}}
    outputs: [y]
graph:
  - y: {{repeat: block, times: {}, in: x}}
  {}
outputs: [y]
)";

// The batch and the rows of `up` share an axis, so each layer gathers its weights: without the second rule none does.
constexpr const char* slow = "mesh: {data: 8}\nrules:\n  - {batch: data}\n  - {embed: data}\nhardware: h100\n";
constexpr const char* quick = "mesh: {data: 8}\nrules:\n  - {batch: data}\nhardware: h100\n";

struct Planned {
    Sources sources;
    PlanRequest request;
    Compilation all;

    Planned(i64 layers, const char* more, const char* layout) {
        request.model_file = sources.add("model.yaml", fmt::format(fmt::runtime(model), layers, more));
        request.layout_file = sources.add("layout.yaml", layout);
        all = compile(sources, request);
        REQUIRE(all.plan);
    }
    std::unique_ptr<FewLayers> few() const { return with_few_layers(all, sources, request); }
};

} // namespace

TEST_CASE("a model of many layers has one of few, on a device that it fills as much") {
    const Planned many(24, "", slow);
    const std::unique_ptr<FewLayers> few = many.few();
    REQUIRE(few);
    const auto weights = [](const Compilation& c) {
        return std::count_if(c.graph->inputs.begin(), c.graph->inputs.end(),
                             [&c](ValueId id) { return c.graph->value(id).role == Role::param; });
    };
    CHECK(weights(many.all) == 48);
    CHECK(weights(few->planned) == 6);
    const MemoryReport &all = many.all.plan->report.memory, &less = few->planned.plan->report.memory;
    CHECK(less.peak < all.peak);
    CHECK(static_cast<double>(less.peak) / static_cast<double>(less.capacity) ==
          doctest::Approx(static_cast<double>(all.peak) / static_cast<double>(all.capacity)));
}

TEST_CASE("without many layers, or where a late one is named, there is no model of few") {
    CHECK_FALSE(Planned(6, "", slow).few());
    CHECK_FALSE(Planned(24, "- late: {relu: block.20.h}", slow).few());
}

TEST_CASE("the remedy of many layers is what the edit does to all of them") {
    const Planned many(24, "", slow), edited(24, "", quick);
    REQUIRE(many.few());
    const std::vector<std::string> remedies = find_remedies(many.all, many.sources, many.request);
    REQUIRE_FALSE(remedies.empty());
    const double saved = many.all.plan->report.time.step_seconds - edited.all.plan->report.time.step_seconds;
    REQUIRE(saved > 0);
    for (const std::string& remedy : remedies)
        CHECK(remedy.starts_with("without the rule {embed: data} at layout.yaml:4: step -" + human_seconds(saved)));
}

} // namespace shard
