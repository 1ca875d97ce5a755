// An instruction over its operands, as Python.
#pragma once

#include "exporter/python/python.h"

namespace shard {

// The pattern (plans/instruction/spelling.h) over operands; an operator inside another gets brackets.
PythonText jax_spelled(std::string_view pattern, const std::vector<PythonText>& operands);

} // namespace shard
