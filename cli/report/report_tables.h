// The tables of a report, shared by the commands and formats. What is in them is decided in cli/summary.
#pragma once

#include "cli/summary/collective_rows.h"
#include "cli/summary/sharding_rows.h"
#include "cli/terminal/table.h"

namespace shard {

Table shardings_table(const Plan& plan, const ShardingRows& shardings, const Paint& paint);
// Every row with its cause and remedy as notes.
Table collectives_table(const Plan& plan, const CollectiveRows& collectives, const Paint& paint);
// Only their sums.
Table sums_table(const Plan& plan, const CollectiveRows& collectives, const Paint& paint);
Table memory_table(const MemoryReport& memory);
Table peak_table(const MemoryReport& memory); // what is alive at the peak
Table time_table(const Report& report);

} // namespace shard
