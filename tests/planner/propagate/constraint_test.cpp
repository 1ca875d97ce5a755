// Constraints on values inside the graph, and what the layout asks of outputs.
#include "tests/support/tiny_graph.h"

#include <doctest/doctest.h>

using namespace shard;

TEST_CASE("a fully closed constraint is copied to its input") {
    TinyGraph g("a=2 b=2");
    const ValueId x = g.input({8, 8});
    const ValueId y = g.pointwise({x});
    const ValueId c = g.constrain(y, "[- | b]");
    const ValueId z = g.pointwise({c});
    g.run();
    CHECK(g.spec(y) == "[- | b]");
    CHECK(g.spec(c) == "[- | b]");
    CHECK(g.spec(x) == "[? | b?]");
    CHECK(g.spec(z) == "[? | b?]");
}

TEST_CASE("a constraint that nothing reads fixes the value itself") {
    TinyGraph g("a=2 b=2");
    const ValueId y = g.pointwise({g.input({8, 8}, "[a | -]")});
    g.constrain(y, "[- | b]");
    g.output(y);
    g.run();
    CHECK(g.spec(y) == "[- | b]");
}

TEST_CASE("an input that says something itself keeps it") {
    TinyGraph g("a=2 b=2");
    const ValueId y = g.pointwise({g.input({8, 8})}, "[a? | ?]");
    const ValueId c = g.constrain(y, "[- | b]");
    g.run();
    CHECK(g.spec(y) == "[a? | b?]"); // extended by propagation, not replaced
    CHECK(g.spec(c) == "[- | b]");
}

TEST_CASE("an open constraint only propagates") {
    TinyGraph g("a=2 b=2");
    const ValueId y = g.pointwise({g.input({8, 8}, "[a | -]")});
    const ValueId c = g.constrain(y, "[- | b?]");
    g.run();
    CHECK(g.spec(y) == "[a? | b?]");
    CHECK(g.spec(c) == "[- | b?]");
}

TEST_CASE("constraints that disagree are not copied") {
    TinyGraph g("a=2 b=2");
    const ValueId y = g.pointwise({g.input({8, 8})});
    const ValueId first = g.constrain(y, "[a | -]"), second = g.constrain(y, "[- | b]");
    g.run();
    CHECK(g.spec(y) == "[a? | b?]"); // open, so it takes what both ask
    CHECK(g.spec(first) == "[a | -]");
    CHECK(g.spec(second) == "[- | b]");

    TinyGraph same("a=2 b=2");
    const ValueId z = same.pointwise({same.input({8, 8})});
    same.constrain(z, "[a | -]");
    same.constrain(z, "[a | -]");
    same.run();
    CHECK(same.spec(z) == "[a | -]");
}

TEST_CASE("behind a chain of constraints, readers of its beginning mean its end") {
    for (const bool is_chain : {true, false}) {
        TinyGraph g("a=2 b=2");
        const ValueId x = g.pointwise({g.input({8, 8})});
        const ValueId head = g.constrain(x, "[a | -]");
        const ValueId tail = is_chain ? g.constrain(head, "[- | b]") : head;
        const ValueId later = g.pointwise({x});
        g.output(tail);
        g.run();
        CHECK(g.spec(x) == "[a | -]");
        CHECK(g.spec(later) == (is_chain ? "[? | b?]" : "[a? | ?]"));
    }
}

TEST_CASE("what is asked of an output goes back through the graph") {
    TinyGraph g("a=2 b=2");
    const ValueId l = g.input({8, 8}), r = g.input({8, 16});
    const ValueId out = g.op("ik,kj->ij", {l, r}, {8, 16});
    g.output(out, "[a | b]");
    g.run();
    CHECK(g.spec(l) == "[a? | ?]");
    CHECK(g.spec(r) == "[? | b?]");
    CHECK(g.spec(out) == "[a? | b?]");
    CHECK(g.output_spec(0) == "[a | b]");
}

TEST_CASE("a returned input and its output take from each other what they can") {
    struct Row {
        const char *input, *output, *input_after, *output_after;
    };
    const Row rows[] = {
        {"[a? | b?]", "[a,b? | ?]", "[a? | b?]", "[a,b? | ?]"},
        {"[a,b? | ?]", "[a,c? | ?]", "[a,b? | ?]", "[a,c? | ?]"},
        {"[a? | ?]", "[? | b?]", "[a? | b?]", "[a? | b?]"},
        {"[? | ?]", "[a | b]", "[a? | b?]", "[a | b]"},
        {"[a | b]", "[? | ?]", "[a | b]", "[a? | b?]"},
    };
    for (const Row& row : rows) {
        TinyGraph g("a=2 b=2 c=2");
        const ValueId x = g.input({8, 8}, row.input);
        g.output(x, row.output);
        g.run(basic());
        CHECK(g.spec(x) == row.input_after);
        CHECK(g.output_spec(0) == row.output_after);
    }
}

TEST_CASE("an output may differ from the value that it returns") {
    TinyGraph g("a=2 b=2");
    const ValueId out = g.pointwise({g.input({8, 8}, "[a | b]")}, "[a | b]");
    g.output(out, "[- | b]");
    g.output(out);
    const Propagation propagation = propagate(g.graph, g.mesh, g.seeds);
    CHECK(text(g.mesh, propagation.values[out]) == "[a | b]");
    CHECK(text(g.mesh, propagation.outputs[0]) == "[- | b]");
    CHECK(text(g.mesh, propagation.outputs[1]) == "[a | b]");
}
