#include "planner/policies_support/policy_values.h"
#include "planner/text/quantity.h"
#include "planner/text/yaml_values.h"
#include "plans/base/saturating.h"
#include "plans/base/units.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

// What a limit speaks of: an empty member is all.
struct Limit {
    std::vector<Name> over;
    std::string kind;
    i64 bytes = 0;
};

std::optional<Limit> read_limit(const Yaml& yaml, Diagnostics& diagnostics) {
    const int before = diagnostics.error_count();
    Limit limit;
    if (!check_keys(yaml, {"over", "kind", "bytes"}, "max_wire_bytes", diagnostics)) return std::nullopt;
    if (const Yaml* over = yaml.find("over"))
        limit.over = read_axis_names(*over, "over", diagnostics).value_or(std::vector<Name>{});
    if (const Yaml* kind = yaml.find("kind"))
        limit.kind = read_collective_kind(*kind, "kind", diagnostics).value_or("");
    if (const Yaml* bytes = yaml.find("bytes"))
        limit.bytes = read_bytes(*bytes, "bytes", diagnostics).value_or(0);
    else
        diagnostics.error("E0116", yaml.span, "a limit of max_wire_bytes needs 'bytes'")
            .help("write {over: data, kind: all_gather, bytes: 1 GiB}");
    return diagnostics.error_count() > before ? std::nullopt : std::optional(limit);
}

void judge_bytes(const Plan& plan, const Limit& limit, Span place, Diagnostics& found) {
    std::vector<int> over;
    for (const Name& name : limit.over)
        if (const std::optional<int> axis = find_axis(plan.mesh, name, place, found)) over.push_back(*axis);
    if (over.size() < limit.over.size()) return; // nothing runs over an axis that is not there
    CollectiveReports meant = all_collectives_of(plan);
    std::erase_if(meant, [&](const CollectiveReport* collective) {
        return (!limit.kind.empty() && collective->kind != limit.kind) ||
               !std::all_of(over.begin(), over.end(), [&](int axis) { return has_axis(collective->axes, axis); });
    });
    i64 bytes = 0;
    for (const CollectiveReport* collective : meant) bytes = add_saturating(bytes, collective->wire_bytes_per_device);
    if (bytes <= limit.bytes) return;
    note_collectives(found.finding("P0108", place,
                                   fmt::format("a device sends {} in {}{}, the limit is {}", exact_bytes(bytes),
                                               limit.kind.empty() ? "collectives" : limit.kind,
                                               limit.over.empty() ? "" : " over " + axes_text(limit.over),
                                               exact_bytes(limit.bytes))),
                     plan, std::move(meant));
}

void read(const Yaml& value, std::vector<PolicyEntry>& entries, Diagnostics& diagnostics) {
    for (const Yaml& item : read_policy_list(value, "max_wire_bytes", "[{over: data, bytes: 1 GiB}]", diagnostics))
        if (const std::optional<Limit> limit = read_limit(item, diagnostics))
            entries.push_back({"max_wire_bytes", item.span, [limit](const Plan& plan, Span place, Diagnostics& found) {
                                   judge_bytes(plan, *limit, place, found);
                               }});
}

} // namespace

const PolicyDef& policy_max_wire_bytes() {
    static const PolicyDef def = {
        "max_wire_bytes",
        "What a device sends in a step is at most this, in collectives over an axis, of a kind, or both.\n"
        "max_wire_bytes: [{over: data, kind: all_gather, bytes: 1 GiB}, {kind: all_to_all, bytes: 64 MiB}]",
        read};
    return def;
}

} // namespace shard
