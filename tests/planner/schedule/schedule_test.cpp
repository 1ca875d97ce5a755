#include "planner/schedule/schedule.h"
#include "plans/plan/verify_plan.h"
#include "tests/support/local_graph.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

using Words = std::vector<std::string>;

Plan checked(const LocalGraph& g) {
    Plan plan = schedule(g.local(), g.mesh());
    Diagnostics diagnostics;
    verify_plan(plan, diagnostics);
    CHECK(words(diagnostics) == Words{});
    return plan;
}

const Buffer& named(const Plan& plan, const std::string& name) {
    for (const Buffer& buffer : plan.buffers)
        if (buffer.name == name) return buffer;
    FAIL("no buffer " << name);
    return plan.buffers.front();
}

} // namespace

TEST_CASE("schedule: a pointwise result takes over the bytes of an operand that is read for the last time") {
    LocalGraph g(mesh_of({}));
    const ValueId x = g.input("x", {64});
    const ValueId a = g.pointwise("a", ScalarOp::exp, {x});
    const ValueId b = g.pointwise("b", ScalarOp::neg, {a});
    g.output(g.pointwise("c", ScalarOp::add, {b, x}));
    const Plan plan = checked(g);
    CHECK(step_words(plan) == Words{"a(x)", "b(a)", "c(b, x)"});
    CHECK(named(plan, "a").alias_of == -1); // x is an input: it stays alive
    CHECK(named(plan, "b").alias_of == named(plan, "a").id);
    CHECK(named(plan, "c").alias_of == named(plan, "a").id);
    CHECK(plan.peak_bytes == 2 * 64 * 4); // x, and one buffer for the chain
}

TEST_CASE("schedule: an operand that is read again is not taken over") {
    LocalGraph g(mesh_of({}));
    const ValueId x = g.input("x", {64});
    const ValueId a = g.pointwise("a", ScalarOp::exp, {x});
    const ValueId b = g.pointwise("b", ScalarOp::neg, {a});
    g.output(g.pointwise("c", ScalarOp::add, {a, b}));
    const Plan plan = checked(g);
    CHECK(step_words(plan) == Words{"a(x)", "b(a)", "c(a, b)", "release b"});
    CHECK(named(plan, "b").alias_of == -1);
    CHECK(named(plan, "c").alias_of == named(plan, "a").id);
    CHECK(plan.peak_bytes == 3 * 64 * 4);
}

TEST_CASE("schedule: a broadcast or transposed operand is not taken over") {
    LocalGraph g(mesh_of({}));
    const ValueId x = g.input("x", {8, 8});
    const ValueId a = g.pointwise("a", ScalarOp::exp, {x});
    Pointwise transposed;
    transposed.input_dims = {{1, 0}};
    ScalarStep read;
    read.op = ScalarOp::input;
    read.args[0] = 0;
    transposed.steps = {read};
    g.output(g.node("t", transposed, {a}, {8, 8}));
    const Plan plan = checked(g);
    CHECK(named(plan, "t").alias_of == -1);
    CHECK(step_words(plan) == Words{"a(x)", "t(a)", "release a"});
}

TEST_CASE("schedule: a reshape is a view and no step") {
    LocalGraph g(mesh_of({}));
    const ValueId x = g.input("x", {8, 8});
    const ValueId a = g.pointwise("a", ScalarOp::exp, {x});
    const ValueId flat = g.reshape("flat", a, {64});
    const ValueId b = g.pointwise("b", ScalarOp::neg, {flat});
    g.output(g.reshape("c", b, {4, 16}));
    g.output(g.reshape("y", x, {64}));
    const Plan plan = checked(g);
    CHECK(step_words(plan) == Words{"a(x)", "b(flat)"});
    CHECK(named(plan, "flat").view);
    CHECK(named(plan, "b").alias_of == named(plan, "a").id); // in place, through the view
    CHECK(named(plan, "y").offset == named(plan, "x").offset);
    CHECK(plan.peak_bytes == 2 * 64 * 4);
}

TEST_CASE("schedule: a collective starts where it stands and is waited for before its first reader") {
    LocalGraph g(mesh_of({{"m", 4}}));
    const ValueId x = g.input("x", {4}, "[m]");
    const ValueId a = g.pointwise("a", ScalarOp::exp, {x});
    const ValueId whole = g.all_gather("whole", {"m"}, 0, a);
    const ValueId b = g.pointwise("b", ScalarOp::neg, {x});
    g.output(b);
    g.output(g.pointwise("c", ScalarOp::neg, {whole}));
    const Plan plan = checked(g);
    CHECK(step_words(plan) == Words{"a(x)", "start whole(a)", "b(x)", "wait whole", "release a", "c(whole)"});
}

TEST_CASE("schedule: what a collective sends stays until the wait, also if a step reads both ends") {
    LocalGraph g(mesh_of({{"m", 4}}));
    const ValueId x = g.input("x", {4});
    const ValueId a = g.pointwise("a", ScalarOp::exp, {x});
    const ValueId sum = g.all_reduce("sum", {"m"}, a);
    g.output(g.pointwise("c", ScalarOp::add, {a, sum}));
    const Plan plan = checked(g);
    CHECK(step_words(plan) == Words{"a(x)", "start sum(a)", "wait sum", "c(a, sum)", "release sum"});
}

TEST_CASE("schedule: what nobody reads is waited for and released where it stands") {
    LocalGraph g(mesh_of({{"m", 4}}));
    const ValueId x = g.input("x", {4});
    const ValueId a = g.pointwise("a", ScalarOp::exp, {x});
    g.all_reduce("sum", {"m"}, a); // in the bytes of a
    g.output(x);
    const Plan plan = checked(g);
    CHECK(step_words(plan) == Words{"a(x)", "start sum(a)", "wait sum", "release a"});
}

TEST_CASE("schedule: an all_reduce takes over the bytes of an operand that dies there") {
    LocalGraph g(mesh_of({{"m", 4}}));
    const ValueId x = g.input("x", {64});
    const ValueId a = g.pointwise("a", ScalarOp::exp, {x});
    const ValueId sum = g.all_reduce("sum", {"m"}, a);
    const ValueId b = g.pointwise("b", ScalarOp::neg, {sum});
    g.output(g.all_reduce("z", {"m"}, b));
    const Plan plan = checked(g);
    CHECK(step_words(plan) == Words{"a(x)", "start sum(a)", "wait sum", "b(sum)", "start z(b)", "wait z"});
    for (const char* name : {"sum", "b", "z"}) CHECK(named(plan, name).offset == named(plan, "a").offset);
    CHECK(plan.peak_bytes == 2 * 64 * 4); // x, and one buffer for all the others
}

TEST_CASE("schedule: an all_reduce of an input, or of what another collective sends, has bytes of its own") {
    LocalGraph g(mesh_of({{"m", 4}}));
    const ValueId x = g.input("x", {64}, "[m]");
    const ValueId a = g.pointwise("a", ScalarOp::exp, {x});
    g.output(g.all_gather("whole", {"m"}, 0, a));
    g.output(g.all_reduce("sum", {"m"}, a));
    g.output(g.all_reduce("y", {"m"}, x));
    const Plan plan = checked(g);
    CHECK(named(plan, "sum").alias_of == -1);
    CHECK(named(plan, "y").alias_of == -1);
}

TEST_CASE("schedule: released bytes are used again") {
    LocalGraph g(mesh_of({}));
    const ValueId x = g.input("x", {16, 16});
    Reduce rows{{1}, ReduceOp::sum};
    const ValueId a = g.pointwise("a", ScalarOp::exp, {x});
    const ValueId sums = g.node("sums", rows, {a}, {16});
    const ValueId b = g.pointwise("b", ScalarOp::neg, {x});
    const ValueId more = g.node("more", rows, {b}, {16});
    g.output(g.pointwise("c", ScalarOp::add, {sums, more}));
    const Plan plan = checked(g);
    CHECK(named(plan, "b").offset == named(plan, "a").offset);
    CHECK(plan.peak_bytes == 1024 + 1024 + 64 + 64);
}
