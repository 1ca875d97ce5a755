// Values that nothing is read for: fills, literals, counts, random numbers.
#pragma once

#include "executor/kernels/kernels.h"

namespace shard {

void run_generate(const Generate& kernel, const KernelCall& call);

// The part of a generated global value that starts at `start`: what run_generate does once offsets are numbers.
void generate_box(const Generate& kernel, std::span<const i64> start, const Result& output);

} // namespace shard
