// Seconds of one kernel on one device: the profile's launch and max(FLOPs / (peak * efficiency), bytes / (bandwidth *
// efficiency)), docs/cost-model.md, or the sum of the two where the profile says `roofline: add`; attention's efficiency is that of its heads' size, where the profile tells it. A
// profile without a figure for a dtype takes f32's, without that bf16's (as TPUs multiply f32 by default); of 8 bits the
// other such type's, then as of f16 bf16's before f32's; without any figure that side costs nothing. What is no product
// goes at the rate of `pointwise`, of its steps exponentials and their kind at that of `functions`, where the profile
// tells them.
#pragma once

#include "plans/collective/hardware.h"
#include "plans/kernel/kernel.h"

namespace shard {

// What one execution reads and writes: operands and result, of a move only what its pieces copy, of a table that is
// looked up in only as much as the result holds. `in_place` is the operand whose bytes the result has, -1 for none: what
// a move leaves where it lies (a stack of which one entry is written) costs nothing.
i64 kernel_bytes(const Kernel& kernel, std::span<const TensorType> inputs, const TensorType& output, int in_place);

// Contractions, convolutions and attention: what the rates of dtypes are of.
bool is_product(const Kernel& kernel);
// FLOP/s that its arithmetic reaches, on operands of this dtype; 0: it costs nothing. Of attention as of any product.
double flop_rate(const Hardware& hardware, const Kernel& kernel, DType dtype);

// As above, of a kernel that makes `flops` and moves `bytes` once; its dtype is that of its first operand.
double kernel_seconds(const Hardware& hardware, const Kernel& kernel, std::span<const TensorType> inputs,
                      const TensorType& output, i64 flops, i64 bytes);
// What it takes at least, whatever it computes.
double memory_seconds(const Hardware& hardware, i64 bytes);
// Of a copy to the host's memory or back; 0 if the profile does not say how fast its link is.
double host_seconds(const Hardware& hardware, i64 bytes);

} // namespace shard
