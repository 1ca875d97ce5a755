// Scenarios where one op's tensors disagree: which axes the others take.
#include "tests/support/tiny_graph.h"

#include <doctest/doctest.h>

using namespace shard;

TEST_CASE("scenario 1: an add and a dot without conflicts, basic and aggressive alike") {
    for (const PropagateOptions& options : {basic(), aggressive(), PropagateOptions{}}) {
        TinyGraph g("a=2 b=2");
        const ValueId x = g.input({8, 8}, "[a | b]"), y = g.input({8, 8}), w = g.input({8, 16});
        const ValueId sum = g.pointwise({x, y});
        const ValueId out = g.op("ik,kj->ij", {sum, w}, {8, 16});
        g.run(options);
        CHECK(g.spec(x) == "[a | b]");
        CHECK(g.spec(y) == "[a? | b?]");
        CHECK(g.spec(sum) == "[a? | b?]");
        CHECK(g.spec(w) == "[b? | ?]");
        CHECK(g.spec(out) == "[a? | ?]");
    }
}

TEST_CASE("scenario 2: a closed dim takes nothing") {
    TinyGraph g("a=2 b=2");
    const ValueId l = g.input({8, 8}, "[a | -]"), r = g.input({8, 16}, "[- | b]");
    const ValueId out = g.op("ik,kj->ij", {l, r}, {8, 16}, "[- | ?]");
    g.run(basic());
    CHECK(g.spec(out) == "[- | b?]");
}

TEST_CASE("scenario 3: axes in common go on up to the first that differs") {
    TinyGraph g("a=2 b=2 c=2");
    const ValueId out = g.pointwise({g.input({8, 8}, "[b,a | -]"), g.input({8, 8}, "[b,c | -]")});
    const ValueId none = g.pointwise({g.input({8, 8}, "[b,a | -]"), g.input({8, 8}, "[a,b | -]")});
    g.run(basic());
    CHECK(g.spec(out) == "[b? | ?]");
    CHECK(g.spec(none) == "[? | ?]");
}

TEST_CASE("scenario 7: a true conflict stays unsharded") {
    TinyGraph g("a=2 b=2");
    const ValueId out = g.pointwise({g.input({8, 8}, "[a? | -]"), g.input({8, 8}, "[b? | -]")});
    g.run(aggressive());
    CHECK(g.spec(out) == "[? | ?]");
}

TEST_CASE("scenario 8: a conflict on one factor does not hold up another") {
    TinyGraph g("a=2 b=2");
    const ValueId x = g.input({8, 8}, "[a? | ?]"), y = g.input({8, 8}, "[b? | a?]");
    const ValueId out = g.pointwise({x, y});
    g.run(aggressive());
    CHECK(g.spec(out) == "[? | a?]");
    CHECK(g.spec(x) == "[a? | ?]");
}

TEST_CASE("scenario 9: of equal sources the first wins, and basic sees a conflict") {
    for (const bool is_basic : {false, true}) {
        TinyGraph g("a=2");
        const ValueId x = g.input({8, 8}, "[a | ?]"), y = g.input({8, 8}, "[? | a]");
        const ValueId out = g.pointwise({x, y});
        g.run(is_basic ? basic() : aggressive());
        CHECK(g.spec(out) == (is_basic ? "[? | ?]" : "[a? | ?]"));
        CHECK(g.spec(x) == "[a | ?]");
        CHECK(g.spec(y) == "[? | a]");
    }
}

TEST_CASE("scenario 10: the bigger source wins") {
    TinyGraph g("a=2 b=2 c=2");
    const ValueId l = g.input({8, 4}, "[a,b | ?]"), r = g.input({4, 16}, "[? | a,c]");
    const ValueId out = g.op("ik,kj->ij", {l, r}, {8, 16});
    g.run(aggressive());
    CHECK(g.spec(out) == "[? | a,c?]");
}

TEST_CASE("scenario 22: a partial value's axes never enter its dims") {
    TinyGraph g("a=2 b=2");
    const ValueId l = g.input({8, 8}, "[a | b]"), r = g.input({8, 16});
    const ValueId out = g.op("ik,kj->ij", {l, r}, {8, 16}, "[? | ?] U{b}");
    const ValueId use = g.pointwise({out, g.input({8, 16}, "[? | b]")}, "[? | b]");
    g.run(aggressive());
    CHECK(g.spec(out) == "[a? | ?] U{b}");
    CHECK(g.spec(use) == "[a? | b]"); // its open dim follows; b stays where it was asked for
}

TEST_CASE("explicitly replicated axes stay off a value, and sideways spread needs the result") {
    TinyGraph g("a=2");
    const ValueId x = g.input({8, 8}, "[a? | ?]"), y = g.input({8, 8}), kept = g.input({8, 8}, "[? | ?] R{a}");
    const ValueId closed_sum = g.pointwise({x, y}, "[- | -]");
    const ValueId out = g.pointwise({kept, g.input({8, 8}, "[a? | ?]")});
    g.run(aggressive());
    CHECK(g.spec(closed_sum) == "[- | -]");
    CHECK(g.spec(y) == "[? | ?]"); // the sum has to be whole: splitting y would be of no use
    CHECK(g.spec(kept) == "[? | ?] R{a}");
    CHECK(g.spec(out) == "[a? | ?]");
}

TEST_CASE("fake conflicts do not hold up the aggressive strategy") {
    TinyGraph g("a=2 b=2 c=2");
    const ValueId l = g.input({256, 512}, "[a | b,c]"), r = g.input({128, 512}, "[c,b | a]");
    const ValueId out = g.op("ik,jk->ij", {l, r}, {256, 128});
    const ValueId mixed = g.pointwise({g.input({8, 8}, "[a | b]"), g.input({8, 8}, "[- | a,b,c]")});
    g.run(aggressive());
    CHECK(g.spec(out) == "[a? | c,b?]");
    CHECK(g.spec(mixed) == "[a? | ?]");
}
