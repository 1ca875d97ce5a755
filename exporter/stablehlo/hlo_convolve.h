// Convolutions, with what the plan says of windows.
#pragma once

#include "exporter/stablehlo/hlo_ops.h"

namespace shard {

// Groups as in written_convolution.h.
HloValue hlo_convolve(const Convolve& kernel, const HloValues& inputs, const HloValue& output, HloOps& ops);

} // namespace shard
