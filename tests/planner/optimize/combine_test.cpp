// Which small reductions begin together. That nothing else changes is a property of random graphs.
#include "planner/optimize/combine.h"
#include "planner/optimize/in_place.h"
#include "planner/price/time_report.h"
#include "planner/schedule/schedule.h"
#include "tests/support/local_graph.h"
#include "tests/support/read_graph.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace shard;

namespace {

// An all_reduce of few bytes takes 10 us, a dot of 64 x 1024 x 1024 elements 134 us, a kernel of few bytes 1 us.
Hardware late_links() {
    Hardware hardware;
    hardware.flops = {{"f32", 1e12}};
    hardware.kernel_launch = 1e-6;
    hardware.memory_bandwidth = 1e12;
    hardware.links = {{"link", Link::Topology::switched, 1e9, 5e-6, false, 0}};
    hardware.latency_adds = true;
    return hardware;
}

struct Combined {
    std::string words; // without releases
    double before = 0, after = 0;
};

Combined combined(const std::string& text, const Hardware& hardware = late_links()) {
    const GraphState state = read_graph(text);
    const auto planned = [&](bool combines) {
        Local local{state.graph, state.value_of};
        if (combines) combine(local, state.mesh, hardware);
        land_updates(local);
        return schedule(local, state.mesh);
    };
    Combined result;
    result.before = time_of(planned(false), hardware).step_seconds;
    const Plan plan = planned(true);
    result.after = time_of(plan, hardware).step_seconds;
    for (const std::string& word : step_words(plan))
        if (!word.starts_with("release")) result.words += (result.words.empty() ? "" : "; ") + word;
    return result;
}

const std::string inputs = R"(local graph on {m: 2}
input   x: f32 (64, 1024) [- | -]
param   w: f32 (1024, 1024) [- | -]
)";

} // namespace

TEST_CASE("combine: reductions that nobody waits for yet begin with the next, the adds of a norm behind them") {
    const Combined found = combined(inputs + R"(a: f32 () [] U{m} = reduce_max x {dims: [0, 1]}
a.sum: f32 () [] = all_reduce over m of a
x2: f32 (64, 1024) [- | -] = dot x, w
b: f32 () [] U{m} = reduce_sum x2 {dims: [0, 1]}
b.sum: f32 () [] = all_reduce over m of b
ab: f32 () [] = add a.sum, b.sum
x3: f32 (64, 1024) [- | -] = dot x2, w
c: f32 () [] U{m} = reduce_sum x3 {dims: [0, 1]}
c.sum: f32 () [] = all_reduce over m of c
abc: f32 () [] = add ab, c.sum
x4: f32 (64, 1024) [- | -] = dot x3, w
output  x4
output  abc
)");
    CHECK(found.words ==
          "a(x); x2(x, w); b(x2); x3(x2, w); c(x3); start a.sum(a); start b.sum(b); start c.sum(c); x4(x3, w); "
          "wait a.sum; wait b.sum; ab(a.sum, b.sum); wait c.sum; abc(ab, c.sum)");
    CHECK(found.after == doctest::Approx(found.before).epsilon(1e-3)); // hidden either way
}

TEST_CASE("combine: two that are waited for at once take as long as one") {
    const Combined found = combined(inputs + R"(a: f32 () [] U{m} = reduce_max x {dims: [0, 1]}
a.sum: f32 () [] = all_reduce over m of a
b: f32 () [] U{m} = reduce_sum x {dims: [0, 1]}
b.sum: f32 () [] = all_reduce over m of b
a.b: f32 (64, 1024) [- | -] = broadcast a.sum {shape: [64, 1024], dims: []}
b.b: f32 (64, 1024) [- | -] = broadcast b.sum {shape: [64, 1024], dims: []}
y: f32 (64, 1024) [- | -] = mul x, a.b
z: f32 (64, 1024) [- | -] = mul y, b.b
u: f32 (64, 1024) [- | -] = dot z, w
output  u
)");
    CHECK(found.words == "a(x); b(x); start a.sum(a); start b.sum(b); wait a.sum; a.b(a.sum); wait b.sum; b.b(b.sum); "
                         "y(x, a.b); z(y, b.b); u(z, w)");
    CHECK(found.after < found.before - 5e-6);
}

TEST_CASE("combine: what somebody waits for does not wait for the next") {
    const Combined found = combined(inputs + R"(a: f32 (64, 1024) [- | -] U{m} = neg x
a.sum: f32 (64, 1024) [- | -] = all_reduce over m of a
x2: f32 (64, 1024) [- | -] = dot a.sum, w
b: f32 (64, 1024) [- | -] U{m} = neg x2
b.sum: f32 (64, 1024) [- | -] = all_reduce over m of b
output  b.sum
)");
    CHECK(found.words == "a(x); start a.sum(a); wait a.sum; x2(a.sum, w); b(x2); start b.sum(b); wait b.sum");
    CHECK(found.after == found.before);
}

TEST_CASE("combine: links that begin at once leave everything where it was") {
    Hardware hardware = late_links();
    hardware.links[0].latency = 0;
    const Combined found = combined(inputs + R"(a: f32 () [] U{m} = reduce_max x {dims: [0, 1]}
a.sum: f32 () [] = all_reduce over m of a
b: f32 () [] U{m} = reduce_sum x {dims: [0, 1]}
b.sum: f32 () [] = all_reduce over m of b
c: f32 () [] = add a.sum, b.sum
output  c
)",
                                    hardware);
    CHECK(found.words == "a(x); start a.sum(a); b(x); start b.sum(b); wait a.sum; wait b.sum; c(a.sum, b.sum)");
}

TEST_CASE("combine: what is replaced is read before") {
    // The update of s waits with its gradient, and stays behind what reads the old s.
    const Combined found = combined(inputs + R"(param   s: f32 (8) [-]
a: f32 (8) [-] U{m} = exp s
a.sum: f32 (8) [-] = all_reduce over m of a
s.new: f32 (8) [-] = sub s, a.sum
x2: f32 (64, 1024) [- | -] = dot x, w
b: f32 () [] U{m} = reduce_sum x2 {dims: [0, 1]}
b.sum: f32 () [] = all_reduce over m of b
x3: f32 (64, 1024) [- | -] = dot x2, w
output  s = s.new
output  x3
output  b.sum
update  s = s.new
)");
    CHECK(found.words ==
          "a(s); x2(x, w); b(x2); start a.sum(a); start b.sum(b); x3(x2, w); wait a.sum; s.new(s, a.sum); wait b.sum");
}
