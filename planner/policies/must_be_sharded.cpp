#include "planner/policies_support/policy_values.h"
#include "plans/base/units.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

// Whether some dim is split over the axis, or over any where none is named. An axis of one device splits nothing.
bool is_split(const Mesh& mesh, const TensorReport& tensor, const std::vector<Name>& over) {
    const auto dim_over = [&](int axis) {
        return std::any_of(tensor.sharding.dims.begin(), tensor.sharding.dims.end(),
                           [axis](const DimSharding& dim) { return has_axis(dim.axes, axis); });
    };
    if (over.empty()) {
        for (const DimSharding& dim : tensor.sharding.dims)
            if (shard_count(dim) > 1) return true;
        return false;
    }
    return std::all_of(over.begin(), over.end(), [&](const Name& name) {
        const std::optional<int> axis = mesh.find(name.text);
        return axis && (mesh.axes[*axis].size == 1 || dim_over(*axis));
    });
}

void judge_sharded(const Plan& plan, const ArrayPattern& pattern, Span place, Diagnostics& found) {
    TensorReports whole = matching(pattern, plan, place, found);
    if (plan.mesh.device_count() == 1) return;
    std::erase_if(whole, [&](const TensorReport* tensor) { return is_split(plan.mesh, *tensor, pattern.over); });
    if (whole.empty()) return;
    const auto unknown = std::find_if(pattern.over.begin(), pattern.over.end(),
                                      [&](const Name& name) { return !plan.mesh.find(name.text); });
    DiagnosticBuilder finding =
        found.finding("P0111", unknown == pattern.over.end() ? place : place_of(*unknown, place),
                      fmt::format("{} not split over {}",
                                  whole.size() == 1 ? whole.front()->name + " is" : counted_arrays(whole.size()),
                                  pattern.over.empty() ? "any axis" : axes_text(pattern.over)));
    for (const Name& name : pattern.over)
        if (!plan.mesh.find(name.text)) finding.note(fmt::format("the mesh has no axis '{}'", name.text));
    if (unknown != pattern.over.end())
        if (const std::string question = near_axis(plan.mesh, unknown->text); !question.empty()) finding.help(question);
    note_tensors(finding, plan, std::move(whole));
}

void read(const Yaml& value, std::vector<PolicyEntry>& entries, Diagnostics& diagnostics) {
    for (const Yaml& item : read_policy_list(value, "must_be_sharded", "[\"block.*.w1\"]", diagnostics))
        if (const std::optional<ArrayPattern> pattern = read_array_pattern(item, "must_be_sharded", true, diagnostics))
            entries.push_back(
                {"must_be_sharded", item.span, [pattern](const Plan& plan, Span place, Diagnostics& found) {
                     judge_sharded(plan, *pattern, place, found);
                 }});
}

} // namespace

const PolicyDef& policy_must_be_sharded() {
    static const PolicyDef def = {
        "must_be_sharded",
        "Every array that is meant is split: over these mesh axes, or over any.\n"
        "must_be_sharded: [\"block.*.w1\", {match: \"**\", role: param, min_bytes: 16 MiB, over: model}]",
        read};
    return def;
}

} // namespace shard
