// Gradients are checked against central differences by the independent interpreter, which computes in f64 whatever the
// values' types are.
#pragma once

#include "planner/graph/builder.h"
#include "tests/support/interpreter.h"

namespace shard {

// The graph's floating-point outputs become one scalar: the sum of all their elements, each with a weight of its own.
// Outputs afterwards: "loss", and "grad.<input>" for each floating-point input and parameter.
void add_gradients(Graph& graph);

// Where the outputs of add_gradients differ from the differences of the loss, one line each. The inputs are moved one
// by one, along random directions.
std::vector<std::string> check_gradients(const Graph& graph, std::uint32_t seed);

// A value for every input: -2..2 for floating-point ones, 0..7 for whole numbers.
std::map<std::string, Array> random_inputs(const Graph& graph, std::uint32_t seed);

} // namespace shard
