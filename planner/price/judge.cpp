#include "planner/price/judge.h"

#include "planner/policies_support/contributors.h"
#include "plans/base/units.h"

#include <fmt/format.h>

namespace shard {

namespace {

void warn_of_capacity(const Plan& plan, Span place, Diagnostics& diagnostics) {
    const MemoryReport& memory = plan.report.memory;
    if (memory.capacity <= 0 || memory.peak <= memory.capacity) return;
    note_tensors(diagnostics.warning("W0401", place,
                                     fmt::format("the plan needs {} per device, {} has {}", exact_bytes(memory.peak),
                                                 plan.report.hardware, exact_bytes(memory.capacity))),
                 plan, all_tensors(plan));
}

} // namespace

void judge(const Plan& plan, const PolicyDecl& policy, Diagnostics& diagnostics) {
    warn_of_capacity(plan, policy.span, diagnostics);
    for (const PolicyEntry& entry : policy.entries) entry.test(plan, entry.span, diagnostics);
}

} // namespace shard
