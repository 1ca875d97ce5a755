// Nodes that are one op with equal attributes on values of equal types: what is found out of one of them holds for all.
// Layers repeat, so a large graph has few classes.
#pragma once

#include "planner/graph/graph.h"

#include <unordered_map>

namespace shard {

class NodeClasses {
public:
    explicit NodeClasses(const Graph& graph);

    // -1 of what is not an op. Numbers count up in the order of their first nodes.
    int class_of(NodeId node) const { return class_of_[node]; }
    int count() const { return static_cast<int>(first_.size()); }
    NodeId first_of(int number) const { return first_[number]; }

private:
    std::vector<int> class_of_; // by node
    std::vector<NodeId> first_; // by class
};

// Small numbers for equal lists of numbers, which are compared in full.
class NumberedLists {
public:
    // Its number, and whether it was not there before.
    std::pair<int, bool> number(const std::vector<int>& list) {
        const auto [it, is_new] = numbers_.try_emplace(list, static_cast<int>(numbers_.size()));
        return {it->second, is_new};
    }

    struct Hash {
        size_t operator()(const std::vector<int>& list) const {
            size_t hash = 1469598103934665603u;
            for (const int word : list) hash = (hash ^ static_cast<size_t>(word)) * 1099511628211u;
            return hash ^ hash >> 32;
        }
    };

private:
    std::unordered_map<std::vector<int>, int, Hash> numbers_; // looked up, never iterated
};

} // namespace shard
