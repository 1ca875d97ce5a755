#include "planner/policies_support/policy_values.h"
#include "planner/text/yaml_values.h"
#include "plans/base/parse_number.h"
#include "plans/base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

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

// "5 ms", which is not how it is written.
std::optional<double> seconds_of(std::string_view text) {
    const size_t unit = std::min(text.find_first_not_of("0123456789.eE+-"), text.size());
    std::string_view number = text.substr(0, unit), named = text.substr(unit);
    while (named.starts_with(' ')) named.remove_prefix(1);
    constexpr std::pair<std::string_view, double> units[] = {{"s", 1},     {"sec", 1},        {"ms", 1e-3},
                                                             {"us", 1e-6}, {"\u00b5s", 1e-6}, {"ns", 1e-9}};
    for (const auto& [name, seconds] : units)
        if (name == named)
            if (const std::optional<double> value = parse_number<double>(number)) return *value * seconds;
    return std::nullopt;
}

void read(const Yaml& value, std::vector<PolicyEntry>& entries, Diagnostics& diagnostics) {
    if (const std::optional<double> seconds = value.scalar() ? seconds_of(value.scalar()->text) : std::nullopt) {
        diagnostics.error("E0113", value.span, "max_step_seconds: expected a number of seconds, without a unit")
            .help(fmt::format("write {:.12g}", *seconds));
        return;
    }
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
