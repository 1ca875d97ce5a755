// What the rest of the planner gets: closed shardings that divide.
#include "tests/support/tiny_graph.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

std::string final_spec(const TinyGraph& g, const Propagation& propagation, ValueId value) {
    return text(g.mesh, propagation.values[value]);
}

} // namespace

TEST_CASE("DotReluDot on data 2, model 4") {
    TinyGraph g("data=2 model=4");
    const ValueId x = g.input({8, 1024}, "[data | -]");
    const ValueId w1 = g.input({1024, 1024}, "[- | model]"), w2 = g.input({1024, 1024}, "[model | -]");
    const ValueId h = g.op("ik,kj->ij", {x, w1}, {8, 1024});
    const ValueId a = g.pointwise({h});
    const ValueId z = g.op("ik,kj->ij", {a, w2}, {8, 1024});
    g.output(z);
    const Propagation propagation = propagate(g.graph, g.mesh, g.seeds);
    CHECK(final_spec(g, propagation, x) == "[data | -]");
    CHECK(final_spec(g, propagation, w1) == "[- | model]");
    CHECK(final_spec(g, propagation, w2) == "[model | -]");
    CHECK(final_spec(g, propagation, h) == "[data | model]");
    CHECK(final_spec(g, propagation, a) == "[data | model]");
    CHECK(final_spec(g, propagation, z) == "[data | -]");
    CHECK(text(g.mesh, propagation.outputs[0]) == "[data | -]");
}

TEST_CASE("a matmul with a bias takes both axes, and the bias follows") {
    TinyGraph g("i=4 j=2");
    const ValueId x = g.input({192, 64}, "[i | -]"), w = g.input({64, 128}, "[- | j]"), b = g.input({128});
    const ValueId dot = g.op("ik,kj->ij", {x, w}, {192, 128});
    const ValueId out = g.pointwise({dot, b});
    const Propagation propagation = propagate(g.graph, g.mesh, g.seeds);
    CHECK(final_spec(g, propagation, out) == "[i | j]");
    CHECK(final_spec(g, propagation, b) == "[j]");
}

TEST_CASE("explicit replication and priorities are dropped, partial axes stay") {
    TinyGraph g("a=2 b=2");
    const ValueId x = g.input({8, 8}, "[a@2 | ?] R{b}");
    const ValueId y = g.input({8, 8}, "[? | ?] U{b}");
    const Propagation propagation = propagate(g.graph, g.mesh, g.seeds);
    CHECK(final_spec(g, propagation, x) == "[a | -]");
    CHECK(final_spec(g, propagation, y) == "[- | -] U{b}");
}

TEST_CASE("axes are trimmed from the first that does not divide") {
    const Mesh mesh = {{{"a", 2, ""}, {"b", 3, ""}, {"c", 4, ""}}, {}};
    struct Row {
        i64 size;
        const char *before, *after;
    };
    const Row rows[] = {
        {12, "[a,b]", "[a,b]"}, {8, "[a,b]", "[a]"}, {9, "[a,b]", "[-]"},
        {8, "[c,b,a]", "[c]"},  {6, "[c]", "[-]"},   {6, "[c:(1)2,b]", "[c:(1)2,b]"},
    };
    for (const Row& row : rows) {
        Sharding sharding = *parse_sharding(mesh, row.before);
        trim_to_divide({row.size}, sharding);
        CHECK(text(mesh, sharding) == row.after);
    }
}

TEST_CASE("axes of size 1 split nothing: shardings are without them") {
    TinyGraph g("one=1 a=2 b=2");
    const ValueId x = g.input({8, 8}, "[one,a | -]"), y = g.input({8, 8}, "[? | one,b]");
    const ValueId sum = g.pointwise({x, y});
    const ValueId open = g.pointwise({sum}, "[one? | ?]");
    const Propagation propagation = propagate(g.graph, g.mesh, g.seeds);
    CHECK(final_spec(g, propagation, x) == "[a | -]");
    CHECK(final_spec(g, propagation, y) == "[a | b]");
    CHECK(final_spec(g, propagation, sum) == "[a | b]");
    CHECK(final_spec(g, propagation, open) == "[a | b]");
}

TEST_CASE("the same graph gives the same log, step for step") {
    const auto make = [] {
        TinyGraph g("a=2 b=2");
        ValueId x = g.input({8, 8}, "[a | b]");
        for (int i = 0; i < 5; ++i) x = g.op("ik,kj->ij", {g.pointwise({x, x}), g.input({8, 8})}, {8, 8});
        g.run();
        std::string all;
        for (const Decision& d : g.fixpoint.log)
            all += std::to_string(d.value) + "." + std::to_string(d.dim) + ":" + text(g.mesh, d.axes) + " ";
        return all;
    };
    CHECK(make() == make());
    CHECK(!make().empty());
}
