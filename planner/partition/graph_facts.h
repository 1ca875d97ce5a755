// What the ways to partition one graph have in common, whatever its shardings are: they are several, and it is found once.
#pragma once

#include "planner/graph/node_classes.h"

#include <string>

namespace shard {

struct GraphFacts {
    explicit GraphFacts(const Graph& graph);

    std::vector<std::vector<NodeId>> users; // by value
    std::vector<bool> gradient_sums;        // by node
    NodeClasses classes;
    std::vector<std::string> contents; // by class: the same for those classes of any graph that are equal
};

} // namespace shard
