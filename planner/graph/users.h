// Who reads each value.
#pragma once

#include "planner/graph/graph.h"

namespace shard {

// Nodes that read each value, in node order, a node once per operand. They stand in one array, value by value.
class Users {
public:
    Users() = default;
    explicit Users(const Graph& graph);

    std::span<const NodeId> operator[](ValueId id) const { return std::span(nodes_).subspan(begin_[id], count_[id]); }
    // It is no user of the value from now on.
    void erase(ValueId id, NodeId user);

private:
    std::vector<size_t> begin_, count_; // by value, of `nodes_`
    std::vector<NodeId> nodes_;
};

} // namespace shard
