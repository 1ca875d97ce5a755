#include "planner/explain/experiments.h"

#include "planner/explain/tensor_names.h"
#include "plans/plan/report_totals.h"

#include <algorithm>
#include <fmt/format.h>

namespace shard {

namespace {

bool better(const Experiment& a, const Experiment& b) {
    if (a.step_seconds != b.step_seconds) return a.step_seconds < b.step_seconds;
    if (a.wire_bytes_per_device != b.wire_bytes_per_device) return a.wire_bytes_per_device < b.wire_bytes_per_device;
    return a.collectives < b.collectives;
}

// The step takes far longer since devices compute what others do, or it does not fit any more: nobody wants that.
bool costs_elsewhere(const Report& changed, const Report& base) {
    constexpr double more_work = 1.01, far_longer = 2;
    const bool computes_more =
        static_cast<double>(changed.flops_per_device) > more_work * static_cast<double>(base.flops_per_device);
    return (computes_more && changed.time.step_seconds > far_longer * base.time.step_seconds) ||
           (fits_where(base, base) && !fits_where(changed, base));
}

bool same_figures(const Experiment& a, const Experiment& b) {
    return a.collectives == b.collectives && a.wire_bytes_per_device == b.wire_bytes_per_device && a.peak == b.peak &&
           a.step_seconds == b.step_seconds;
}

} // namespace

bool fits_where(const Report& report, const Report& base) {
    return base.memory.capacity <= 0 || report.memory.peak <= base.memory.capacity;
}

Experiment figures_of(const Report& report, const std::string& tensor) {
    Experiment figures{"as it is",
                       collective_count(report),
                       wire_bytes_per_device(report),
                       report.memory.peak,
                       report.time.step_seconds,
                       0,
                       0,
                       {}};
    for (const CollectiveReport& collective : report.collectives) {
        figures.kinds[collective.kind] += collective.count;
        if (!touches(collective, tensor)) continue;
        figures.touching += collective.count;
        figures.touching_bytes += collective.wire_bytes_per_device;
    }
    return figures;
}

std::map<std::string, i64> kind_changes(const Experiment& experiment, const Experiment& base) {
    std::map<std::string, i64> changes = experiment.kinds;
    for (const auto& [kind, count] : base.kinds) changes[kind] -= count;
    std::erase_if(changes, [](const std::pair<const std::string, i64>& change) { return change.second == 0; });
    return changes;
}

std::vector<Help> changes_that_help(const Report& base, std::span<const Change> changes,
                                    std::span<const std::optional<Report>> tried, const std::string& tensor) {
    const Experiment now = figures_of(base, tensor);
    std::vector<Help> found;
    for (size_t i = 0; i < changes.size(); ++i) {
        if (!tried[i]) continue;
        Experiment experiment = figures_of(*tried[i], tensor);
        experiment.change = changes[i].text;
        const bool helps = (experiment.touching < now.touching || experiment.touching_bytes < now.touching_bytes) &&
                           !same_figures(experiment, now); // then they are another tensor's
        const bool known = std::any_of(found.begin(), found.end(), [&](const Help& earlier) {
            return same_figures(earlier.experiment, experiment);
        });
        if (helps && !known) found.push_back({i, std::move(experiment)});
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Help& a, const Help& b) { return better(a.experiment, b.experiment); });
    const auto is_dear = [&](const Help& help) { return costs_elsewhere(*tried[help.change], base); };
    if (!std::all_of(found.begin(), found.end(), is_dear)) std::erase_if(found, is_dear);
    return found;
}

} // namespace shard
