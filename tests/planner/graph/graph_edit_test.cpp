#include "planner/graph/graph_edit.h"

#include "planner/graph/builder.h"
#include "planner/graph/loop_builder.h"
#include "planner/graph/op_def.h"

#include <doctest/doctest.h>
#include <numeric>

using namespace shard;

TEST_SUITE_BEGIN("graph");

namespace {

// x; a = neg x; in three trips y = exp(carried); b = neg a, which is the output
struct Looped {
    Graph graph;
    Diagnostics diagnostics;
    Builder builder{graph, diagnostics};
    ValueId x, a, y, looped, b;

    Looped() {
        Value input;
        input.name = "x";
        input.type = {DType::f32, {4}, {""}};
        input.role = Role::input;
        x = builder.add_input(std::move(input));
        a = *builder.emit("neg", {x});
        GraphLoop header;
        header.trips = 3;
        LoopBuilder loop(builder, header, {a}, {});
        y = *builder.emit("exp", {loop.argument(0)});
        looped = loop.close({y}, {}, {}, "").carried[0];
        b = *builder.emit("neg", {a});
        graph.outputs = {b};
        graph.output_names = {"b"};
        verify_graph(graph);
    }
};

} // namespace

TEST_CASE("nodes are put behind others, and the loop knows where it begins and ends") {
    Looped l;
    Node copy = l.graph.node(l.graph.value(l.a).producer);
    Value twin = l.graph.value(l.a);
    twin.name = FreshNames(l.graph)(twin.name);
    CHECK(twin.name != l.graph.value(l.a).name);
    const ValueId added = append_value(l.graph, std::move(twin));
    copy.outputs = {added};
    const NodeId opens = l.graph.loops[0].opens;
    const std::vector<NodeId> moved = insert_nodes(l.graph, {{l.graph.value(l.a).producer, copy}});
    CHECK(l.graph.loops[0].opens == opens + 1);
    CHECK(moved[opens] == opens + 1);
    CHECK(l.graph.value(added).producer == l.graph.value(l.a).producer + 1);
    verify_graph(l.graph);
}

TEST_CASE("a call that became no nodes stays empty, another keeps its nodes") {
    Looped l;
    const NodeId opens = l.graph.loops[0].opens;
    Call empty, whole;
    empty.first = empty.last = opens;
    whole.first = 0, whole.last = opens + 1;
    l.graph.calls = {empty, whole};
    Node copy = l.graph.node(opens - 1);
    Value twin = l.graph.value(l.a);
    twin.name = "twin";
    copy.outputs = {append_value(l.graph, std::move(twin))};
    insert_nodes(l.graph, {{opens - 1, copy}});
    CHECK(l.graph.calls[0].first == opens + 1);
    CHECK(l.graph.calls[0].last == opens + 1);
    CHECK(l.graph.calls[1].first == 0);
    CHECK(l.graph.calls[1].last == opens + 2);
}

TEST_CASE("what a loop carries follows when its reads are replaced") {
    Looped l;
    std::vector<ValueId> stands_for(l.graph.values.size());
    std::iota(stands_for.begin(), stands_for.end(), 0);
    stands_for[l.a] = l.x;
    replace_uses(l.graph, stands_for);
    CHECK(l.graph.loops[0].carried[0].init == l.x);
    CHECK(l.graph.node(l.graph.loops[0].opens).inputs[0] == l.x);
    verify_graph(l.graph);
}

TEST_CASE("a loop that goes takes its values along, and is empty") {
    Looped l;
    std::vector<NodeId> kept;
    for (NodeId n = 0; n < static_cast<NodeId>(l.graph.nodes.size()); ++n)
        if (l.graph.node(n).loop < 0 && !is_marker(l.graph.node(n))) kept.push_back(n);
    const std::string name = l.graph.value(l.b).name;
    const Moved moved = keep_nodes(l.graph, kept);
    CHECK(l.graph.loops[0].opens == -1);
    CHECK(moved.values[l.y] == -1);
    CHECK(moved.values[l.looped] == -1);
    CHECK(l.graph.value(moved.values[l.b]).name == name);
    CHECK(l.graph.outputs == std::vector<ValueId>{moved.values[l.b]});
    verify_graph(l.graph);
}

TEST_CASE("all nodes in another order are the same nodes elsewhere") {
    Graph graph;
    Diagnostics diagnostics;
    Builder builder{graph, diagnostics};
    Value input;
    input.name = "x";
    input.type = {DType::f32, {4}, {""}};
    input.role = Role::input;
    const ValueId x = builder.add_input(std::move(input));
    std::vector<ValueId> made;
    for (const char* op : {"neg", "exp", "tanh", "relu", "abs", "sqrt"}) made.push_back(*builder.emit(op, {x}));
    // A cycle of three, one of two, and one that stays.
    const std::vector<NodeId> order = {2, 0, 1, 4, 3, 5};
    const Moved moved = keep_nodes(graph, order);
    std::string ops;
    for (const Node& node : graph.nodes) ops += std::string(node.op()->name) + " ";
    CHECK(ops == "tanh neg exp abs relu sqrt ");
    CHECK(moved.nodes == std::vector<NodeId>{1, 2, 0, 4, 3, 5});
    for (size_t n = 0; n < made.size(); ++n) CHECK(graph.value(made[n]).producer == moved.nodes[n]);
    verify_graph(graph);
}

TEST_CASE("what is appended while nodes are told again stands in front of its reader") {
    Looped l;
    const NodeId begin = l.graph.loops[0].opens;
    ValueId again = -1;
    retell(l.graph, begin, [&](std::vector<Node>& tail, size_t n) {
        for (ValueId& input : tail[n].inputs) {
            if (input != l.a) continue;
            if (again < 0) again = *l.builder.emit("neg", {l.x});
            input = again;
        }
    });
    CHECK(l.graph.value(again).producer == begin);
    CHECK(l.graph.loops[0].opens == begin + 1);
    CHECK(l.graph.loops[0].carried[0].init == again);
    verify_graph(l.graph);
}

TEST_CASE("fresh names go on from the last number behind each, and leave out what is taken") {
    Graph graph;
    Diagnostics diagnostics;
    Builder builder{graph, diagnostics};
    Value input;
    input.name = "a#3";
    input.role = Role::input;
    builder.add_input(std::move(input));
    FreshNames fresh(graph);
    std::vector<std::string> names;
    for (const char* stem : {"a", "a", "a", "a#2", "a", "a#2", "b"}) names.push_back(fresh(stem));
    CHECK(names == std::vector<std::string>{"a", "a#2", "a#4", "a#2#2", "a#5", "a#2#3", "b"});
}

TEST_SUITE_END();
