// Plans in which values take over the bytes of the inputs that they replace. What land makes of graphs is in
// tests/cases/passes/land.md.
#include "planner/optimize/in_place.h"
#include "planner/schedule/schedule.h"
#include "plans/plan/verify_plan.h"
#include "tests/support/local_graph.h"
#include "tests/support/sample_plan.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

using Words = std::vector<std::string>;

std::string verdict(const Plan& plan) {
    Diagnostics diagnostics;
    return verify_plan(plan, diagnostics) ? "fine" : diagnostics.all().front().message;
}

Plan planned(LocalGraph& g) {
    land_updates(g.local());
    Plan plan = schedule(g.local(), g.mesh());
    CHECK(verdict(plan) == "fine");
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

// One step of SGD with momentum: m.next = m + g, w.next = w - m.next, and g = x + w.
struct Momentum {
    LocalGraph g{mesh_of({})};
    ValueId x = g.input("x", {64}), w = g.input("w", {64}, "", Role::param), m = g.input("m", {64}, "", Role::state);
    ValueId grad = g.pointwise("g", ScalarOp::add, {x, w});
    ValueId m_new = g.pointwise("m.next", ScalarOp::add, {m, grad});
    ValueId w_new = g.pointwise("w.next", ScalarOp::sub, {w, m_new});
};

} // namespace

TEST_CASE("updates: an element-wise update is computed in the bytes of the input") {
    Momentum s;
    s.g.update(s.w, s.w_new);
    s.g.update(s.m, s.m_new);
    Plan plan = planned(s.g);
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
    CHECK(verdict(plan) == "fine");
    CHECK(named(plan, "w.next").alias_of == named(plan, "w").id);
    CHECK(named(plan, "m.next").alias_of == named(plan, "m").id);
    CHECK(named(plan, "count.next").alias_of == named(plan, "count").id);
    CHECK(output(plan, "u").buffer == named(plan, "u.next.copied").id); // `late` reads u after u.next is there
}

TEST_CASE("updates: a collective that sends the old contents is over before they are overwritten") {
    LocalGraph g(mesh_of({{"m", 4}}));
    const ValueId w = g.input("w", {16}, "[m]", Role::param);
    const ValueId whole = g.all_gather("whole", {"m"}, 0, w);
    g.update(w, g.pointwise("w.next", ScalarOp::neg, {w}));
    g.output(g.pointwise("z", ScalarOp::neg, {whole}));
    Plan plan = planned(g);
    CHECK(step_words(plan) == Words{"start whole(w)", "wait whole", "w.next(w)", "z(whole)"});
    CHECK(named(plan, "z").alias_of == named(plan, "whole").id);
}

TEST_CASE("verify_plan: an output that updates an input is in its bytes, and no other is given away") {
    const auto with = [](const std::function<void(Plan&)>& change) {
        Plan plan = updating_plan();
        change(plan);
        return verdict(plan);
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
