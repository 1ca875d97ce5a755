// Pointwise kernels: an op for every instruction, over the whole shape of the result.
#pragma once

#include "exporter/stablehlo/hlo_body.h"

namespace shard {

HloValue hlo_pointwise(const Pointwise& kernel, const HloValues& inputs, const HloValue& output, HloBody& body);

} // namespace shard
