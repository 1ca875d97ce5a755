// Products with a side of few elements. OpenBLAS copies both matrices into an order of its own first, which pays where
// each element meets many others; here every matrix is read once, where it lies.
#pragma once

#include "executor/kernels/blas.h"

namespace shard {

// out(m x n) = lhs(m x k) * rhs(k x n), or false: there is nothing to gain here, as measured. The bits depend on the
// operands and sizes alone.
bool narrow_product(i64 m, i64 n, i64 k, MatrixRef<const float> lhs, MatrixRef<const float> rhs, MatrixRef<float> out);
bool narrow_product(i64 m, i64 n, i64 k, MatrixRef<const double> lhs, MatrixRef<const double> rhs,
                    MatrixRef<double> out);

} // namespace shard
