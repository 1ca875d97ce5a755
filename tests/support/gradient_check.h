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

// What is wrong with the gradients of a model of one entry `y: {op}`, from three seeds. There are x, z and positive p
// (3, 4), a row b (4), a column c (3, 1), a matrix w (4, 5), a stack s (3, 4, 2), queries q and keys kv of an
// attention, flags k, indices n, l and m (of the stack's shape), and a label.
std::vector<std::string> gradient_problems(const std::string& op);

// A value for every input: -2..2 for floating-point ones, 0..7 for whole numbers.
std::map<std::string, Array> random_inputs(const Graph& graph, std::uint32_t seed);

} // namespace shard
