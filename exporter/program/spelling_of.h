// How instructions are written, by name (plans/instruction/spelling.h).
#pragma once

#include "plans/instruction/spelling.h"
#include "plans/kernel/scalar.h"

namespace shard {

const Spelling& spelling_of(ScalarOp op); // not of the four forms that belong to the kernel

} // namespace shard
