// What an op means for the values of a manual region: which region the node is in, and over which mesh axes its
// operands and results vary. An op's result varies over every axis over which an operand does; only ops of the region
// say otherwise (planner/graph/device_op.h). Axes of one device do not count: nothing varies over them.
#pragma once

#include "planner/graph/device_op.h"

namespace shard {

struct LocalUse {
    int region = -1;           // -1: outside all regions
    std::vector<int> operands; // axes over which every operand is to vary
    std::vector<int> result;
};
// `here`: the region of ops without operands.
LocalUse local_use(const Graph& graph, const OpDef& op, std::span<const ValueId> operands, const Attributes& attributes,
                   int here);

void join(std::vector<int>& axes, std::span<const int> more);                              // sorted, each once
std::vector<int> axes_without(const std::vector<int>& axes, const std::vector<int>& gone); // both sorted
// The attributes `over`, `mesh_axes` and `sizes` for some axes of a region.
Attributes over_axes(const GraphRegion& region, std::span<const int> axes);

} // namespace shard
