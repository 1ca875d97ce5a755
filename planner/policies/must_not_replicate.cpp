#include "planner/policies_support/policy_values.h"

#include <fmt/format.h>

namespace shard {

namespace {

void judge_whole(const Plan& plan, const ArrayPattern& pattern, Span place, Diagnostics& found) {
    TensorReports whole = matching(pattern, plan, place, found);
    if (plan.mesh.device_count() == 1) return;
    std::erase_if(whole, [](const TensorReport* tensor) { return !is_fully_replicated(tensor->sharding); });
    if (whole.empty()) return;
    note_tensors(
        found.finding("P0112", place,
                      fmt::format("{} held in full by every device",
                                  whole.size() == 1 ? whole.front()->name + " is" : counted_arrays(whole.size()))),
        plan, whole);
}

void read(const Yaml& value, std::vector<PolicyEntry>& entries, Diagnostics& diagnostics) {
    for (const Yaml& item : read_policy_list(value, "must_not_replicate", "[{min_bytes: 16 MiB}]", diagnostics))
        if (const std::optional<ArrayPattern> pattern =
                read_array_pattern(item, "must_not_replicate", false, diagnostics))
            entries.push_back(
                {"must_not_replicate", item.span, [pattern](const Plan& plan, Span place, Diagnostics& found) {
                     judge_whole(plan, *pattern, place, found);
                 }});
}

} // namespace

const PolicyDef& policy_must_not_replicate() {
    static const PolicyDef def = {"must_not_replicate",
                                  "No array that is meant is held in full by every device.\n"
                                  "must_not_replicate: [{min_bytes: 16 MiB}, {match: \"*.mu\", role: state}]",
                                  read};
    return def;
}

} // namespace shard
