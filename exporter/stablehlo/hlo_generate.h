// Values from nothing.
#pragma once

#include "exporter/stablehlo/hlo_body.h"

namespace shard {

HloValue hlo_generate(const Generate& kernel, const HloValue& output, HloBody& body);

} // namespace shard
