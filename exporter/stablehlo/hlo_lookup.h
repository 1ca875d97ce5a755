// Lookups in tables and combinations into them. Of a table that is split each device has its own rows: what others have
// gives zeros, and is left out.
#pragma once

#include "exporter/stablehlo/hlo_body.h"

namespace shard {

HloValue hlo_gather(const Gather& kernel, const HloValues& inputs, const HloValue& output, HloBody& body);
HloValue hlo_scatter(const Scatter& kernel, const HloValues& inputs, const HloValue& output, HloBody& body);
// Rows of a table along an axis, by indices inside of it.
HloValue hlo_take(const HloValue& table, const HloValue& indices, const Lookup& lookup, HloOps& ops);

} // namespace shard
