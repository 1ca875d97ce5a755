// Scenarios where the order of ops matters, and those of user priorities.
#include "tests/support/tiny_graph.h"

#include <doctest/doctest.h>

using namespace shard;

TEST_CASE("scenario 14: pointwise chains go before dots") {
    for (const bool by_output : {true, false}) {
        TinyGraph g("a=2 b=2");
        const ValueId l = g.input({8, 8}, "[a? | ?]"), r = g.input({8, 8});
        const ValueId dot = g.op("ik,kj->ij", {l, r}, {8, 8});
        const ValueId first = g.pointwise({dot, dot});
        const ValueId second = g.pointwise({first, first}, by_output ? nullptr : "[? | a?]");
        g.output(second, by_output ? "[? | a?]" : nullptr);
        g.run();
        for (ValueId value : {dot, first, second, r}) CHECK(g.spec(value) == "[? | a?]");
        CHECK(g.spec(l) == "[a? | ?]");
    }
}

TEST_CASE("scenario 14, the other way round: the dot is last") {
    TinyGraph g("a=2 b=2");
    const ValueId l = g.input({8, 8}, "[a? | ?]"), r = g.input({8, 8});
    const ValueId left = g.pointwise({l, l}), right = g.pointwise({r, r});
    const ValueId dot = g.op("ik,kj->ij", {left, right}, {8, 8});
    g.output(dot, "[? | a?]");
    g.run();
    CHECK(g.spec(left) == "[a? | ?]");
    CHECK(g.spec(right) == "[? | a?]");
    CHECK(g.spec(dot) == "[? | a?]");
}

TEST_CASE("scenario 15: values with several uses wait, so one reshard serves both") {
    TinyGraph g("a=2 b=2");
    const ValueId x = g.input({8, 8}, "[a | -]");
    const ValueId sine = g.pointwise({x});
    const ValueId add_1 = g.pointwise({sine, sine}), add_2 = g.pointwise({sine, sine});
    const ValueId cosine_1 = g.pointwise({add_1}), cosine_2 = g.pointwise({add_2});
    g.output(cosine_1, "[- | a]");
    g.output(cosine_2, "[- | a]");
    g.run();
    CHECK(g.spec(sine) == "[a? | ?]");
    for (ValueId value : {add_1, add_2, cosine_1, cosine_2}) CHECK(g.spec(value) == "[? | a?]");
}

TEST_CASE("an operand with several uses takes no side at first") {
    TinyGraph g("a=2 b=2");
    const ValueId x = g.input({8, 8});
    const ValueId add_1 = g.pointwise({x, x}), add_2 = g.pointwise({x, x});
    const ValueId sine = g.pointwise({add_1});
    g.output(add_2, "[- | a]");
    g.output(sine, "[a | -]");
    g.run();
    CHECK(g.spec(x) == "[a? | ?]");
    CHECK(g.spec(add_1) == "[a? | ?]");
    CHECK(g.spec(add_2) == "[? | a?]");
}

TEST_CASE("scenario 16: pass-through factors go before reductions") {
    TinyGraph g("a=2 b=2");
    const ValueId l = g.input({32, 1024}), r = g.input({1024, 16}, "[a? | b?]");
    const ValueId out = g.op("ik,kj->ij", {l, r}, {32, 16});
    g.output(out, "[a? | b?]");
    g.run();
    CHECK(g.spec(out) == "[a? | b?]");
    CHECK(g.spec(l) == "[a? | ?]");
}

TEST_CASE("scenario 17: broadcasts go backward first") {
    TinyGraph g("a=2 b=2");
    const ValueId x = g.input({32}, "[a]");
    const ValueId once = g.broadcast("i->ij", x, {32, 16});
    const ValueId twice = g.broadcast("ij->ijk", once, {32, 16, 8});
    g.output(twice, "[- | a | -]");
    g.run();
    CHECK(g.spec(once) == "[? | a?]");
    CHECK(g.spec(twice) == "[? | a? | ?]");
}

TEST_CASE("scenario 18: a later priority is protected until its turn") {
    for (const bool with_priorities : {true, false}) {
        TinyGraph g("a=2 b=2");
        const ValueId x = g.input({8, 8}, "[a | ?]"), y = g.input({8, 8});
        const ValueId w = g.input({8, 16}, with_priorities ? "[? | a@1]" : "[? | a]");
        const ValueId sum = g.pointwise({x, y});
        const ValueId out = g.op("ik,kj->ij", {sum, w}, {8, 16});
        g.run();
        // Without priorities the larger source would decide over the dot's result.
        CHECK(g.spec(out) == (with_priorities ? "[a? | ?]" : "[? | a?]"));
        CHECK(g.spec(y) == "[a? | ?]");
        CHECK(g.spec(sum) == "[a? | ?]");
        CHECK(g.spec(w) == "[? | a]");
    }
}

TEST_CASE("priorities may have gaps, and a lower one decides first") {
    TinyGraph g("a=2 b=2 c=2");
    const ValueId x = g.input({8, 8}, "[a | b@4]"), y = g.input({8, 8}), z = g.input({8, 8});
    const ValueId sum = g.pointwise({x, y});
    const ValueId quotient = g.pointwise({sum, z}, "[? | c?@1]");
    g.run();
    CHECK(g.spec(x) == "[a | b]");
    for (ValueId value : {y, z, sum, quotient}) CHECK(g.spec(value) == "[a? | c?]");
}
