// Rows that products are slow at. Tensor cores read rows in pieces of Hardware::row_alignment bytes; where the rows of an
// operand or a result begin between two pieces, libraries take kernels that are several times as slow, which the price
// does not count (docs/measured-kernels.md).
#pragma once

#include "planner/model/model.h"
#include "planner/schedule/schedule.h"
#include "plans/collective/hardware.h"
#include "plans/diagnostics/diagnostic.h"

namespace shard {

// W0405, at the axis, for each logical axis whose parts on a device make such rows, in types of 2 bytes and less, where
// products over them are at least 1% of the step's FLOPs.
void warn_of_unaligned_rows(const Plan& plan, const Local& local, const ScheduleMap& map, const Model& model,
                            const Hardware& hardware, Diagnostics& diagnostics);

} // namespace shard
