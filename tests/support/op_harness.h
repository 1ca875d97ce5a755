// Emits single ops on inputs of given shapes, for the tests of ops.
#pragma once

#include "planner/graph/builder.h"

#include <initializer_list>

namespace shard {

using OpArguments = std::initializer_list<std::pair<std::string, AttributeValue>>;

struct Emitted {
    Graph graph;
    Diagnostics diagnostics;
    std::optional<ValueId> result;
    const TensorType& type() const { return graph.value(*result).type; }
    const Node& last() const { return graph.nodes.back(); }
    IndexRule rule() const; // of the last node
};

TensorType f32(Shape shape, std::vector<std::string> logical = {});
TensorType typed(DType dtype, Shape shape);

Emitted emit(std::string_view op, std::vector<TensorType> operands, OpArguments arguments = {});
// "([i, k],[k, j])->([i, j]) {...}", or "error CODE: message".
std::string rule_of(std::string_view op, std::vector<TensorType> operands, OpArguments arguments = {});
// "(8, 16)", or "f32(8, 16)" for all but f32, or "error CODE: message".
std::string shape_of(std::string_view op, std::vector<TensorType> operands, OpArguments arguments = {});
// What the op lowers to on one device.
Kernel kernel_of(const Emitted& emitted);
// The nodes' ops in order: "constant max".
std::string ops_of(const Graph& graph);

} // namespace shard
