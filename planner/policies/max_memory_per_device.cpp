#include "planner/policies_support/policy_values.h"
#include "planner/text/quantity.h"
#include "plans/base/units.h"

#include <fmt/format.h>

namespace shard {

namespace {

void read(const Yaml& value, std::vector<PolicyEntry>& entries, Diagnostics& diagnostics) {
    const std::optional<i64> limit = read_bytes(value, "max_memory_per_device", diagnostics);
    if (!limit) return;
    entries.push_back({"max_memory_per_device", value.span, [limit](const Plan& plan, Span place, Diagnostics& found) {
                           const i64 peak = plan.report.memory.peak;
                           if (peak <= *limit) return;
                           note_peak(found.finding("P0101", place,
                                                   fmt::format("peak memory is {} per device, the limit is {}",
                                                               exact_bytes(peak), exact_bytes(*limit))),
                                     plan);
                       }});
}

} // namespace

const PolicyDef& policy_max_memory_per_device() {
    static const PolicyDef def = {
        "max_memory_per_device", "The peak of a device's memory is at most this.\nmax_memory_per_device: 16 GiB", read};
    return def;
}

} // namespace shard
