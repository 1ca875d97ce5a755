#include "planner/policies_support/policy_values.h"
#include "planner/text/yaml_values.h"
#include "plans/base/parse_number.h"
#include "plans/base/units.h"

#include <fmt/format.h>

namespace shard {

namespace {

// "20%"; nothing of what is no part of a whole.
std::optional<double> parse_percent(std::string_view text) {
    if (!text.ends_with('%') || text.front() < '0' || text.front() > '9') return std::nullopt;
    text.remove_suffix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    const std::optional<double> number = parse_number<double>(text, std::chars_format::fixed);
    return number && *number <= 100 ? number : std::nullopt;
}

void judge_share(const Plan& plan, double limit, Span place, Diagnostics& found) {
    const TimeReport& time = plan.report.time;
    if (time.exposed_communication_seconds * 100 <= time.step_seconds * limit) return;
    found
        .finding("P0109", place,
                 fmt::format("a device waits for collectives in {} of a step, the limit is {:.4g}%",
                             percent(time.exposed_communication_seconds, time.step_seconds), limit))
        .note(fmt::format("a step takes {}, of which {} are exposed communication", human_seconds(time.step_seconds),
                          human_seconds(time.exposed_communication_seconds)));
}

void read(const Yaml& value, std::vector<PolicyEntry>& entries, Diagnostics& diagnostics) {
    if (value.kind() == "a number") {
        Diagnostics unsaid;
        const double number = read_double(value, "max_exposed_share", unsaid).value_or(0);
        diagnostics.error("E0113", value.span, "max_exposed_share: expected a part of a whole, found a number")
            .help(fmt::format("write {:.6g}%", number < 1 ? number * 100 : number));
        return;
    }
    const std::optional<std::string> text = read_string(value, "max_exposed_share", diagnostics);
    const std::optional<double> limit = text ? parse_percent(*text) : std::nullopt;
    if (text && !limit)
        diagnostics.error("E0115", value.span, fmt::format("max_exposed_share: '{}' is not a part of a whole", *text))
            .help("write 20%");
    if (!limit) return;
    entries.push_back({"max_exposed_share", value.span, [limit](const Plan& plan, Span place, Diagnostics& found) {
                           judge_share(plan, *limit, place, found);
                       }});
}

} // namespace

const PolicyDef& policy_max_exposed_share() {
    static const PolicyDef def = {
        "max_exposed_share",
        "Of a step's time a device waits for collectives in at most this part.\nmax_exposed_share: 20%", read};
    return def;
}

} // namespace shard
