#include "planner/explain/experiments.h"

#include "planner/explain/changes.h"
#include "planner/explain/tensor_names.h"
#include "plans/base/in_parallel.h"
#include "plans/plan/report_totals.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

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

Experiment figures_of(const Plan& plan, const std::string& tensor) {
    const Report& report = plan.report;
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

std::vector<Experiment> find_changes_that_help(const Compilation& c, const Sources& sources, const PlanRequest& request,
                                               const std::string& tensor, size_t most) {
    std::vector<Change> changes = possible_changes(c, sources);
    override_tensor(c, tensor, changes);
    const Experiment base = figures_of(*c.plan, tensor);
    std::vector<std::optional<Experiment>> tried(changes.size()); // none: the change does not fit the model
    in_parallel(changes.size(), [&](size_t i) {
        const Compilation changed = planned_with(changes[i], sources, request);
        if (!changed.plan) return;
        tried[i] = figures_of(*changed.plan, tensor);
        tried[i]->change = changes[i].text;
    });
    std::vector<Experiment> found;
    for (const std::optional<Experiment>& each : tried) {
        if (!each) continue;
        const Experiment& experiment = *each;
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
