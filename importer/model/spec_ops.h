// Ops of StableHLO (openxla/stablehlo, docs/spec.md) and of CHLO, whether or not import reads them.
#pragma once

#include <string_view>

namespace shard {

bool is_op_of_spec(std::string_view name); // "stablehlo.fft"

} // namespace shard
