// What the ways to partition one graph have in common, whatever its shardings are: they are several, and it is found once.
#pragma once

#include "planner/graph/node_classes.h"
#include "planner/graph/users.h"

#include <string>

namespace shard {

class GraphFacts {
public:
    explicit GraphFacts(const Graph& graph);

    Users users;
    NodeClasses classes;
    std::vector<std::string> contents;          // by class: the same for those classes of any graph that are equal
    std::vector<bool> gradient_sums, held_sums; // by node (planner/partition/gradient_sums.h)

    // Of a node with an op: among the factors of its rule.
    bool has_reduction(NodeId node) const { return sums_[classes.class_of(node)].has_reduction; }
    // The operands whose sums the op passes on: it is linear in them, and others are numbers that scale them.
    std::span<const int> passes_on(NodeId node) const { return sums_[classes.class_of(node)].passes_on; }

private:
    struct Sums {
        bool has_reduction = false;
        std::vector<int> passes_on;
    };
    std::vector<Sums> sums_; // by class
};

} // namespace shard
