// Kernels of the local graph that follow from what its values say of themselves, so that no text has to spell them out.
#pragma once

#include "planner/graph/graph.h"

namespace shard {

// What an op lowers to, its factors split as operands and result are; nullopt if they do not fit it.
std::optional<Kernel> op_kernel(const Graph& graph, const Mesh& mesh, const OpDef& op, const Attributes& attributes,
                                std::span<const ValueId> operands, ValueId result);

// Of a value that is held otherwise: the device's own block of what it holds, or a copy; nullopt if it is neither.
std::optional<Kernel> move_kernel(const Value& before, const Value& after);

} // namespace shard
