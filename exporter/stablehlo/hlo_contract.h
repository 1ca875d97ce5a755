// Contractions.
#pragma once

#include "exporter/stablehlo/hlo_ops.h"

namespace shard {

HloValue hlo_contract(const Contract& kernel, const HloValues& inputs, const HloValue& output, HloOps& ops);

} // namespace shard
