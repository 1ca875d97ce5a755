// How a program calls its arguments and results.
#pragma once

#include "importer/mlir/mlir_module.h"

namespace shard {

// params['Block_0']['kernel'] and state.mu[0] as a path: params.Block_0.kernel, state.mu.0.
std::string path_of(std::string_view text);
// "result[1]['w']", as JAX notes it beside a result, as it is; empty without.
std::string noted_result(const MlirFunction& main, size_t i);

} // namespace shard
