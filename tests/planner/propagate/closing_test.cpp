// Axes that divide, and the log. What is closed is shown in tests/cases/passes/propagate.md.
#include "tests/support/tiny_graph.h"

#include <doctest/doctest.h>

using namespace shard;

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
