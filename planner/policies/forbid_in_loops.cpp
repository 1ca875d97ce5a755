#include "planner/policies_support/policy_values.h"

#include <fmt/format.h>

namespace shard {

namespace {

void read(const Yaml& value, std::vector<PolicyEntry>& entries, Diagnostics& diagnostics) {
    for (const Yaml& item : read_policy_list(value, "forbid_in_loops", "[all_to_all]", diagnostics)) {
        const std::optional<std::string> kind = read_collective_kind(item, "forbid_in_loops", diagnostics);
        if (!kind) continue;
        entries.push_back(
            {"forbid_in_loops", item.span, [kind = *kind](const Plan& plan, Span place, Diagnostics& found) {
                 CollectiveReports looping = all_collectives_of(plan);
                 std::erase_if(looping, [&](const CollectiveReport* collective) {
                     return collective->kind != kind || collective->count == 1;
                 });
                 if (looping.empty()) return;
                 note_collectives(
                     found.finding("P0110", place,
                                   fmt::format("{} is forbidden in loops, the plan has {}", kind, looping.size())),
                     plan, looping);
             }});
    }
}

} // namespace

const PolicyDef& policy_forbid_in_loops() {
    static const PolicyDef def = {
        "forbid_in_loops",
        "No collective of these kinds is executed more than once in a step: in a loop over layers or microbatches.\n"
        "forbid_in_loops: [all_to_all]",
        read};
    return def;
}

} // namespace shard
