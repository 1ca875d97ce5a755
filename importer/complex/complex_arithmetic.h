// What is computed with complex numbers, element by element, of their parts. `type`: that of a part.
#pragma once

#include "importer/complex/real_ops.h"

namespace shard {

Pair add(RealOps& ops, const Pair& a, const Pair& b, const MlirType& type);
Pair subtract(RealOps& ops, const Pair& a, const Pair& b, const MlirType& type);
Pair multiply(RealOps& ops, const Pair& a, const Pair& b, const MlirType& type);
Pair divide(RealOps& ops, const Pair& a, const Pair& b, const MlirType& type); // a conj(b) / |b|^2
MlirId size_of(RealOps& ops, const Pair& z, const MlirType& type);
Pair exponential(RealOps& ops, const Pair& z, const MlirType& type);
Pair logarithm(RealOps& ops, const Pair& z, const MlirType& type);       // with an angle from -pi to pi
Pair square_root(RealOps& ops, const Pair& z, const MlirType& type);     // at half that angle
Pair reciprocal_root(RealOps& ops, const Pair& z, const MlirType& type); // 1 / square root
Pair sine(RealOps& ops, const Pair& z, const MlirType& type);
Pair cosine(RealOps& ops, const Pair& z, const MlirType& type);
Pair tangent(RealOps& ops, const Pair& z, const MlirType& type);
Pair hyperbolic_tangent(RealOps& ops, const Pair& z, const MlirType& type);
Pair power(RealOps& ops, const Pair& a, const Pair& b, const MlirType& type);

} // namespace shard
