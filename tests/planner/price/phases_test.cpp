#include "planner/price/phases.h"

#include "planner/explain/when.h"
#include "planner/pipeline/pipeline.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {
namespace {

// "kind tensor phase", a line per collective of a train step.
std::vector<std::string> phases_of(const std::string& layout, const std::string& train = "") {
    Sources sources;
    PlanRequest request;
    request.mode = "train";
    request.model_file = sources.add("model.yaml", R"(model: two_layers
axes: {batch: 8, in: 16, hidden: 32, out: 16}
inputs: {x: {axes: [batch, in]}, target: {axes: [batch, out]}}
params:
  w1: {axes: [in, hidden]}
  w2: {axes: [hidden, out]}
graph:
  - h: {dot: [x, w1]}
  - a: {tanh: h}
  - y: {dot: [a, w2]}
outputs: [y]
train:
  loss: {mse: [y, target]}
  optimizer: {adam: {learning_rate: 0.01}}
)" + train);
    request.layout_file = sources.add("layout.yaml", "mesh: {data: 2}\nrules: [{batch: data}]\n" + layout);
    const Compilation compilation = compile(sources, request);
    REQUIRE(compilation.plan);
    std::vector<std::string> out;
    const std::vector<CollectiveReport>& collectives = compilation.plan->report.collectives;
    const std::vector<When> when = when_collectives_run(compilation);
    REQUIRE(when.size() == collectives.size());
    double exposed = 0;
    for (size_t i = 0; i < when.size(); ++i) {
        out.push_back(fmt::format("{} {} {}", collectives[i].kind, collectives[i].tensor, name(when[i].phase)));
        CHECK(when[i].exposed_seconds <= collectives[i].seconds * (1 + 1e-9));
        exposed += when[i].exposed_seconds;
    }
    CHECK(exposed == doctest::Approx(compilation.plan->report.time.exposed_communication_seconds));
    std::sort(out.begin(), out.end());
    return out;
}

using Lines = std::vector<std::string>;

} // namespace

TEST_CASE("gradients are reduced in the backward pass, the loss in the forward pass") {
    CHECK(phases_of("") ==
          Lines{"all_reduce loss forward", "all_reduce w1.grad backward", "all_reduce w2.grad backward"});
}

TEST_CASE("a parameter is gathered for each pass, and a new one in the update") {
    CHECK(phases_of("fsdp: {axis: data, min_size: 1}\n") ==
          Lines{"all_gather w1 forward", "all_gather w2 backward", "all_gather w2 forward", "all_reduce loss forward",
                "reduce_scatter w1.grad backward", "reduce_scatter w2.grad backward"});
    CHECK(phases_of("states: {\"*.mu\": [data, ~], \"*.nu\": [data, ~]}\ngradients: {\"*\": [data, ~]}\n") ==
          Lines{"all_gather w1.new update", "all_gather w2.new update", "all_reduce loss forward",
                "reduce_scatter w1.grad backward", "reduce_scatter w2.grad backward"});
}

TEST_CASE("gradients that are added up over microbatches are reduced in the backward pass") {
    CHECK(phases_of("", "  microbatches: 2\n") ==
          Lines{"all_reduce loss backward", "all_reduce w1.grad backward", "all_reduce w2.grad backward"});
}

TEST_CASE("a forward pass alone is all forward") {
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add("model.yaml", R"(model: m
inputs: {x: {shape: [8, 8], mesh: [~, data]}, w: {shape: [8, 8], mesh: [data, ~]}}
graph: [{y: {dot: [x, w]}}]
outputs: [y]
)");
    request.layout_file = sources.add("layout.yaml", "mesh: {data: 2}\n");
    const Compilation compilation = compile(sources, request);
    REQUIRE(compilation.plan);
    REQUIRE(compilation.plan->report.collectives.size() == 1);
    CHECK(when_collectives_run(compilation).at(0).phase == Phase::forward);
    CHECK(compilation.plan->report.collectives[0].cause ==
          "the contraction over dim 1 of x is split over data, so each device holds a partial sum");
    CHECK(compilation.plan->report.collectives[0].remedy == "");
}

} // namespace shard
