#include "planner/policies_support/policy_values.h"
#include "plans/base/units.h"
#include "plans/plan/report_totals.h"

#include <fmt/format.h>

namespace shard {

namespace {

void read(const Yaml& value, std::vector<PolicyEntry>& entries, Diagnostics& diagnostics) {
    const std::optional<i64> limit = read_limit_count(value, "max_collectives", 0, diagnostics);
    if (!limit) return;
    entries.push_back({"max_collectives", value.span, [limit](const Plan& plan, Span place, Diagnostics& found) {
                           const i64 count = collective_count(plan.report);
                           if (count <= *limit) return;
                           note_collectives(found.finding("P0103", place,
                                                          fmt::format("the plan executes {}, the limit is {}",
                                                                      counted(count, "collective"), *limit)),
                                            plan, all_collectives_of(plan));
                       }});
}

} // namespace

const PolicyDef& policy_max_collectives() {
    static const PolicyDef def = {
        "max_collectives",
        "A step executes at most so many collectives, each trip of a loop counted.\nmax_collectives: 12", read};
    return def;
}

} // namespace shard
