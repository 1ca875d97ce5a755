// Index rules of nodes, made once per (op, types, attributes): layers repeat, so a large graph has few different rules.
#pragma once

#include "planner/op_def.h"

#include <deque>
#include <unordered_map>

namespace shard {

class RuleCache {
public:
    // Index of the node's rule; -1 if its op has none. Indices count up in the order of first use.
    int rule_of(const Graph& graph, const Node& node);
    const IndexRule& rule(int index) const { return rules_[static_cast<size_t>(index)]; }
    int count() const { return static_cast<int>(rules_.size()); }
    int add(IndexRule rule); // a rule that belongs to no op

private:
    struct Entry {
        Attributes attributes;
        int rule = -1;
    };
    struct KeyHash {
        size_t operator()(const std::vector<i64>& key) const;
    };
    std::vector<const OpDef*> ops_;
    std::unordered_map<std::vector<i64>, std::vector<Entry>, KeyHash> entries_; // looked up, never iterated
    std::deque<IndexRule> rules_;                                               // stable addresses
    std::vector<i64> key_;
};

} // namespace shard
