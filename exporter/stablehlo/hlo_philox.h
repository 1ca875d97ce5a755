// Random bits under a key of rbg (plans/random/random.h, BitLayout::rbg).
#pragma once

#include "exporter/stablehlo/hlo_ops.h"

#include <array>

namespace shard {

// Of each place in the whole array, u32, under the four words of a key, scalars of u32.
HloValue hlo_rbg_bits(const std::array<HloValue, 4>& key, const HloValue& place, HloOps& ops);

} // namespace shard
