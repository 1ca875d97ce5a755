// How far a node is from the end of the program that its loop's body is: XLA makes two equal gathers one only if the
// readers of the first and the second stand near each other by it (schedule_aware_collective_ops_cse.cc), so that a
// gathered parameter does not live from the forward pass to the end of the backward pass. How near is XLA:TPU's, found
// by its answers (tests/oracle).
#pragma once

#include "planner/graph/graph.h"

#include <map>

namespace shard {

class XlaGathers {
public:
    explicit XlaGathers(const Graph& graph);

    // A form of a value that is gathered for a node.
    void make(ValueId form, NodeId reader);
    // Whether it is still there for another one; then that reads it too.
    bool keeps(ValueId form, NodeId reader);

private:
    std::vector<int> heights_;       // by node: the ops of the longest way to what the body, or the graph, gives back
    std::map<ValueId, int> readers_; // by form: the least height of its readers
};

} // namespace shard
