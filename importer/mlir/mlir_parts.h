// What the ops at the top of a text are for: modules are taken apart, functions and meshes count.
#pragma once

#include "importer/mlir/mlir_module.h"

namespace shard {

void take_parts(MlirOp op, MlirModule& module);

} // namespace shard
