// Texts of graphs that are none: each is refused where it is wrong.
#include "planner/graph_text/graph_parse.h"
#include "tests/support/prove.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

const std::string whole = "graph on {a: 2}\ninput   x: f32 (8, 4) [a | -] = 1\n";
const std::string local = "local graph on {a: 2}\ninput   x: f32 (4, 4) of (8, 4) [a | -] = 1\n";

// "LINE:COLUMN message", or "fine".
std::string verdict(const std::string& text) {
    Sources sources;
    Diagnostics diagnostics;
    if (parse_graph(sources, sources.add("g", text), diagnostics)) return "fine";
    const Diagnostic& first = diagnostics.all().front();
    CHECK(first.code == "E0508");
    REQUIRE(!first.labels.empty());
    const Span span = first.labels[0].span;
    CHECK(diagnostics.all().size() == 1);
    return std::to_string(span.line) + ":" + std::to_string(span.column) + " " + first.message;
}

} // namespace

TEST_CASE("the text of a graph: what is right is read") {
    CHECK(verdict(whole + "output  x\n") == "fine");
    CHECK(verdict(whole + "y: f32 (8, 4) = exp x\noutput  y as [a | -]\n") == "fine");
    CHECK(verdict(local + "y: f32 (4, 4) of (8, 4) [a | -] = exp x  # model.yaml:3\noutput  y\n") == "fine");
    CHECK(verdict("graph on {}\n") == "fine");
}

TEST_CASE("the text of a graph: a line that is none") {
    CHECK(verdict("") == "1:1 a graph begins with `graph on` or `local graph on` and a mesh");
    CHECK(verdict("model: m\n") == "1:1 expected 'graph on {'");
    CHECK(verdict("graph on {a: 0}\n") == "1:15 an axis has from 1 to 1000000 devices");
    CHECK(verdict("graph on {a: 2, a: 2}\n") == "1:18 an axis of this name is there already");
    CHECK(verdict(whole + "outptu x\n") == "3:1 no line of a graph begins with 'outptu'");
    CHECK(verdict(whole + "output  x y\n") == "3:11 expected the end of the line");
    CHECK(verdict(whole + "y f32 (8, 4)\n") == "3:1 no line of a graph begins with 'y'");
}

TEST_CASE("the text of a graph: names and types") {
    CHECK(verdict(whole + "y: f32 (8, 4) = exp z\n") == "3:21 no value 'z' stands above");
    CHECK(verdict(whole + "output  z\n") == "3:9 no value 'z' stands above");
    CHECK(verdict(whole + "x: f32 (8, 4) = exp x\n") == "3:1 there is a value 'x' already");
    CHECK(verdict(whole + "y: f31 (8, 4) = exp x\n") == "3:4 expected an element type");
    CHECK(verdict(whole + "y: f32 (8, 0) = exp x\n") == "3:13 a dim has at least one element");
    CHECK(verdict(whole + "y: f32 (8, 4) [b | -] = exp x\n") == "3:15 expected a sharding over the axes of the mesh");
    CHECK(verdict(whole + "y: f32 (8, 4) [a] = exp x\n") == "3:1 its sharding has other dims");
    CHECK(verdict(whole + "y: f32 (8, 4) = epx x\n") == "3:17 there is no op 'epx'");
    CHECK(verdict(whole + "y: f32 (8, 4) = exp x {a: }\n") ==
          "3:27 expected a number, true, false, a text in quotes or a list");
    CHECK(verdict(whole + "y: f32 (8, 4) = exp x; gradient of epx\n") == "3:36 expected an op or a composite");
    CHECK(verdict(local + "y: f32 (4, 4) of (8, 4) = exp x\n") == "3:1 a value of a local graph has a sharding");
    CHECK(verdict(whole + "y: f32 (8, 4) = constrain x {axes: [b, c, d]}\n") ==
          "1:1 this is no graph that a pass may be given: graph: node 0 (constrain): its operands do not fit");
}

TEST_CASE("the text of a graph: what does not fit") {
    CHECK(verdict(whole + "y: f32 (8, 5) = exp x\noutput  y\n") ==
          "1:1 this is no graph that a pass may be given: graph: node 0 (exp): a result's type is not the op's");
    CHECK(
        verdict(local + "y: f32 (8, 4) of (8, 4) [a | -] = exp x\n") ==
        "1:1 this is no graph that a pass may be given: local value y: its type is the local part of the global value");
    CHECK(verdict(local + "y: f32 (4, 4) of (8, 4) [a | -] = fused exp+neg x\n  | {\"op\": \"exp\", \"kernel\": 3}\n")
              .starts_with("4:1 in these details: "));
    CHECK(verdict(local + "y: f32 (4, 5) of (8, 5) [a | -] = exp x\n") ==
          "3:35 its kernel does not follow from types and shardings: it needs its details");
    CHECK(verdict("graph on {}\nparam   w: f32 (8) = normal\n") ==
          "2:9 what begins as more than one number needs its details");
}

TEST_CASE("the text of a graph: ops that are not given what they take") {
    CHECK(verdict(whole + "y: f32 (8, 4) = exp x, x\n") == "3:17 exp does not take 2 operands");
    CHECK(verdict(whole + "y: f32 (8, 4) = cast x\n") == "3:17 'dtype' of cast is missing");
    CHECK(verdict(whole + "y: f32 (4, 8) = transpose x {permutation: [1, 2]}\n") ==
          "3:17 'permutation' of transpose is not what it takes");
    CHECK(verdict(whole + "y: f32 (4, 4) = loop_slice x {loop: true, trips: 2, reverse: false, dim: 0}\n") ==
          "3:17 it depends on a loop that is another one");
    CHECK(verdict(local + "y: f32 (8, 4) [- | -] = all_gather over a (dim 7) of x\n").starts_with("3:25 "));
}

TEST_CASE("the text of a graph: loops") {
    const std::string loop = whole + "loop 0: block, 3 trips\n  carry h: f32 (8, 4) = x\n  y: f32 (8, 4) = exp h\n";
    CHECK(verdict(loop + "end block\n  z: f32 (8, 4) = yield y\noutput  z\n") == "fine");
    CHECK(verdict(loop + "end blokc\n") == "6:5 no loop of this name is open");
    CHECK(verdict(loop) == "5:1 a loop has no end");
    CHECK(verdict(loop + "  carry i: f32 (8, 4) = x\n") == "6:3 what a loop carries stands at its beginning");
    CHECK(verdict(loop + "end block\n  z: f32 (8, 4) = yield y\n  u: f32 (8, 4) = yield y\n") ==
          "8:25 the loop carries no more");
    CHECK(verdict(whole + "loop 0: block, 0 trips\n") == "3:22 a loop has at least one trip");
}

TEST_CASE("the text of a graph: a mesh with links and ids is read as it is printed, and no other one") {
    const auto text = [](const std::string& axes) {
        return "graph on {" + axes +
               "}\n  | {\"mesh\": {\"axes\": [{\"name\": \"a\", \"size\": 2, \"link\": \"near\"}], \"devices\": 2, "
               "\"device_ids\": [1, 0]}}\ninput   x: f32 (8) [a] = 1\noutput  x\n";
    };
    Sources sources;
    Diagnostics diagnostics;
    const std::optional<GraphState> state = parse_graph(sources, sources.add("g", text("a: 2")), diagnostics);
    REQUIRE(state);
    CHECK(state->mesh.axes[0].link == "near");
    CHECK(graph_text(*state, {nullptr, true}) == text("a: 2"));
    CHECK(verdict(text("a: 4")) == "1:15 the details have another mesh");
}

TEST_CASE("the text of a graph: what an op of a manual region says of the mesh is so") {
    const auto entered = [](const std::string& attributes) {
        const std::string found =
            verdict(whole + "region 0: manual over a\ny: f32 (4, 4) varying over a = to_local x " + "{over: [a], " +
                    attributes + "}\n");
        return found.substr(found.find(' ') + 1);
    };
    const std::string another = "it is in a manual region that is another one";
    CHECK(entered("mesh_axes: [0], sizes: [2], region: 0, parts: [2, 1]") == "fine");
    CHECK(entered("mesh_axes: [0], sizes: [2], region: 0, parts: [0, 1]") == another);
    CHECK(entered("mesh_axes: [0], sizes: [2], region: 0, parts: [2, 1, 1]") == another);
    CHECK(entered("mesh_axes: [0], sizes: [2], region: 1, parts: [2, 1]") == another);
    CHECK(entered("mesh_axes: [1], sizes: [2], region: 0, parts: [2, 1]") == another);
    CHECK(entered("mesh_axes: [0], sizes: [4], region: 0, parts: [2, 1]") == another);
    CHECK(entered("mesh_axes: [0, 0], sizes: [2, 2], region: 0, parts: [2, 1]") == another);
    CHECK(entered("sizes: [2], region: 0, parts: [2, 1]") == another);
}

TEST_CASE("the text of a graph: a part is of a whole that has its dims") {
    const auto of = [](const std::string& shape) {
        return verdict(local + "y: f32 (4, 4) of " + shape + " [a | -] = exp x\n");
    };
    CHECK(of("(8, 4)") == "fine");
    CHECK(of("(8)") == "3:1 the whole has other dims");
    CHECK(of("(8, 4, 1)") == "3:1 the whole has other dims");
    CHECK(of("(8, 0)") == "3:23 a dim has at least one element");
    CHECK(of("(4611686018427387904, 4)") == "3:18 more elements than 64 bits count");
}
