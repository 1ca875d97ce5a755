// Over which axes the values of a manual region vary.
#include "planner/graph/op_def.h"
#include "tests/support/prove.h"
#include "tests/support/region.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {

namespace {

// The axes over which the body's last value of this name varies, on i = 4, j = 2, k = 1.
std::string varying_of(const std::string& in, const std::string& body, const std::string& name,
                       const std::string& options = "check: false") {
    const std::string model = fmt::format(R"(model: varying
inputs:
  x: {{shape: [8, 8]}}
  w: {{shape: [8, 8]}}
graph:
  - out:
      manual:
        {}
        in: {}
        out: {{y: ~}}
        body:
          {}
outputs: [out, x, w]
)",
                                          options, in, body);
    CAPTURE(model);
    const Graph graph = graph_on(model, "{i: 4, j: 2, k: 1}");
    const std::optional<ValueId> value = find_value(graph, "out." + name);
    REQUIRE(value.has_value());
    const GraphRegion& region = graph.regions[0];
    std::string axes;
    for (size_t a = 0; a < region.axes.size(); ++a)
        for (int axis : graph.value(*value).varying)
            if (axis == region.axes[a].axis) axes += region.names[a];
    return axes;
}

// Of a region whose check passes: all that varies is summed at the end.
std::string checked(const std::string& in, const std::string& body) {
    return varying_of(in, body + "\n          - y: {psum: v, over: [i, j]}", "v", "check: true");
}

} // namespace

TEST_CASE("what enters varies over the axes that split it, and results over those of all operands") {
    CHECK(checked("{x: [i, ~]}", "- v: {tanh: x}") == "i");
    CHECK(checked("{x: [[i, j], ~]}", "- v: {tanh: x}") == "ij");
    CHECK(checked("{x: ~}", "- v: {tanh: x}") == "");
    CHECK(checked("{x: [i, ~], w: [~, j]}", "- v: {dot: [x, w]}") == "ij");
    CHECK(checked("{x: [i, ~], w: ~}", "- v: {dot: [x, w]}") == "i");
    CHECK(checked("{x: [i, ~]}", "- v: {mul: [x, 2]}") == "i");
}

TEST_CASE("collectives drop axes, keep them or add them") {
    CHECK(checked("{x: [i, j]}", "- v: {psum: x, over: i}") == "j");
    CHECK(checked("{x: [i, j]}", "- v: {pmean: x, over: [i, j]}") == "");
    CHECK(checked("{x: [i, j]}", "- v: {pmax: x, over: j}") == "i");
    CHECK(checked("{x: [i, j]}", "- v: {all_gather: x, over: i, dim: 0, tiled: true}") == "j");
    CHECK(checked("{x: [i, ~]}", "- v: {psum_scatter: x, over: i, dim: 1, tiled: true}") == "i");
    CHECK(checked("{x: ~}", "- v: {psum_scatter: x, over: j, dim: 1, tiled: true}") == "j");
    CHECK(checked("{x: [i, ~]}", "- v: {ppermute: x, over: i, shift: 1}") == "i");
    CHECK(checked("{x: [i, ~]}", "- v: {all_to_all: x, over: i, split: 1, concat: 0, tiled: true}") == "i");
    CHECK(checked("{x: ~}", "- v: {pvary: x, over: [j]}") == "j");
    CHECK(checked("{x: ~}", "- v: {own_block: x, over: i, dim: 0}") == "i");
    CHECK(checked("{x: ~}", "- v: {axis_index: [i, j]}") == "ij");
    CHECK(checked("{x: ~}", "- v: {axis_size: i}") == "");
}

TEST_CASE("nothing varies over an axis of one device") {
    CHECK(checked("{x: [[i, k], ~]}", "- v: {tanh: x}") == "i");
    CHECK(checked("{x: ~}", "- v: {axis_index: [k, j]}") == "j");
}

TEST_CASE("in an unchecked region all that enters varies over all axes") {
    CHECK(varying_of("{x: [i, ~]}", "- y: {tanh: x}", "y") == "ij");
    CHECK(varying_of("{x: [i, ~]}", "- y: {psum: x, over: i}", "y") == "j");
}

TEST_CASE("a value that meets varying ones is taken to vary once") {
    const Graph graph = graph_on(R"(model: once
inputs:
  x: {shape: [8, 8]}
  w: {shape: [8, 8]}
graph:
  - out:
      manual:
        in: {x: [i, ~], w: ~}
        out: {y: [i, ~]}
        body:
          - a: {dot: [x, w]}
          - b: {dot: [a, w]}
          - y: {dot: [b, w]}
outputs: [out]
)",
                                 "{i: 4}");
    int pvary = 0;
    for (const Node& node : graph.nodes) pvary += node.op()->name == "pvary" ? 1 : 0;
    CHECK(pvary == 1);
}

} // namespace shard
