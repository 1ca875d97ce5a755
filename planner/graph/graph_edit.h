// Changes to a graph that stands. What the graph itself says of nodes and values stays right: producers, loops and what
// they carry, calls, outputs, updates, other names. Ids that somebody else holds move as the results say.
#pragma once

#include "planner/graph/graph.h"

#include <functional>
#include <span>
#include <string>
#include <unordered_map>

namespace shard {

// Names that no value has, numbered with '#'.
class FreshNames {
public:
    explicit FreshNames(const Graph& graph);
    // `stem`, or `stem`#2, ...; taken from now on.
    std::string operator()(const std::string& stem);

private:
    std::unordered_map<std::string, int> taken_; // and the last number behind it; looked up, never iterated
};

// A value that nothing makes or reads yet; its id.
ValueId append_value(Graph& graph, Value value);
// A node behind all others. Its results' producer, and where the loop begins or ends that it is a marker of, follow.
NodeId append_node(Graph& graph, Node node);

// Whoever reads value `id` reads stands_for[id]; -1 is left as it is.
void replace_uses(Graph& graph, std::span<const ValueId> stands_for);
// A loop carries, adds up and stacks what its markers read.
void tell_loop(Graph& graph, const Node& marker);

// `order` has the number of every node that is kept, once, where it is to be. Values that nobody makes any more go, and
// loops whose markers go are empty.
struct Moved {
    std::vector<NodeId> nodes;   // by the number before; -1: gone
    std::vector<ValueId> values; // likewise
};
Moved keep_nodes(Graph& graph, const std::vector<NodeId>& order);

struct Insertion {
    NodeId after = -1; // -1: before all
    Node node;
};
// In their order where several come after one node. The nodes' new numbers, by those before.
std::vector<NodeId> insert_nodes(Graph& graph, std::vector<Insertion> insertions);

// Goes through the nodes from `begin` on once more. They are taken away and come back one by one: `visit` sees the
// nodes that are to come, may change what tail[n] reads, and may append nodes, which then stand in front of it; what is
// back has its new number already. The nodes' new numbers, by those before.
std::vector<NodeId> retell(Graph& graph, NodeId begin,
                           const std::function<void(std::vector<Node>& tail, size_t n)>& visit);

} // namespace shard
