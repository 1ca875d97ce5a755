#include "planner/policies_support/policy_values.h"
#include "planner/text/yaml_values.h"
#include "plans/base/units.h"

#include <fmt/format.h>

namespace shard {

namespace {

void judge_time(const Plan& plan, double limit, Span place, Diagnostics& found) {
    const TimeReport& time = plan.report.time;
    if (time.step_seconds <= limit) return;
    found
        .finding("P0106", place,
                 fmt::format("a step takes {} on {}, the limit is {}", human_seconds(time.step_seconds),
                             plan.report.hardware, human_seconds(limit)))
        .note(fmt::format("computation {}, waiting for collectives {}", human_seconds(time.compute_seconds),
                          human_seconds(time.exposed_communication_seconds)));
}

void read(const Yaml& value, std::vector<PolicyEntry>& entries, Diagnostics& diagnostics) {
    const std::optional<double> limit = read_double(value, "max_step_seconds", diagnostics);
    if (!limit) return;
    if (*limit < 0) {
        diagnostics.error("E0115", value.span, "max_step_seconds: must not be negative")
            .help("write seconds, such as 0.5");
        return;
    }
    entries.push_back({"max_step_seconds", value.span, [limit](const Plan& plan, Span place, Diagnostics& found) {
                           judge_time(plan, *limit, place, found);
                       }});
}

} // namespace

const PolicyDef& policy_max_step_seconds() {
    static const PolicyDef def = {"max_step_seconds",
                                  "The predicted time of a step is at most this.\nmax_step_seconds: 0.5", read};
    return def;
}

} // namespace shard
