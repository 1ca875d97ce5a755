// Random bits as values of a distribution (plans/random/distribution.h).
#pragma once

#include "exporter/stablehlo/hlo_ops.h"
#include "plans/random/distribution.h"

namespace shard {

// Of one word of u32 an element, or two for randint.
HloValue hlo_sample(const Distribution& distribution, const HloValues& words, HloOps& ops);

} // namespace shard
