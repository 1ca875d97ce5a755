// What plans are checked against: a plan of one device that the passes have no part in which only make plans better.
#include "planner/pipeline/pipeline.h"
#include "plans/plan/plan.h"
#include "tests/support/prove.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace shard {
namespace {

// Element by element, so that each value could take the place of the one before.
Plan planned(bool unimproved) {
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add("model.yaml", "model: m\naxes: {a: 8, b: 8}\ninputs: {x: {axes: [a, b]}}\n"
                                                   "modules:\n"
                                                   "  half:\n"
                                                   "    inputs: [h]\n"
                                                   "    graph: [{h: {tanh: h}}, {h: {mul: [h, 0.5]}}]\n"
                                                   "    outputs: [h]\n"
                                                   "graph:\n"
                                                   "  - v: {sin: x}\n"
                                                   "  - s: {cumsum: v, dim: 0}\n"
                                                   "  - v: {add: [s, v]}\n"
                                                   "  - y: {repeat: half, times: 3, in: v, scan: true}\n"
                                                   "outputs: [y]\n");
    request.layout_file = sources.add("layout.yaml", "mesh: {d: 1}\nrules: []\n");
    request.unimproved = unimproved;
    const Compilation c = compile(sources, request);
    INFO(text_of(sources, c.diagnostics));
    REQUIRE(c.plan);
    return *c.plan;
}

// Buffers in the bytes of another, and not what a loop carries: its copies are made.
std::ptrdiff_t written_over(const Plan& plan) {
    return std::count_if(plan.buffers.begin(), plan.buffers.end(),
                         [](const Buffer& buffer) { return buffer.alias_of >= 0 && !buffer.view; });
}

} // namespace

TEST_CASE("a plan that others are checked against writes nothing over another value") {
    const Plan better = planned(false), plain = planned(true);
    CAPTURE(better.steps.size());
    CAPTURE(plain.steps.size());
    CAPTURE(written_over(better));
    CHECK(written_over(better) > 0);
    CHECK(written_over(plain) == 0);
}

} // namespace shard
