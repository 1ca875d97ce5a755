// Every axis has a recorded cause, and a way back to the seed.
#include "tests/support/tiny_graph.h"

#include "planner/propagate/cause_chain.h"

#include <algorithm>

#include <doctest/doctest.h>

using namespace shard;

namespace {

void log_seed(TinyGraph& g, ValueId value, int dim, const char* axis, Decision::Cause cause, int rule) {
    Decision decision;
    decision.value = value;
    decision.dim = dim;
    decision.axes = {*parse_axis_ref(g.mesh, axis)};
    decision.cause = cause;
    decision.rule = rule;
    decision.span = {1, rule + 1, 1, 1};
    g.seeds.log.push_back(decision);
}

std::vector<ValueId> values(const std::vector<Decision>& chain) {
    std::vector<ValueId> result;
    for (const Decision& decision : chain) result.push_back(decision.value);
    return result;
}

} // namespace

TEST_CASE("an axis is followed from a value back to the rule that began it") {
    TinyGraph g("data=2 model=4");
    const ValueId x = g.input({8, 1024}, "[data | -]"), w1 = g.input({1024, 1024}, "[- | model]");
    log_seed(g, x, 0, "data", Decision::Cause::rule, 0);
    log_seed(g, w1, 1, "model", Decision::Cause::rule, 1);
    const ValueId h = g.op("ik,kj->ij", {x, w1}, {8, 1024});
    const ValueId a = g.pointwise({h});
    g.run();
    CHECK(g.spec(a) == "[data? | model?]");

    const DecisionLog& log = g.fixpoint.log;
    const std::vector<Decision> data = cause_chain(log, a, 0, g.mesh.whole(0));
    REQUIRE(values(data) == std::vector<ValueId>{a, h, x});
    CHECK(data[0].node == 1);
    CHECK(data[0].cause == Decision::Cause::propagation);
    CHECK(data[0].span == g.graph.nodes[1].span);
    CHECK(data[1].node == 0);
    CHECK(data[1].from == x);
    CHECK(data[2].cause == Decision::Cause::rule);
    CHECK(data[2].rule == 0);
    const std::vector<Decision> model = cause_chain(log, a, 1, g.mesh.whole(1));
    REQUIRE(values(model) == std::vector<ValueId>{a, h, w1});
    CHECK(model.back().dim == 1);
    CHECK(cause_chain(log, a, 1, g.mesh.whole(0)).empty());
}

TEST_CASE("axes of one dim may come from several values") {
    TinyGraph g("a=2 b=2");
    const ValueId both = g.input({8, 8}, "[- | b,a]"), one = g.input({8, 8}, "[- | b]");
    log_seed(g, both, 1, "b", Decision::Cause::rule, 0);
    log_seed(g, both, 1, "a", Decision::Cause::rule, 0);
    log_seed(g, one, 1, "b", Decision::Cause::rule, 1);
    const ValueId sum = g.pointwise({one, both});
    g.run();
    CHECK(g.spec(sum) == "[? | b,a?]");
    CHECK(values(cause_chain(g.fixpoint.log, sum, 1, g.mesh.whole(1))) == std::vector<ValueId>{sum, one});
    CHECK(values(cause_chain(g.fixpoint.log, sum, 1, g.mesh.whole(0))) == std::vector<ValueId>{sum, both});
}

TEST_CASE("backward, sideways, through constraints and outputs") {
    TinyGraph g("a=2 b=2");
    const ValueId x = g.input({8, 8}), y = g.input({8, 8});
    const ValueId sum = g.pointwise({x, y});
    const ValueId c = g.constrain(sum, "[a | -]");
    log_seed(g, c, 0, "a", Decision::Cause::constraint, 5);
    const ValueId z = g.pointwise({y, y});
    g.output(z, "[? | b]");
    g.run();
    CHECK(g.spec(x) == "[a? | ?]");
    const std::vector<Decision> chain = cause_chain(g.fixpoint.log, x, 0, g.mesh.whole(0));
    REQUIRE(values(chain) == std::vector<ValueId>{x, sum});
    CHECK(chain[1].cause == Decision::Cause::constraint);
    CHECK(chain[1].from == c);
    CHECK(chain[1].span == g.graph.nodes[1].span);

    const std::vector<Decision> output = cause_chain(g.fixpoint.log, y, 1, g.mesh.whole(1));
    REQUIRE(values(output) == std::vector<ValueId>{y, z});
    CHECK(output.back().cause == Decision::Cause::output);
}

TEST_CASE("sub-axes are followed through a reshape") {
    TinyGraph g("a=4");
    const ValueId x = g.input({8}, "[a]");
    log_seed(g, x, 0, "a", Decision::Cause::mesh_spec, -1);
    const ValueId y = g.reshape("(ij)->ij", x, {2, 4});
    g.run();
    const std::vector<Decision> chain = cause_chain(g.fixpoint.log, y, 1, {0, 2, 2});
    REQUIRE(values(chain) == std::vector<ValueId>{y, x});
    CHECK(chain[0].axes == std::vector<AxisRef>{{0, 2, 2}});
}

TEST_CASE("every axis that propagation put on a value has exactly one decision") {
    TinyGraph g("a=2 b=2 c=2");
    const ValueId x = g.input({8, 8}, "[a,b | c]"), w = g.input({8, 16});
    const ValueId y = g.pointwise({x, x});
    const ValueId z = g.op("ik,kj->ij", {y, w}, {8, 16});
    const ValueId t = g.pointwise({z, z});
    g.output(t, "[? | c?]");
    g.run();
    for (ValueId value : {y, w, z, t}) {
        std::vector<AxisRef> logged;
        for (const Decision& decision : g.fixpoint.log)
            if (decision.value == value) logged.insert(logged.end(), decision.axes.begin(), decision.axes.end());
        std::vector<AxisRef> held = used_axes(g.fixpoint.values[value]);
        std::sort(logged.begin(), logged.end());
        std::sort(held.begin(), held.end());
        CHECK(!held.empty());
        CHECK(logged == held);
    }
}
