// Values that nothing is read for: fills, literals, counts, random numbers.
#pragma once

#include "executor/kernels/kernels.h"

namespace shard {

void run_generate(const Generate& kernel, const KernelCall& call);

// The part of a generated global value that starts at `start`: what run_generate does once offsets are numbers.
void generate_box(const Generate& kernel, std::span<const i64> start, const Result& output);
// The same where the part may reach beyond the whole, into padding: there are zeros.
void generate_block(const Generate& kernel, std::span<const i64> start, const Result& output);

// Where the kernel's own part starts, and the kernel with what is folded into its key as it is now.
std::vector<i64> own_start(const Generate& kernel, const AffineContext& context);
Generate folded(const Generate& kernel, const AffineContext& context);

} // namespace shard
