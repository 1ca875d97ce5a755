// A plan as it would be if all its floating-point numbers were f64: the same steps, collectives and shardings, in a
// larger arena. What is left of a difference there tells rounding from a wrong plan (docs/verification.md).
//
//     8 buffers of f32 at offsets 0, 64, ...   ->   the same buffers of f64 at 0, 128, ...
//
// Offsets grow by one factor, so what shared bytes shares them still, and nothing else does, though a number may now lie
// in the bytes of a narrower whole number and reach beyond these. The report stays that of
// the plan: only outputs are looked at.
#pragma once

#include "executor/run/run.h"

namespace shard {

// Whether there is something to widen: a floating-point number that is no f64.
bool is_below_f64(const Plan& plan);
// Whether it takes the bits of floating-point numbers, of which wider ones have others: then it is none of these plans.
bool takes_float_bits(const Plan& plan);
Plan in_f64(const Plan& plan);

// What the plan's inputs hold before the first step, whole, in the types that the plan or the options have: draws depend
// on the type, so another plan that is to begin with the same values is given them. E0611 if the checkpoint cannot be
// read; data (RunOptions::data) is left out.
std::optional<std::map<std::string, Tensor>> beginning(const Plan& plan, const RunOptions& options,
                                                       Diagnostics& diagnostics);

} // namespace shard
