// Plans in which values take over the bytes of the inputs that they replace. What land makes of graphs is in
// tests/cases/passes/land.md.
#include "planner/optimize/in_place.h"
#include "planner/partition/local.h"
#include "planner/schedule/schedule.h"
#include "plans/file/plan_json.h"
#include "tests/support/local_graph.h"
#include "tests/support/plan_verdict.h"
#include "tests/support/read_graph.h"
#include "tests/support/sample_plan.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

using Words = std::vector<std::string>;

Plan planned(const std::string& text) {
    const GraphState state = read_graph(text);
    Local local{state.graph, state.value_of};
    land_updates(local);
    Plan plan = schedule(local, state.mesh);
    CHECK(first_problem(plan) == "fine");
    return plan;
}

Buffer& named(Plan& plan, const std::string& name) {
    for (Buffer& buffer : plan.buffers)
        if (buffer.name == name) return buffer;
    FAIL("no buffer " << name);
    return plan.buffers.front();
}

PlanOutput& output(Plan& plan, const std::string& name) {
    for (PlanOutput& output : plan.outputs)
        if (output.name == name) return output;
    FAIL("no output " << name);
    return plan.outputs.front();
}

} // namespace

TEST_CASE("updates: an element-wise update is computed in the bytes of the input") {
    Plan plan = planned(R"(local graph on {}
input   x: f32 (64) [-] = 1
param   w: f32 (64) [-] = 1
state   m: f32 (64) [-] = 1
g: f32 (64) [-] = add x, w
m.next: f32 (64) [-] = add m, g
w.next: f32 (64) [-] = sub w, m.next
output  w = w.next
output  m = m.next
update  w = w.next
update  m = m.next
)");
    CHECK(step_words(plan) == Words{"g(x, w)", "m.next(m, g)", "release g", "w.next(w, m.next)"});
    CHECK(output(plan, "w").buffer == named(plan, "w.next").id);
    CHECK(output(plan, "w").updates == named(plan, "w").id);
    CHECK(named(plan, "w").donated);
    CHECK_FALSE(named(plan, "x").donated);
    CHECK(named(plan, "w.next").alias_of == named(plan, "w").id);
    CHECK_FALSE(named(plan, "w.next").view);
    CHECK(named(plan, "m.next").role == Role::state);
    CHECK(plan.peak_bytes == 4 * 64 * 4); // x, w, m and the gradient
}

TEST_CASE("updates: a gathered parameter lands in its bytes, and is waited for at the end") {
    Plan plan = updating_plan();
    CHECK(first_problem(plan) == "fine");
    CHECK(named(plan, "w.next").alias_of == named(plan, "w").id);
    CHECK(named(plan, "m.next").alias_of == named(plan, "m").id);
    CHECK(named(plan, "count.next").alias_of == named(plan, "count").id);
    CHECK(output(plan, "u").buffer == named(plan, "u.next.copied").id); // `late` reads u after u.next is there
}

TEST_CASE("updates: a collective that sends the old contents is over before they are overwritten") {
    Plan plan = planned(R"(local graph on {m: 4}
param   w: f32 (16) of (64,) [m] = 1
whole: f32 (64) [-] = all_gather over m (dim 0) of w
w.next: f32 (16) of (64,) [m] = neg w
z: f32 (64) [-] = neg whole
output  w = w.next
output  z
update  w = w.next
)");
    CHECK(step_words(plan) == Words{"start whole(w)", "wait whole", "w.next(w)", "z(whole)"});
    CHECK(named(plan, "z").alias_of == named(plan, "whole").id);
}

TEST_CASE("check of a plan: an output that updates an input is in its bytes, and no other is given away") {
    const auto with = [](const std::function<void(Plan&)>& change) {
        Plan plan = updating_plan();
        change(plan);
        return first_problem(plan);
    };
    const Plan good = updating_plan();
    CHECK(with([](Plan&) {}) == "fine");
    CHECK(with([](Plan& p) { output(p, "w").updates = output(p, "late").buffer; }) ==
          "outputs[1]: updates what is not an input");
    CHECK(with([](Plan& p) { output(p, "w").updates = -2; }) == "outputs[1]: updates what is not an input");
    CHECK(with([](Plan& p) { output(p, "w").buffer = output(p, "late").buffer; }) ==
          "outputs[1]: updates 'w', but is not written into its bytes");
    CHECK(with([](Plan& p) { named(p, "w.next").sharding.replicated = {{0, 1, 2}}; }) == "fine"); // the same layout
    CHECK(with([](Plan& p) { named(p, "w").donated = false; }) == "outputs[1]: updates 'w', which is not given away");
    CHECK(with([](Plan& p) { output(p, "w").updates = -1; }) == "buffers[1] 'w': given away, but no output updates it");
    CHECK(with([](Plan& p) { named(p, "x").donated = true; }) ==
          "buffers[0] 'x': given away, but no output updates it");
    CHECK(with([](Plan& p) {
              p.outputs.push_back(output(p, "w"));
              p.outputs.back().name = "again";
          }) == "outputs[7]: two outputs update one input");
    // `late` reads u: after u.next was copied there, u is gone.
    CHECK(with([](Plan& p) {
              const size_t last = p.steps.size() - 1;
              for (size_t i = 0; i < last; ++i) {
                  const Compute* compute = std::get_if<Compute>(&p.steps[i].variant_ref());
                  if (compute != nullptr && compute->output == named(p, "late").id)
                      std::swap(p.steps[i], p.steps[i + 1]);
              }
          }).ends_with("reads 'u' before it holds a value"));
}

TEST_CASE("plan file: what an output updates is kept") {
    const Plan plan = updating_plan();
    Diagnostics diagnostics;
    const std::optional<Plan> parsed = parse_plan(print_plan(plan), diagnostics);
    CHECK(words(diagnostics) == Words{});
    REQUIRE(parsed);
    CHECK(*parsed == plan);
}
