#include "cli/summary/collective_rows.h"

#include "cli/summary/alike.h"
#include "cli/summary/verdict.h"
#include "cli/terminal/fold.h"
#include "plans/base/saturating.h"
#include "plans/base/units.h"
#include "plans/plan/report_totals.h"
#include "plans/plan/source_ref.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <tuple>

namespace shard {

namespace {

constexpr size_t most_rows = 8, largest_rows = 5, most_names = 12;

// A collective, and when it runs.
struct Timed {
    const CollectiveReport* collective = nullptr;
    When when;
};

void add(CollectiveRow& row, const Timed& timed) {
    const CollectiveReport& collective = *timed.collective;
    if (row.first == nullptr) row.first = &collective, row.phase = timed.when.phase;
    row.is_one_dim = row.is_one_dim && row.first->dim == collective.dim;
    row.count = add_saturating(row.count, collective.count);
    row.bytes = add_saturating(row.bytes, collective.wire_bytes_per_device);
    row.seconds += collective.seconds;
    row.exposed_seconds += timed.when.exposed_seconds;
}

bool go_together(const CollectiveRow& row, const Timed& timed) {
    return row.phase == timed.when.phase && row.first->kind == timed.collective->kind &&
           std::is_permutation(row.first->axes.begin(), row.first->axes.end(), timed.collective->axes.begin(),
                               timed.collective->axes.end());
}

// Layers that are treated alike.
struct Layers {
    std::vector<Timed> members;
    std::string tensor, cause, remedy, source; // with ranges for the indices that differ
};

std::vector<Layers> layers_of(const std::vector<Timed>& collectives, Detail detail) {
    std::vector<Layers> out;
    if (detail == Detail::each) {
        for (const Timed& timed : collectives) {
            const CollectiveReport& c = *timed.collective;
            out.push_back({{timed}, c.tensor, c.cause, c.remedy, text(c.source)});
        }
        return out;
    }
    std::vector<std::vector<std::string>> rows;
    for (const Timed& timed : collectives) {
        const CollectiveReport& c = *timed.collective;
        rows.push_back({c.tensor, c.cause, c.remedy, text(c.source), c.op, c.kind, c.reduce,
                        std::string(name(timed.when.phase)), std::to_string(c.dim), std::to_string(c.count),
                        std::to_string(c.wire_bytes_per_device)});
    }
    for (const FoldedRow& row : fold_rows(rows)) {
        Layers& layers = out.emplace_back(Layers{{}, row.fields[0], row.fields[1], row.fields[2], row.fields[3]});
        for (int member : row.members) layers.members.push_back(collectives[member]);
    }
    return out;
}

struct Group {
    CollectiveRow row;
    std::vector<std::string> tensors, sources;
};

// What collectives of one group have in common: when they run, what they are, over which axes, why, and what would remove
// them.
using GroupKey = std::tuple<Phase, std::string_view, std::vector<AxisRef>, std::string_view, std::string_view>;

GroupKey key_of(const Layers& layers) {
    const Timed& timed = layers.members.front();
    std::vector<AxisRef> axes = timed.collective->axes;
    std::sort(axes.begin(), axes.end());
    return {timed.when.phase, timed.collective->kind, std::move(axes), layers.cause, layers.remedy};
}

std::vector<Group> groups_of(const std::vector<Layers>& all, Detail detail) {
    std::vector<Group> groups;
    std::map<GroupKey, size_t> numbers;
    std::set<std::pair<size_t, std::string_view>> named;
    for (const Layers& layers : all) {
        const size_t number =
            detail == Detail::each ? groups.size() : numbers.emplace(key_of(layers), groups.size()).first->second;
        if (number == groups.size()) {
            Group& begun = groups.emplace_back();
            begun.row.cause = layers.cause;
            begun.row.remedy = layers.remedy;
        }
        Group& group = groups[number];
        if (named.emplace(number, layers.tensor).second) group.tensors.push_back(layers.tensor);
        group.sources.push_back(layers.source);
        for (const Timed& member : layers.members) add(group.row, member);
    }
    return groups;
}

std::vector<CollectiveRow> sums_of(const std::vector<Timed>& collectives) {
    std::vector<CollectiveRow> sums;
    for (const Timed& timed : collectives) {
        std::vector<CollectiveRow>::iterator at =
            std::find_if(sums.begin(), sums.end(), [&](const CollectiveRow& sum) { return go_together(sum, timed); });
        if (at == sums.end()) at = sums.insert(at, CollectiveRow());
        add(*at, timed);
    }
    std::stable_sort(sums.begin(), sums.end(), [](const CollectiveRow& a, const CollectiveRow& b) {
        return a.phase != b.phase ? a.phase < b.phase : a.first->axes < b.first->axes;
    });
    return sums;
}

} // namespace

std::string collectives_text(const Report& report, std::span<const When> when) {
    const i64 count = collective_count(report);
    i64 launches = 0;
    for (size_t i = 0; i < report.collectives.size(); ++i)
        if (i >= when.size() || when[i].begins_launch) launches = add_saturating(launches, report.collectives[i].count);
    if (launches == count) return counted(count, "collective");
    return fmt::format("{} in {} {}", counted(count, "collective"), grouped(launches),
                       launches == 1 ? "launch" : "launches");
}

CollectiveRows collective_rows(std::span<const CollectiveReport> all, std::span<const When> when, Detail detail) {
    std::vector<Timed> collectives;
    for (size_t i = 0; i < all.size(); ++i) collectives.push_back({&all[i], i < when.size() ? when[i] : When()});
    CollectiveRows out;
    for (Group& group : groups_of(layers_of(collectives, detail), detail)) {
        group.row.tensors = joined_names(group.tensors, detail == Detail::screen ? most_names : group.tensors.size());
        group.row.source = joined_places(group.sources);
        out.rows.push_back(std::move(group.row));
    }
    if (detail != Detail::each)
        std::stable_sort(out.rows.begin(), out.rows.end(),
                         [](const CollectiveRow& a, const CollectiveRow& b) { return a.phase < b.phase; });
    if (detail == Detail::screen && out.rows.size() > most_rows) {
        out.sums = sums_of(collectives);
        std::stable_sort(out.rows.begin(), out.rows.end(), [](const CollectiveRow& a, const CollectiveRow& b) {
            return a.seconds != b.seconds ? a.seconds > b.seconds : a.bytes > b.bytes;
        });
        out.left_out = out.rows.size() - largest_rows;
        out.rows.resize(largest_rows);
    }
    double seconds = 0, exposed = 0;
    for (const Timed& timed : collectives) {
        seconds += timed.collective->seconds;
        exposed += timed.when.exposed_seconds;
        out.has_phases = out.has_phases || timed.when.phase != collectives.front().when.phase;
    }
    out.is_partly_hidden = !when.empty() && is_partly_hidden(seconds, exposed);
    std::vector<std::string> said;
    for (CollectiveRow& row : out.rows) {
        if (std::find(said.begin(), said.end(), row.remedy) != said.end()) row.remedy.clear();
        said.push_back(row.remedy);
    }
    return out;
}

std::string links_text(const CollectiveReport& collective) {
    std::string words;
    for (const LinkUse& use : collective.links)
        words += fmt::format("{}{} {}", words.empty() ? "" : ", ", use.link, use.devices);
    return words;
}

} // namespace shard
