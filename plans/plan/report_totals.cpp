#include "plans/plan/report_totals.h"

#include "plans/base/saturating.h"

namespace shard {

namespace {

i64 sum(const Report& report, i64 CollectiveReport::*figure) {
    i64 total = 0;
    for (const CollectiveReport& collective : report.collectives) total = add_saturating(total, collective.*figure);
    return total;
}

} // namespace

i64 collective_count(const Report& report) { return sum(report, &CollectiveReport::count); }
i64 wire_bytes_per_device(const Report& report) { return sum(report, &CollectiveReport::wire_bytes_per_device); }
i64 wire_bytes_total(const Report& report) { return sum(report, &CollectiveReport::wire_bytes_total); }

bool fits(const MemoryReport& memory) {
    return (memory.capacity <= 0 || memory.peak <= memory.capacity) &&
           (memory.host_capacity <= 0 || memory.host_peak <= memory.host_capacity);
}

} // namespace shard
