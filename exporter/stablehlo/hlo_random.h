// Random values, drawn by their place in the whole array, so that they do not depend on the layout: Threefry over u32,
// as in jax.random (docs/random.md).
#pragma once

#include "exporter/stablehlo/hlo_body.h"

#include <array>

namespace shard {

using HloKey = std::array<HloValue, 2>; // two words of u32, of one shape

// The two words that the block cipher makes of `block`.
HloKey hlo_threefry(const HloKey& key, const HloKey& block, HloOps& ops);
// As jax.random.fold_in.
HloKey hlo_fold_in(const HloKey& key, const HloValue& data, HloOps& ops);

HloValue hlo_random(const Random& random, const Generate& kernel, const HloValue& output, HloBody& body);

} // namespace shard
