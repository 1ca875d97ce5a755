// Where an optimizer's steps stand.
#include "planner/optimize/in_place.h"
#include "planner/optimize/order_updates.h"
#include "planner/schedule/schedule.h"
#include "plans/plan/verify_plan.h"
#include "tests/support/local_graph.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

using Words = std::vector<std::string>;

// The gradients of w2 and w1, in this order, and SGD after both; each gradient is a sum over x's rows.
struct Backward {
    explicit Backward(Mesh mesh) : g(std::move(mesh)) {}

    ValueId gradient(const std::string& name, ValueId of, bool is_partial) {
        const ValueId id = g.node(name, Reduce{{0}, ReduceOp::sum}, {of}, {64}, is_partial ? "[-] U{data}" : "");
        g.local().graph.value(id).role = Role::gradient;
        return id;
    }
    ValueId all_reduce(const std::string& name, ValueId partial) {
        const ValueId id = g.all_reduce(name, {"data"}, partial);
        g.local().graph.value(id).role = Role::gradient;
        return id;
    }
    ValueId sgd(const std::string& name, ValueId w, ValueId grad) {
        return g.pointwise(name, ScalarOp::sub, {w, grad});
    }
    Plan planned() {
        order_updates(g.local());
        land_updates(g.local());
        Plan plan = schedule(g.local(), g.mesh());
        Diagnostics diagnostics;
        verify_plan(plan, diagnostics);
        CHECK(words(diagnostics) == Words{});
        return plan;
    }

    LocalGraph g;
    ValueId x = g.input("x", {8, 64});
    ValueId w1 = g.input("w1", {64}, "", Role::param), w2 = g.input("w2", {64}, "", Role::param);
};

} // namespace

TEST_CASE("order of updates: a parameter is updated as soon as its gradient is there, so that one gradient is alive") {
    Backward s(mesh_of({}));
    const ValueId g2 = s.gradient("g2", s.x, false);
    const ValueId g1 = s.gradient("g1", s.x, false);
    s.g.update(s.w1, s.sgd("w1'", s.w1, g1));
    s.g.update(s.w2, s.sgd("w2'", s.w2, g2));
    const Plan plan = s.planned();
    CHECK(step_words(plan) == Words{"g2(x)", "w2'(w2, g2)", "release g2", "g1(x)", "w1'(w1, g1)", "release g1"});
    CHECK(plan.peak_bytes == (8 + 1 + 1 + 1) * 64 * 4);
}

TEST_CASE("order of updates: a reduced gradient is waited for when the next one's reduction is under way") {
    Backward s(mesh_of({{"data", 2}}));
    const ValueId g2 = s.gradient("g2.partial", s.x, true);
    const ValueId back = s.g.pointwise("back", ScalarOp::neg, {s.x});
    const ValueId g1 = s.gradient("g1.partial", back, true);
    s.g.update(s.w1, s.sgd("w1'", s.w1, s.all_reduce("g1", g1)));
    s.g.update(s.w2, s.sgd("w2'", s.w2, s.all_reduce("g2", g2)));
    CHECK(step_words(s.planned()) == Words{"g2.partial(x)", "start g2(g2.partial)", "back(x)", "g1.partial(back)",
                                           "release back", "start g1(g1.partial)", "wait g2", "w2'(w2, g2)",
                                           "release g2.partial", "wait g1", "w1'(w1, g1)", "release g1.partial"});
}

TEST_CASE("order of updates: never past a reader of the old parameter, views included") {
    Backward s(mesh_of({}));
    const ValueId g2 = s.gradient("g2", s.x, false);
    s.g.output(s.g.pointwise("z", ScalarOp::neg, {s.g.reshape("flat", s.w2, {64})}));
    s.g.update(s.w2, s.sgd("w2'", s.w2, g2));
    CHECK(step_words(s.planned()) == Words{"g2(x)", "z(flat)", "w2'(w2, g2)", "release g2"});
}

TEST_CASE("order of updates: what all gradients are needed for comes after them, a step count when it is needed") {
    Backward s(mesh_of({}));
    const ValueId count = s.g.input("count", {}, "", Role::state);
    const ValueId g2 = s.gradient("g2", s.x, false);
    const ValueId g1 = s.gradient("g1", s.x, false);
    const ValueId next = s.g.pointwise("count'", ScalarOp::add, {count, count});
    const ValueId both = s.g.pointwise("both", ScalarOp::add, {g1, g2});
    const auto scaled = [&](const char* name, ValueId of) {
        Pointwise kernel;
        kernel.input_dims = {{0}, {}};
        kernel.steps.resize(3);
        kernel.steps[0].args[0] = 0, kernel.steps[1].args[0] = 1;
        kernel.steps[2].op = ScalarOp::mul, kernel.steps[2].args = {0, 1, -1};
        return s.g.node(name, kernel, {of, next}, {64});
    };
    s.g.update(s.w1, s.sgd("w1'", s.w1, scaled("s1", both)));
    s.g.update(s.w2, s.sgd("w2'", s.w2, scaled("s2", g2)));
    s.g.update(count, next);
    CHECK(step_words(s.planned()) == Words{"g2(x)", "count'(count, count)", "s2(g2, count')", "w2'(w2, s2)",
                                           "release s2", "g1(x)", "both(g1, g2)", "release g2", "s1(both, count')",
                                           "w1'(w1, s1)", "release g1"});
}

TEST_CASE("order of updates: a graph without gradients keeps its order") {
    LocalGraph g(mesh_of({}));
    const ValueId a = g.input("a", {16}, "", Role::state), b = g.input("b", {16}, "", Role::state);
    const ValueId sum = g.pointwise("sum", ScalarOp::add, {a, b});
    g.update(a, g.pointwise("a'", ScalarOp::neg, {sum}));
    g.update(b, g.pointwise("b'", ScalarOp::neg, {a}));
    order_updates(g.local());
    land_updates(g.local());
    CHECK(step_words(schedule(g.local(), g.mesh())) ==
          Words{"sum(a, b)", "a'(sum)", "b'(a)", "a'.copied(a')", "release sum"});
}
