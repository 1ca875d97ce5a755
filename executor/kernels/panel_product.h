// Products of f32 with a side of some dozens of elements. OpenBLAS copies both matrices into an order of its own, each block
// of them as often as it fits into its caches: a cost that few rows do not earn back. Here one side is copied, in panels
// that lie in the second cache, and the other is read once, where it lies; the kernel is that of Goto and van de Geijn
// (2008, doi:10.1145/1356052.1356053): a block of sums in registers, to which products of a column by a row are added.
#pragma once

#include "executor/kernels/blas.h"

namespace shard {

// out(m x n) = lhs(m x k) * rhs(k x n), or false: there is nothing to gain here, as measured, or this processor has no
// AVX-512. Each sum is added up in the order of k, with one rounding for each product: the bits depend on the operands
// alone.
bool panel_product(i64 m, i64 n, i64 k, MatrixRef<const float> lhs, MatrixRef<const float> rhs, MatrixRef<float> out);

} // namespace shard
