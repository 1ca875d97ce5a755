#include "planner/partition/local.h"
#include "planner/schedule/schedule.h"
#include "tests/support/local_graph.h"
#include "tests/support/plan_verdict.h"
#include "tests/support/read_graph.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

using Words = std::vector<std::string>;

Plan checked(const std::string& text) {
    const GraphState state = read_graph(text);
    Plan plan = schedule({state.graph, state.value_of}, state.mesh);
    CHECK(plan_verdict(plan) == "fine");
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
    const Plan plan = checked(R"(local graph on {}
input   x: f32 (64) [-] = 1
a: f32 (64) [-] = exp x
b: f32 (64) [-] = neg a
c: f32 (64) [-] = add b, x
output  c
)");
    CHECK(step_words(plan) == Words{"a(x)", "b(a)", "c(b, x)"});
    CHECK(named(plan, "a").alias_of == -1); // x is an input: it stays alive
    CHECK(named(plan, "b").alias_of == named(plan, "a").id);
    CHECK(named(plan, "c").alias_of == named(plan, "a").id);
    CHECK(plan.peak_bytes == 2 * 64 * 4); // x, and one buffer for the chain
}

TEST_CASE("schedule: an operand that is read again is not taken over") {
    const Plan plan = checked(R"(local graph on {}
input   x: f32 (64) [-] = 1
a: f32 (64) [-] = exp x
b: f32 (64) [-] = neg a
c: f32 (64) [-] = add a, b
output  c
)");
    CHECK(step_words(plan) == Words{"a(x)", "b(a)", "c(a, b)", "release b"});
    CHECK(named(plan, "b").alias_of == -1);
    CHECK(named(plan, "c").alias_of == named(plan, "a").id);
    CHECK(plan.peak_bytes == 3 * 64 * 4);
}

TEST_CASE("schedule: a broadcast or transposed operand is not taken over") {
    const Plan plan = checked(R"(local graph on {}
input   x: f32 (8, 8) [- | -] = 1
a: f32 (8, 8) [- | -] = exp x
t: f32 (8, 8) [- | -] = exp a
  | {"kernel": {"pointwise": {"inputs": [[1, 0]], "steps": [{"op": "input", "args": [0], "dtype": "f32"}]}}}
output  t
)");
    CHECK(named(plan, "t").alias_of == -1);
    CHECK(step_words(plan) == Words{"a(x)", "t(a)", "release a"});
}

TEST_CASE("schedule: a reshape is a view and no step") {
    const Plan plan = checked(R"(local graph on {}
input   x: f32 (8, 8) [- | -] = 1
a: f32 (8, 8) [- | -] = exp x
flat: f32 (64) [-] = reshape a {shape: [64]}
b: f32 (64) [-] = neg flat
c: f32 (4, 16) [- | -] = reshape b {shape: [4, 16]}
y: f32 (64) [-] = reshape x {shape: [64]}
output  c
output  y
)");
    CHECK(step_words(plan) == Words{"a(x)", "b(flat)"});
    CHECK(named(plan, "flat").view);
    CHECK(named(plan, "b").alias_of == named(plan, "a").id); // in place, through the view
    CHECK(named(plan, "y").offset == named(plan, "x").offset);
    CHECK(plan.peak_bytes == 2 * 64 * 4);
}

TEST_CASE("schedule: a collective starts where it stands and is waited for before its first reader") {
    const Plan plan = checked(R"(local graph on {m: 4}
input   x: f32 (4) of (16,) [m] = 1
a: f32 (4) of (16,) [m] = exp x
whole: f32 (16) [-] = all_gather over m (dim 0) of a
b: f32 (4) of (16,) [m] = neg x
c: f32 (16) [-] = neg whole
output  b
output  c
)");
    CHECK(step_words(plan) == Words{"a(x)", "start whole(a)", "b(x)", "wait whole", "release a", "c(whole)"});
}

TEST_CASE("schedule: what a collective sends stays until the wait, also if a step reads both ends") {
    const Plan plan = checked(R"(local graph on {m: 4}
input   x: f32 (4) [-] = 1
a: f32 (4) [-] = exp x
sum: f32 (4) [-] = all_reduce over m of a
c: f32 (4) [-] = add a, sum
output  c
)");
    CHECK(step_words(plan) == Words{"a(x)", "start sum(a)", "wait sum", "c(a, sum)", "release sum"});
}

TEST_CASE("schedule: what nobody reads is waited for and released where it stands") {
    const Plan plan = checked(R"(local graph on {m: 4}
input   x: f32 (4) [-] = 1
a: f32 (4) [-] = exp x
sum: f32 (4) [-] = all_reduce over m of a
output  x
)");
    CHECK(step_words(plan) == Words{"a(x)", "start sum(a)", "wait sum", "release a"});
}

TEST_CASE("schedule: an all_reduce takes over the bytes of an operand that dies there") {
    const Plan plan = checked(R"(local graph on {m: 4}
input   x: f32 (64) [-] = 1
a: f32 (64) [-] = exp x
sum: f32 (64) [-] = all_reduce over m of a
b: f32 (64) [-] = neg sum
z: f32 (64) [-] = all_reduce over m of b
output  z
)");
    CHECK(step_words(plan) == Words{"a(x)", "start sum(a)", "wait sum", "b(sum)", "start z(b)", "wait z"});
    for (const char* name : {"sum", "b", "z"}) CHECK(named(plan, name).offset == named(plan, "a").offset);
    CHECK(plan.peak_bytes == 2 * 64 * 4); // x, and one buffer for all the others
}

TEST_CASE("schedule: an all_reduce of an input, or of what another collective sends, has bytes of its own") {
    const Plan plan = checked(R"(local graph on {m: 4}
input   x: f32 (64) of (256,) [m] = 1
a: f32 (64) of (256,) [m] = exp x
whole: f32 (256) [-] = all_gather over m (dim 0) of a
sum: f32 (64) of (256,) [m] = all_reduce over m of a
y: f32 (64) of (256,) [m] = all_reduce over m of x
output  whole
output  sum
output  y
)");
    CHECK(named(plan, "sum").alias_of == -1);
    CHECK(named(plan, "y").alias_of == -1);
}

TEST_CASE("schedule: released bytes are used again") {
    const Plan plan = checked(R"(local graph on {}
input   x: f32 (16, 16) [- | -] = 1
a: f32 (16, 16) [- | -] = exp x
sums: f32 (16) [-] = reduce_sum a {dims: [1]}
b: f32 (16, 16) [- | -] = neg x
more: f32 (16) [-] = reduce_sum b {dims: [1]}
c: f32 (16) [-] = add sums, more
output  c
)");
    CHECK(named(plan, "b").offset == named(plan, "a").offset);
    CHECK(plan.peak_bytes == 1024 + 1024 + 64 + 64);
}
