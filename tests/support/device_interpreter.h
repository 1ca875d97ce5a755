// The ops of manual regions for the interpreter: element by element, from what their documentation says, on what every
// device holds.
#pragma once

#include "tests/support/interpreter.h"

namespace shard {

// One array per device of the region, row-major over its axes; a global value is one array.
using PerDevice = std::vector<Array>;

// The region of a node that reads or makes local values; -1: none.
int region_of(const Graph& graph, const Node& node);
size_t devices_of(const GraphRegion& region);
const Array& on_device(const PerDevice& held, size_t device);

// nullptr if the op is none of them.
using DeviceEvaluate = PerDevice (*)(const GraphRegion&, const Node&, const PerDevice& operand, const Shape& result);
DeviceEvaluate find_device_op(std::string_view name);

// The keys that come of keys and numbers, one word of each; operands are of the result's shape, or scalars.
Array fold_in_word(const Node& node, const std::vector<const Array*>& operands, const Shape& shape);

} // namespace shard
