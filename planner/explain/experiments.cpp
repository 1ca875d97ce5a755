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

bool same_figures(const Experiment& a, const Experiment& b) {
    return a.collectives == b.collectives && a.wire_bytes_per_device == b.wire_bytes_per_device && a.peak == b.peak &&
           a.step_seconds == b.step_seconds;
}

} // namespace

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

std::vector<Experiment> find_changes_that_help(const Compilation& c, const Sources& sources, Trials& trials,
                                               const std::string& tensor, std::span<const Span> named, size_t tries,
                                               size_t most) {
    std::vector<Change> changes = possible_changes(c, sources);
    override_tensor(c, tensor, changes);
    keep_most_promising(changes, tries, named);
    const Experiment base = figures_of(c.plan->report, tensor);
    const std::vector<std::optional<Report>> reports = trials.run(changes);
    std::vector<Experiment> found;
    for (size_t i = 0; i < changes.size(); ++i) {
        if (!reports[i]) continue;
        Experiment experiment = figures_of(*reports[i], tensor);
        experiment.change = changes[i].text;
        bool helps = experiment.touching < base.touching || experiment.touching_bytes < base.touching_bytes;
        bool known = std::any_of(found.begin(), found.end(),
                                 [&](const Experiment& earlier) { return same_figures(earlier, experiment); });
        if (helps && !known) found.push_back(experiment);
    }
    std::stable_sort(found.begin(), found.end(), better);
    if (found.size() > most) found.resize(most);
    return found;
}

} // namespace shard
