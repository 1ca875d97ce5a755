// Scenarios with dims of several factors, sub-axes, and factors that do not divide.
#include "tests/support/tiny_graph.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

std::string through(const char* mesh, const char* notation, Shape from, const char* spec, Shape to) {
    TinyGraph g(mesh);
    const ValueId result = g.reshape(notation, g.input(std::move(from), spec), std::move(to));
    g.run(basic());
    const std::string found = g.spec(result);
    g.run(); // all strategies agree where only one tensor has axes
    CHECK(g.spec(result) == found);
    return found;
}

} // namespace

TEST_CASE("scenario 26: splitting 8 into 2 x 4") {
    CHECK(through("a=4", "(ij)->ij", {8}, "[a]", {2, 4}) == "[a:(1)2? | a:(2)2?]");
    CHECK(through("a=6", "(ij)->ij", {8}, "[a]", {2, 4}) == "[a:(1)2? | a:(2)3?]");
    CHECK(through("a=3", "(ij)->ij", {8}, "[a]", {2, 4}) == "[? | ?]");
}

TEST_CASE("scenario 28: merging dims") {
    CHECK(through("a=2 b=2", "ij->(ij)", {4, 4}, "[a | b]", {16}) == "[a?]");
    CHECK(through("a=2 b=2", "ij->(ij)", {2, 4}, "[a | b]", {8}) == "[a,b?]");
    CHECK(through("a=3 b=3", "ij->(ij)", {6, 4}, "[a,b | -]", {24}) == "[a?]");
}

TEST_CASE("splitting and merging with several axes") {
    CHECK(through("a=2 b=2", "(ij)->ij", {8}, "[b,a]", {2, 4}) == "[b? | a?]");
    CHECK(through("a=2 b=2", "(ij)->ij", {16}, "[b,a]", {4, 4}) == "[b,a? | ?]");
    CHECK(through("a=4 b=2 c=2", "ij->(ij)", {4, 4}, "[b,a | c]", {16}) == "[b,a:(1)2,c?]");
    CHECK(through("a=2 b=2", "ij->(ij)", {2, 4}, "[a | -]", {8}) == "[a?]");
}

TEST_CASE("sub-axes are split again and merge back") {
    TinyGraph g("a=16");
    const ValueId x = g.input({32}, "[a]");
    const ValueId split = g.reshape("(ijk)->ijk", x, {4, 2, 4});
    const ValueId part = g.reshape("ijk->i(jk)", split, {4, 8});
    const ValueId merged = g.reshape("ij->(ij)", part, {32});
    g.run();
    CHECK(g.spec(split) == "[a:(1)4? | a:(4)2? | a:(8)2?]");
    CHECK(g.spec(part) == "[a:(1)4? | a:(4)4?]");
    CHECK(g.spec(merged) == "[a?]");
}

TEST_CASE("the inverse of a step is a step: a result's axes go back through a reshape") {
    TinyGraph g("a=2 b=2");
    const ValueId x = g.input({8});
    const ValueId y = g.reshape("(ij)->ij", x, {2, 4}, "[a | b]");
    g.run();
    CHECK(g.spec(x) == "[a,b?]");
    CHECK(g.spec(y) == "[a | b]");
}

TEST_CASE("axes that cannot be split evenly stay on their dim and go nowhere") {
    struct Row {
        const char *mesh, *notation;
        Shape from, to;
        const char *operand, *result, *operand_after, *result_after;
    };
    const Row rows[] = {
        {"a=2 b=3 c=2 d=2",
         "xy(ij)->xyij",
         {2, 2, 32},
         {2, 2, 8, 4},
         "[c | ? | a,b]",
         "[? | d | ? | ?]",
         "[c | d? | a,b]",
         "[c? | d | a? | ?]"},
        {"a=6 b=2", "x(ij)->xij", {2, 32}, {2, 8, 4}, "[? | a]", "[b | ? | ?]", "[b? | a]", "[b | a:(1)2? | ?]"},
        {"a=2 b=3", "x(ij)->xij", {3, 32}, {3, 8, 4}, "[? | a,b?]", "[b | ? | ?]", "[? | a,b?]", "[b | a? | ?]"},
        {"a=2 b=3 c=2 d=2",
         "x(ij)->xij",
         {2, 32},
         {2, 8, 4},
         "[? | a,b?]",
         "[d | ? | c]",
         "[d? | a,b?]",
         "[d | a? | c]"},
        {"a=4 b=4", "(ij)->ij", {8}, {2, 4}, "[a,b]", "[? | ?]", "[a,b]", "[a:(1)2? | a:(2)2,b?]"},
        {"a=2 b=3", "ij->(ij)", {2, 4}, {8}, "[a | b]", "[?]", "[a | b]", "[a,b?]"},
        {"a=3", "ij->(ij)", {2, 4}, {8}, "[a | -]", "[?]", "[a | -]", "[?]"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.operand);
        TinyGraph g(row.mesh);
        const ValueId x = g.input(row.from, row.operand);
        const ValueId y = g.reshape(row.notation, x, row.to, row.result);
        g.run(basic());
        CHECK(g.spec(x) == row.operand_after);
        CHECK(g.spec(y) == row.result_after);
    }
}

TEST_CASE("scenario 30: slices and a concatenation along a sharded dim") {
    TinyGraph g("a=2 b=2");
    const ValueId x = g.input({8, 8}, "[a,b | -]");
    const ValueId one = g.move_along_first({x}, {1, 8}, 8);
    const ValueId seven = g.move_along_first({x}, {7, 8}, 8);
    const ValueId joined = g.move_along_first({seven, one}, {8, 8}, 8);
    g.run(basic());
    for (ValueId value : {one, seven, joined}) CHECK(g.spec(value) == "[a,b? | ?]");

    // What does not divide cannot be held: at the end those values are whole, the joined one keeps its axes.
    const Propagation propagation = propagate(g.graph, g.mesh, g.seeds, basic());
    CHECK(text(g.mesh, propagation.values[one]) == "[- | -]");
    CHECK(text(g.mesh, propagation.values[seven]) == "[- | -]");
    CHECK(text(g.mesh, propagation.values[joined]) == "[a,b | -]");
}
