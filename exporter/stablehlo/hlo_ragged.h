// Contractions of rows in groups. StableHLO has none: a row stands once for each group, as zeros for those that it is
// not in, and one product sums over the groups.
#pragma once

#include "exporter/stablehlo/hlo_body.h"

namespace shard {

HloValue hlo_ragged(const RaggedContract& kernel, const HloValues& inputs, const HloValue& output, HloBody& body);

} // namespace shard
