// How far a node is from the end of the program that its loop's body is: XLA makes two equal gathers one only if the
// readers of the first and the second stand near each other by it (schedule_aware_collective_ops_cse.cc), so that a
// gathered parameter does not live from the forward pass to the end of the backward pass. How near is XLA:TPU's, found
// by its answers (tests/oracle).
#pragma once

#include "planner/graph/graph.h"

namespace shard {

// By node, the ops of the longest way to what the body, or the whole graph, gives back.
std::vector<int> xla_heights(const Graph& graph);

// Whether what is gathered for a reader at one height stays for a later one.
bool xla_keeps_gathered(int first_height, int later_height);

} // namespace shard
