// Discrete Fourier transforms as products with matrices of waves:
//
//     X[k] = sum over j of x[j] exp(-2 pi i j k / n)
//
// A long transform is made of short ones (Cooley and Tukey 1965, Math. Comp. 19): n = a b samples as a rows of b are
// transformed along the rows' dim, turned by exp(-2 pi i j k / n), and transformed along the other. Each is a product that
// a matrix unit computes, which is how XLA transforms on TPUs, too.
#pragma once

#include "importer/complex/real_ops.h"

namespace shard {

// A prime factor of a transform's length beyond this has no product that fits.
inline constexpr i64 most_fourier_factor = 8192;
bool can_transform(i64 length);

enum class Fourier { forward, inverse };

// `x` has this type in both parts; the result too. Along one dim; the inverse is divided by its size.
Pair fourier(RealOps& ops, const Pair& x, const MlirType& type, size_t dim, Fourier direction);

// Of real numbers the first n / 2 + 1 along the last dim, and from those, along the last dim, n real numbers.
Pair fourier_of_real(RealOps& ops, MlirId x);
Part fourier_to_real(RealOps& ops, const Pair& x, const MlirType& type, i64 length);

} // namespace shard
