#include "planner/policies_support/policy_values.h"

#include <fmt/format.h>

namespace shard {

namespace {

void read(const Yaml& value, std::vector<PolicyEntry>& entries, Diagnostics& diagnostics) {
    for (const Yaml& item : read_policy_list(value, "forbid_collectives", "[all_to_all]", diagnostics)) {
        const std::optional<std::string> kind = read_collective_kind(item, "forbid_collectives", diagnostics);
        if (!kind) continue;
        entries.push_back(
            {"forbid_collectives", item.span, [kind = *kind](const Plan& plan, Span place, Diagnostics& found) {
                 CollectiveReports of_kind = all_collectives_of(plan);
                 std::erase_if(of_kind, [&](const CollectiveReport* c) { return c->kind != kind; });
                 if (of_kind.empty()) return;
                 i64 count = 0; // in loops, of all trips
                 for (const CollectiveReport* const c : of_kind) count += c->count;
                 note_collectives(
                     found.finding("P0104", place, fmt::format("{} is forbidden, the plan has {}", kind, count)), plan,
                     of_kind);
             }});
    }
}

} // namespace

const PolicyDef& policy_forbid_collectives() {
    static const PolicyDef def = {"forbid_collectives",
                                  "No collective is of one of these kinds.\nforbid_collectives: [all_to_all]", read};
    return def;
}

} // namespace shard
