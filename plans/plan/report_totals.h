// Sums over the collectives of a report. What exceeds 63 bits is the most that they hold.
#pragma once

#include "plans/plan/report.h"

namespace shard {

i64 collective_count(const Report& report); // executions
i64 wire_bytes_per_device(const Report& report);
i64 wire_bytes_total(const Report& report);

// The device has the memory, and its host what is kept there; where neither says how much it has, too.
bool fits(const MemoryReport& memory);

} // namespace shard
