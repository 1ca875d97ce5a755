#include "planner/policies_support/policy_values.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

void judge_pair(const Plan& plan, const std::vector<Name>& pair, Span place, Diagnostics& found) {
    const std::optional<int> first = find_axis(plan.mesh, pair[0], place, found),
                             second = find_axis(plan.mesh, pair[1], place, found);
    if (!first || !second) return;
    const auto has_both = [&](std::span<const AxisRef> axes) {
        return has_axis(axes, *first) && has_axis(axes, *second);
    };
    CollectiveReports crossing = all_collectives_of(plan);
    std::erase_if(crossing, [&](const CollectiveReport* collective) { return !has_both(collective->axes); });
    TensorReports split = all_tensors(plan);
    std::erase_if(split, [&](const TensorReport* tensor) {
        return std::none_of(tensor->sharding.dims.begin(), tensor->sharding.dims.end(),
                            [&](const DimSharding& dim) { return has_both(dim.axes); });
    });
    const std::string names = axes_text(pair);
    if (!crossing.empty())
        note_collectives(
            found.finding("P0114", place,
                          fmt::format("{} are forbidden together, and {} over both", names,
                                      crossing.size() == 1 ? "a collective runs"
                                                           : fmt::format("{} collectives run", crossing.size()))),
            plan, crossing);
    if (!split.empty())
        note_tensors(found.finding(
                         "P0114", place,
                         fmt::format("{} are forbidden together, and a dim of {} is split over both", names,
                                     split.size() == 1 ? split.front()->name : fmt::format("{} arrays", split.size()))),
                     plan, split);
}

void read(const Yaml& value, std::vector<PolicyEntry>& entries, Diagnostics& diagnostics) {
    for (const Yaml& item : read_policy_list(value, "forbid_axis_pairs", "[[data, model]]", diagnostics)) {
        if (item.list() == nullptr || item.list()->size() != 2) {
            diagnostics
                .error("E0113", item.span,
                       fmt::format("forbid_axis_pairs: expected two mesh axes, found {}",
                                   item.list() ? "a list of another length" : item.kind()))
                .help("write [data, model]");
            continue;
        }
        const std::optional<std::vector<Name>> pair = read_axis_names(item, "forbid_axis_pairs", diagnostics);
        if (!pair) continue;
        entries.push_back({"forbid_axis_pairs", item.span, [pair](const Plan& plan, Span place, Diagnostics& found) {
                               judge_pair(plan, *pair, place, found);
                           }});
    }
}

} // namespace

const PolicyDef& policy_forbid_axis_pairs() {
    static const PolicyDef def = {
        "forbid_axis_pairs",
        "No collective runs over both axes of a pair, and no dim is split over both; links that differ, say.\n"
        "forbid_axis_pairs: [[data, model]]",
        read};
    return def;
}

} // namespace shard
