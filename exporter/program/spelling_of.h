// How instructions are written, by name (plans/instruction/spelling.h).
#pragma once

#include "plans/instruction/instruction.h"
#include "plans/instruction/spelling.h"

namespace shard {

const Spelling& spelling_of(ScalarOp op); // not of the four forms that belong to the kernel

} // namespace shard
