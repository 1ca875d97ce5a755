// Index rules of nodes, made once per (op, types, attributes), and equal rules once: layers repeat, so a large graph
// has few different rules, and what is remembered of a rule counts for all that have it.
#pragma once

#include "planner/graph/op_def.h"

#include <deque>
#include <string>
#include <unordered_map>

namespace shard {

class RuleCache {
public:
    // Index of the node's rule; -1 if its op has none. Indices count up in the order of first use.
    int rule_of(const Graph& graph, const Node& node);
    const IndexRule& rule(int index) const { return rules_[index]; }
    int count() const { return static_cast<int>(rules_.size()); }
    int add(IndexRule rule); // of an op or of none

private:
    std::unordered_map<std::string, int> by_node_, by_rule_; // looked up, never iterated
    std::deque<IndexRule> rules_;                            // stable addresses
};

} // namespace shard
