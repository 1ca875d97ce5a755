// Numbers as bits, for the interpreter: through memory, as the machine lays them out.
#pragma once

#include "plans/dtype/dtype.h"
#include "tests/support/arrays.h"

namespace shard {

// Of f32, f64, bf16 and whole numbers; f16 and what has 8 bits and a point is an internal error.
Array take_bits(const Array& array, DType from, DType to);

} // namespace shard
