#include "planner/policies_support/policy_values.h"
#include "planner/text/quantity.h"
#include "plans/base/units.h"
#include "plans/plan/report_totals.h"

#include <fmt/format.h>

namespace shard {

namespace {

void read(const Yaml& value, std::vector<PolicyEntry>& entries, Diagnostics& diagnostics) {
    const std::optional<i64> limit = read_bytes(value, "max_wire_bytes_per_device", diagnostics);
    if (!limit) return;
    entries.push_back(
        {"max_wire_bytes_per_device", value.span, [limit](const Plan& plan, Span place, Diagnostics& found) {
             const i64 bytes = wire_bytes_per_device(plan.report);
             if (bytes <= *limit) return;
             note_collectives(found.finding("P0102", place,
                                            fmt::format("a device sends {}, the limit is {}", exact_bytes(bytes),
                                                        exact_bytes(*limit))),
                              plan, all_collectives_of(plan));
         }});
}

} // namespace

const PolicyDef& policy_max_wire_bytes_per_device() {
    static const PolicyDef def = {"max_wire_bytes_per_device",
                                  "What a device sends to others in a step, in the mean of all devices, is at most "
                                  "this.\nmax_wire_bytes_per_device: 1.5 GB",
                                  read};
    return def;
}

} // namespace shard
