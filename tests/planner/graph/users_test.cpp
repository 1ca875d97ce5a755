#include "planner/graph/users.h"

#include <doctest/doctest.h>

using namespace shard;

TEST_CASE("who reads each value: in node order, once per operand, until it is told that one reads no more") {
    Graph graph;
    graph.values.resize(4);
    for (const std::vector<ValueId>& inputs : {std::vector<ValueId>{0, 1}, {1, 1, 0}, {3}})
        graph.nodes.emplace_back().inputs = inputs;

    Users users(graph);
    const auto of = [&](ValueId id) { return std::vector<NodeId>(users[id].begin(), users[id].end()); };
    CHECK(of(0) == std::vector<NodeId>{0, 1});
    CHECK(of(1) == std::vector<NodeId>{0, 1, 1});
    CHECK(of(2).empty());
    CHECK(of(3) == std::vector<NodeId>{2});

    users.erase(1, 1);
    CHECK(of(1) == std::vector<NodeId>{0});
    users.erase(1, 2); // is none
    CHECK(of(1) == std::vector<NodeId>{0});
    CHECK(of(0) == std::vector<NodeId>{0, 1});
    CHECK(of(3) == std::vector<NodeId>{2});
}
