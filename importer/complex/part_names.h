// How the two parts of an array of complex numbers are typed and called: z.real and z.imag.
#pragma once

#include "importer/mlir/mlir_module.h"

namespace shard {

bool is_complex_type(const MlirType& type);
MlirType real_type(MlirType type); // tensor<8xf32> of tensor<8xcomplex<f32>>; any other as it is

int location_of_part(MlirModule& module, int location, size_t part);

// What is said of a function's arguments and results, for each part of complex ones: of a function as it was read.
void describe_parts(const MlirModule& module, MlirFunction& function);

} // namespace shard
