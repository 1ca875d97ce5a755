// What attention does to a row of scores. Rows of f32 are done in vector registers, by operations that round the same on
// every machine; those of f64 one by one.
#pragma once

#include "plans/base/base.h"

namespace shard {

float largest_of(const float* row, i64 count); // -infinity of none; NaN is passed over
double largest_of(const double* row, i64 count);

// Every x becomes e^(x - shift); their sum.
float exponentials(float* row, i64 count, float shift);
double exponentials(double* row, i64 count, double shift);

} // namespace shard
