#include "planner/price/judge.h"

#include "planner/policies_support/contributors.h"
#include "plans/base/units.h"

#include <fmt/format.h>

namespace shard {

namespace {

void warn_of_capacity(const Plan& plan, Span place, Diagnostics& diagnostics) {
    const MemoryReport& memory = plan.report.memory;
    if (memory.host_capacity > 0 && memory.host_peak > memory.host_capacity)
        diagnostics.warning("W0401", place,
                            fmt::format("the plan needs {} of the host's memory per device, {} has {}",
                                        exact_bytes(memory.host_peak), plan.report.hardware,
                                        exact_bytes(memory.host_capacity)));
    if (memory.capacity <= 0 || memory.peak <= memory.capacity) return;
    note_peak(diagnostics.warning("W0401", place,
                                  fmt::format("the plan needs {} per device, {} has {}", exact_bytes(memory.peak),
                                              plan.report.hardware, exact_bytes(memory.capacity))),
              plan);
}

} // namespace

void judge(const Plan& plan, const PolicyDecl& policy, Diagnostics& diagnostics, Span hardware) {
    warn_of_capacity(plan, hardware.known() ? hardware : policy.span, diagnostics);
    for (const PolicyEntry& entry : policy.entries) entry.test(plan, entry.span, diagnostics);
}

} // namespace shard
