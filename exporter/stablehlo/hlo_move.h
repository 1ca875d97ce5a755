// Copies of boxes: as slices, transpositions, concatenations and paddings where they are that, and else as a choice of
// every element of the result.
#pragma once

#include "exporter/stablehlo/hlo_body.h"

namespace shard {

HloValue hlo_move(const Move& move, const HloValues& inputs, const HloValue& output, HloBody& body);

} // namespace shard
