#include "planner/policies_support/policy_values.h"
#include "planner/text/quantity.h"
#include "plans/base/units.h"

#include <fmt/format.h>

namespace shard {

namespace {

void read(const Yaml& value, std::vector<PolicyEntry>& entries, Diagnostics& diagnostics) {
    const std::optional<i64> limit = read_bytes(value, "max_host_memory_per_device", diagnostics);
    if (!limit) return;
    entries.push_back(
        {"max_host_memory_per_device", value.span, [limit](const Plan& plan, Span place, Diagnostics& found) {
             const i64 peak = plan.report.memory.host_peak;
             if (peak <= *limit) return;
             found.finding("P0115", place,
                           fmt::format("a device keeps {} in its host's memory, the limit is {}", exact_bytes(peak),
                                       exact_bytes(*limit)));
         }});
}

} // namespace

const PolicyDef& policy_max_host_memory_per_device() {
    static const PolicyDef def = {"max_host_memory_per_device",
                                  "The peak of what a device keeps in its host's memory is at most this.\n"
                                  "max_host_memory_per_device: 48 GiB",
                                  read};
    return def;
}

} // namespace shard
