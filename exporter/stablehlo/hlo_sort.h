// The order of elements.
#pragma once

#include "exporter/stablehlo/hlo_ops.h"

namespace shard {

HloValue hlo_sort(const Sort& kernel, const HloValues& keys, const HloValue& output, HloOps& ops);

} // namespace shard
