// A second opinion: a scalar f64 interpreter of the graph, written from what the ops' documentation says and sharing no code with their
// rules, kernels or the executor. Slow and plain on purpose.
#pragma once

#include "planner/graph.h"

#include <map>

namespace shard {

struct Array {
    Shape shape;
    std::vector<double> values; // row-major
};

// Values of the outputs by name. `inputs` holds every input and parameter by name.
std::map<std::string, Array> interpret(const Graph& graph, const std::map<std::string, Array>& inputs);

} // namespace shard
