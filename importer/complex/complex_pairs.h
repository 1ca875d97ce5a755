// Complex numbers, which models do not have, as pairs of real ones: every value of a complex type becomes two, every op
// on them ops on these. What comes after knows nothing of it.
//
//     %2 = stablehlo.multiply %0, %1 : tensor<8xcomplex<f32>>
//
// becomes four products, a difference and a sum, of which those with a part that is 0 everywhere are left out.
// Arguments and results of @main are called as before, with `.real` and `.imag` behind.
#pragma once

#include "importer/mlir/mlir_module.h"

namespace shard {

// Errors are E0801, E0803 and E0804.
void complex_to_pairs(MlirModule& module, Diagnostics& diagnostics);

} // namespace shard
