// How instructions are written, by name (plans/instruction/spelling.h).
#pragma once

#include "exporter/python/python.h"
#include "plans/instruction/spelling.h"
#include "plans/kernel/scalar.h"

namespace shard {

const Spelling& spelling_of(ScalarOp op); // not of the four forms that belong to the kernel
// The pattern over operands; an operator inside another gets brackets.
PythonText spelled(std::string_view pattern, const std::vector<PythonText>& operands);

} // namespace shard
