// Kernels that hold plain numbers alone, with one thing changed, for tests/support/mutate_plan.cpp.
#pragma once

#include "plans/kernel/kernel.h"

#include <functional>

namespace shard {

// A number from 0 on and below the limit.
using Below = std::function<i64(i64)>;
void mutate(Scan& kernel, const Below& below);
void mutate(Sort& kernel, const Below& below);
void mutate(Convolve& kernel, const Below& below);
void mutate(RaggedContract& kernel, const Below& below);
void mutate(ReduceWindows& kernel, const Below& below);
void mutate(SelectWindows& kernel, const Below& below);

} // namespace shard
