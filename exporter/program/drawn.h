// What a plan draws at random, for engines that count elements in 32 bits.
#pragma once

#include "plans/plan/plan.h"

namespace shard {

// Whether every array that is drawn, in the steps or to start from, has less than 2^32 elements; else E0509.
bool draws_have_32_bits(const Plan& plan, Diagnostics& diagnostics);

// Without padding at its border, as a program of whole arrays has to be; else reports E0509.
bool is_even(const Plan& plan, Diagnostics& diagnostics);

} // namespace shard
