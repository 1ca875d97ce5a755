// A second opinion: a scalar f64 interpreter of the graph, written from what the ops' documentation says and sharing no
// code with their rules, kernels or the executor. Plain on purpose.
#pragma once

#include "planner/graph/op_def.h"
#include "tests/support/arrays.h"

#include <map>

namespace shard {

// What the values on the way mean for comparisons.
struct Exactness {
    bool exact = true;    // all are whole and so small that sums of them in any order are exact in their types
    bool in_range = true; // no whole number is beyond its type
};

// One op.
Array evaluate_node(const Node& node, const std::vector<const Array*>& operands, const TensorType& result);

// Values of the outputs by name. `inputs` holds every input and parameter by name.
std::map<std::string, Array> interpret(const Graph& graph, const std::map<std::string, Array>& inputs,
                                       Exactness* exactness = nullptr);

} // namespace shard
