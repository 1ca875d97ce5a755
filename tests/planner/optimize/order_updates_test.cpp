// What the order of an optimizer's steps costs in memory. What order makes of graphs is in tests/cases/passes/order.md.
#include "planner/optimize/in_place.h"
#include "planner/optimize/order_updates.h"
#include "planner/partition/local.h"
#include "planner/schedule/schedule.h"
#include "tests/support/local_graph.h"
#include "tests/support/read_graph.h"

#include <doctest/doctest.h>

using namespace shard;

TEST_CASE("order of updates: a parameter is updated as soon as its gradient is there, so that one gradient is alive") {
    const GraphState state = read_graph(R"(local graph on {}
input   x: f32 (8, 64) [- | -]
param   w1: f32 (64) [-]
param   w2: f32 (64) [-]
g2: f32 (64) [-] = reduce_sum x {dims: [0]}
  | {"role": "gradient", "of": "w2"}
g1: f32 (64) [-] = reduce_sum x {dims: [0]}
  | {"role": "gradient", "of": "w1"}
w1.new: f32 (64) [-] = sub w1, g1
w2.new: f32 (64) [-] = sub w2, g2
output  w1 = w1.new
output  w2 = w2.new
update  w1 = w1.new
update  w2 = w2.new
)");
    const auto planned = [&state](bool ordered) {
        Local local{state.graph, state.value_of};
        if (ordered) order_updates(local);
        land_updates(local);
        return schedule(local, state.mesh);
    };
    const Plan plan = planned(true);
    CHECK(step_words(plan) ==
          std::vector<std::string>{"g2(x)", "w2.new(w2, g2)", "release g2", "g1(x)", "w1.new(w1, g1)", "release g1"});
    CHECK(plan.peak_bytes == (8 + 1 + 1 + 1) * 64 * 4);
    CHECK(planned(false).peak_bytes == (8 + 1 + 1 + 2) * 64 * 4);
}
