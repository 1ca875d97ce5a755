#include "planner/graph/graph_edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

namespace shard {

namespace {

// Where the graph reads a value, or says something of one that is made elsewhere.
template<class Visit>
void for_each_use(Graph& graph, const Visit& visit) {
    const auto all = [&visit](std::vector<ValueId>& ids) { std::for_each(ids.begin(), ids.end(), visit); };
    for (Node& node : graph.nodes) all(node.inputs);
    for (Value& value : graph.values) visit(value.of);
    all(graph.outputs);
    for (auto& [path, id] : graph.aliases) visit(id);
    for (GraphLoop& loop : graph.loops) {
        for (GraphLoop::Carried& carried : loop.carried) visit(carried.init), visit(carried.yield);
        for (GraphLoop::Sum& sum : loop.sums) visit(sum.term), visit(sum.becomes);
        for (GraphLoop::Stack& stack : loop.stacks) visit(stack.slice);
    }
    for (Update& update : graph.updates) visit(update.input), visit(update.output);
    for (Graph::Quotient& quotient : graph.quotients) visit(quotient.value), visit(quotient.sum), visit(quotient.count);
    visit(graph.loss);
    for (Call& call : graph.calls) {
        for (std::vector<ValueId>* ids : {&call.operands, &call.results, &call.given, &call.gives}) all(*ids);
        for (auto& [path, id] : call.names) visit(id);
    }
}

template<class Visit>
void for_each_definition(Graph& graph, const Visit& visit) {
    std::for_each(graph.inputs.begin(), graph.inputs.end(), visit);
    for (Node& node : graph.nodes) std::for_each(node.outputs.begin(), node.outputs.end(), visit);
    for (GraphLoop& loop : graph.loops) {
        for (GraphLoop::Carried& carried : loop.carried) visit(carried.argument), visit(carried.result);
        for (GraphLoop::Sum& sum : loop.sums) visit(sum.result);
        for (GraphLoop::Stack& stack : loop.stacks) visit(stack.result);
    }
}

// Nodes stand elsewhere: who makes what, and where loops and calls begin and end.
void renumber_nodes(Graph& graph, const std::vector<NodeId>& moved) {
    for (GraphLoop& loop : graph.loops) loop.opens = loop.closes = -1;
    for (NodeId n = 0; n < static_cast<NodeId>(graph.nodes.size()); ++n) {
        const Node& node = graph.node(n);
        for (ValueId id : node.outputs) graph.value(id).producer = n;
        if (node.opens() >= 0) graph.loops[node.opens()].opens = n;
        if (node.closes() >= 0) graph.loops[node.closes()].closes = n;
    }
    for (Call& call : graph.calls) {
        const bool is_empty = call.first == call.last;
        if (call.first >= 0 && call.first < static_cast<NodeId>(moved.size())) call.first = moved[call.first];
        if (is_empty)
            call.last = call.first;
        else if (call.last > 0 && call.last <= static_cast<NodeId>(moved.size()))
            call.last = moved[call.last - 1] + 1;
    }
}

// Where they are, along the cycles of the order: each node moves once, and no new memory is asked for.
void permute(std::vector<Node>& nodes, const std::vector<NodeId>& order) {
    std::vector<bool> placed(nodes.size());
    for (size_t first = 0; first < nodes.size(); ++first) {
        if (placed[first] || static_cast<size_t>(order[first]) == first) continue;
        Node held = std::move(nodes[first]);
        size_t at = first;
        for (placed[at] = true; static_cast<size_t>(order[at]) != first; placed[at] = true) {
            const size_t from = static_cast<size_t>(order[at]);
            nodes[at] = std::move(nodes[from]);
            at = from;
        }
        nodes[at] = std::move(held);
    }
}

std::vector<ValueId> drop_values(Graph& graph, const std::vector<bool>& gone) {
    std::vector<ValueId> moved(graph.values.size());
    std::iota(moved.begin(), moved.end(), 0);
    if (std::find(gone.begin(), gone.end(), true) == gone.end()) return moved;
    size_t kept = 0;
    for (size_t v = 0; v < graph.values.size(); ++v) {
        moved[v] = gone[v] ? -1 : static_cast<ValueId>(kept);
        if (gone[v]) continue;
        if (kept != v) graph.values[kept] = std::move(graph.values[v]);
        ++kept;
    }
    graph.values.resize(kept);
    const auto move = [&moved](ValueId& id) {
        if (id >= 0) id = moved[id];
    };
    for_each_use(graph, move);
    for_each_definition(graph, move);
    std::erase_if(graph.aliases, [](const std::pair<std::string, ValueId>& alias) { return alias.second < 0; });
    return moved;
}

} // namespace

FreshNames::FreshNames(const Graph& graph) {
    taken_.reserve(2 * graph.values.size());
    for (const Value& value : graph.values) taken_.emplace(value.name, 1);
}

std::string FreshNames::operator()(const std::string& stem) {
    if (taken_.emplace(stem, 1).second) return stem;
    int last = taken_.at(stem);
    std::string name;
    do name = fmt::format("{}#{}", stem, ++last);
    while (!taken_.emplace(name, 1).second);
    taken_.at(stem) = last;
    return name;
}

ValueId append_value(Graph& graph, Value value) {
    graph.values.push_back(std::move(value));
    return static_cast<ValueId>(graph.values.size()) - 1;
}

NodeId append_node(Graph& graph, Node node) {
    const NodeId id = static_cast<NodeId>(graph.nodes.size());
    for (ValueId output : node.outputs) graph.value(output).producer = id;
    if (node.opens() >= 0) graph.loops[node.opens()].opens = id;
    if (node.closes() >= 0) graph.loops[node.closes()].closes = id;
    graph.nodes.push_back(std::move(node));
    return id;
}

void replace_uses(Graph& graph, std::span<const ValueId> stands_for) {
    for_each_use(graph, [stands_for](ValueId& id) {
        if (id >= 0) id = stands_for[id];
    });
}

void tell_loop(Graph& graph, const Node& marker) {
    const bool opens = marker.opens() >= 0;
    GraphLoop& loop = graph.loops[opens ? marker.opens() : marker.closes()];
    size_t next = 0;
    for (GraphLoop::Carried& carried : loop.carried) (opens ? carried.init : carried.yield) = marker.inputs[next++];
    if (opens) return;
    for (GraphLoop::Sum& sum : loop.sums) sum.term = marker.inputs[next++];
    for (GraphLoop::Stack& stack : loop.stacks) stack.slice = marker.inputs[next++];
}

Moved keep_nodes(Graph& graph, const std::vector<NodeId>& order) {
    Moved moved;
    moved.nodes.assign(graph.nodes.size(), -1);
    for (size_t n = 0; n < order.size(); ++n) moved.nodes[order[n]] = static_cast<NodeId>(n);
    std::vector<bool> gone(graph.values.size());
    for (size_t n = 0; n < graph.nodes.size(); ++n)
        if (moved.nodes[n] < 0)
            for (ValueId id : graph.nodes[n].outputs) gone[id] = true;
    if (std::is_sorted(order.begin(), order.end())) { // where they are, no new memory is asked for
        for (size_t n = 0; n < order.size(); ++n)
            if (order[n] != static_cast<NodeId>(n)) graph.nodes[n] = std::move(graph.nodes[order[n]]);
        graph.nodes.resize(order.size());
    } else if (order.size() == graph.nodes.size()) {
        permute(graph.nodes, order);
    } else {
        std::vector<Node> nodes;
        nodes.reserve(order.size());
        for (NodeId n : order) nodes.push_back(std::move(graph.nodes[n]));
        graph.nodes = std::move(nodes);
    }
    moved.values = drop_values(graph, gone);
    renumber_nodes(graph, moved.nodes);
    return moved;
}

std::vector<NodeId> insert_nodes(Graph& graph, std::vector<Insertion> insertions) {
    std::stable_sort(insertions.begin(), insertions.end(),
                     [](const Insertion& a, const Insertion& b) { return a.after < b.after; });
    std::vector<NodeId> moved;
    std::vector<Node> nodes;
    nodes.reserve(graph.nodes.size() + insertions.size());
    std::vector<Insertion>::iterator next = insertions.begin();
    for (NodeId n = -1; n < static_cast<NodeId>(graph.nodes.size()); ++n) {
        if (n >= 0) {
            moved.push_back(static_cast<NodeId>(nodes.size()));
            nodes.push_back(std::move(graph.nodes[n]));
        }
        for (; next != insertions.end() && next->after == n; ++next) nodes.push_back(std::move(next->node));
    }
    graph.nodes = std::move(nodes);
    renumber_nodes(graph, moved);
    return moved;
}

std::vector<NodeId> retell(Graph& graph, NodeId begin,
                           const std::function<void(std::vector<Node>& tail, size_t n)>& visit) {
    std::vector<Node> tail(std::make_move_iterator(graph.nodes.begin() + begin),
                           std::make_move_iterator(graph.nodes.end()));
    std::vector<NodeId> moved(begin);
    std::iota(moved.begin(), moved.end(), 0);
    graph.nodes.resize(begin);
    for (size_t n = 0; n < tail.size(); ++n) {
        visit(tail, n);
        if (is_marker(tail[n])) tell_loop(graph, tail[n]);
        moved.push_back(append_node(graph, std::move(tail[n])));
    }
    renumber_nodes(graph, moved);
    return moved;
}

} // namespace shard
