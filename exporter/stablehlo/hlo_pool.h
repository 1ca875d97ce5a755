// Reductions over windows, and where a window's largest element came from.
#pragma once

#include "exporter/stablehlo/hlo_ops.h"

namespace shard {

HloValue hlo_reduce_windows(const ReduceWindows& kernel, const HloValue& input, const HloValue& output, HloOps& ops);
HloValue hlo_select_windows(const SelectWindows& kernel, const HloValues& inputs, const HloValue& output, HloOps& ops);

} // namespace shard
