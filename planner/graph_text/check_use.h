// Whether an op may be looked at with these operands and attributes: model files are checked where they are read, a
// text of a graph here.
#pragma once

#include "planner/graph/op_def.h"

#include <string>

namespace shard {

// One line, or "": the number of operands, attributes that are missing, of another type than they are declared with, or
// that name dims, sizes, loops and mesh axes that are not there.
std::string use_problem(const Graph& graph, const Mesh& mesh, const OpDef& op, const Attributes& attributes,
                        std::span<const ValueId> operands, ValueId result);

} // namespace shard
