#include "planner/explain/remedies.h"

#include "planner/explain/experiments.h"
#include "planner/explain/few_layers.h"
#include "plans/base/units.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

namespace shard {

namespace {

constexpr double worth_it = 0.01; // what is less is within what a price says
constexpr size_t least_tries = 8;

// `gain`: the least share of the step that counts.
bool is_remedy(const Report& changed, const Report& base, double gain) {
    const double more_work = static_cast<double>(base.flops_per_device) * (1 + worth_it);
    if (static_cast<double>(changed.flops_per_device) > more_work) return false;
    const double less_memory = static_cast<double>(base.memory.peak) * (1 - worth_it);
    if (!fits_where(base, base))
        return fits_where(changed, base) || static_cast<double>(changed.memory.peak) < less_memory;
    return fits_where(changed, base) && changed.time.step_seconds < base.time.step_seconds * (1 - gain);
}

// "-12.0 us (-42%)"
std::string change_words(double value, double base, const std::string& difference) {
    const double part = base > 0 ? 100 * (value - base) / base : 0;
    const std::string_view sign = value < base ? "-" : "+";
    return std::fabs(part) < 0.5 ? fmt::format("{}{}", sign, difference)
                                 : fmt::format("{}{} ({:+.0f}%)", sign, difference, part);
}

std::string effect(const Report& changed, const Report& base) {
    const double now = base.time.step_seconds, then = changed.time.step_seconds;
    const i64 bytes = changed.memory.peak - base.memory.peak;
    std::string memory = "memory as it is";
    if (bytes != 0)
        memory = "memory " + change_words(static_cast<double>(changed.memory.peak),
                                          static_cast<double>(base.memory.peak), human_bytes(std::abs(bytes)));
    return fmt::format("step {}, {}", change_words(then, now, human_seconds(std::fabs(then - now))), memory);
}

// Seconds of the collectives that are for a tensor.
std::map<std::string, double> seconds_by_tensor(const Report& report) {
    std::map<std::string, double> seconds;
    for (const CollectiveReport& collective : report.collectives) seconds[collective.tensor] += collective.seconds;
    return seconds;
}

// By collective of the plan the `most` changes that help it most, of those that were tried.
std::vector<std::vector<size_t>> best_changes(const Report& base, std::span<const std::optional<Report>> tried,
                                              double gain, size_t most) {
    std::vector<size_t> order;
    for (size_t i = 0; i < tried.size(); ++i)
        if (tried[i] && is_remedy(*tried[i], base, gain)) order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        if (fits_where(*tried[a], base) != fits_where(*tried[b], base)) return fits_where(*tried[a], base);
        return tried[a]->time.step_seconds < tried[b]->time.step_seconds;
    });
    const std::map<std::string, double> now = seconds_by_tensor(base);
    std::vector<std::vector<size_t>> best(base.collectives.size());
    for (const size_t i : order) {
        const std::map<std::string, double> then = seconds_by_tensor(*tried[i]);
        for (size_t row = 0; row < best.size(); ++row) {
            const std::string& tensor = base.collectives[row].tensor;
            const std::map<std::string, double>::const_iterator left = then.find(tensor);
            const bool helps = left == then.end() || left->second < now.at(tensor) * (1 - worth_it);
            if (helps && best[row].size() < most) best[row].push_back(i);
        }
    }
    return best;
}

// Of changes those that help where there are few layers. What is saved in each layer is there a smaller share of the step,
// beside what there is but once.
void keep_those_that_help(std::vector<Change>& changes, FewLayers& few, const Compilation& all) {
    const double share =
        static_cast<double>(few.planned.graph->nodes.size()) / static_cast<double>(all.graph->nodes.size());
    const std::vector<std::optional<Report>> tried = few.trials.run(changes);
    std::vector<bool> helps(changes.size());
    for (const std::vector<size_t>& best : best_changes(few.planned.plan->report, tried, worth_it * share, 3))
        for (const size_t i : best) helps[i] = true;
    std::vector<Change> kept;
    for (size_t i = 0; i < changes.size(); ++i)
        if (helps[i]) kept.push_back(std::move(changes[i]));
    changes = std::move(kept);
}

} // namespace

std::vector<std::string> find_remedies(const Compilation& compilation, const Sources& sources,
                                       const PlanRequest& request) {
    const Report& base = compilation.plan->report;
    std::vector<std::string> remedies(base.collectives.size());
    if (base.collectives.empty()) return remedies;
    std::vector<Change> changes = possible_changes(compilation, sources);
    const std::unique_ptr<FewLayers> few = with_few_layers(compilation, sources, request);
    keep_most_promising(changes, most_tries(few ? few->planned : compilation, least_tries));
    if (few) keep_those_that_help(changes, *few, compilation);
    const std::vector<std::optional<Report>> reports = Trials(compilation, sources, request).run(changes);
    const std::vector<std::vector<size_t>> best = best_changes(base, reports, worth_it, 1);
    for (size_t row = 0; row < best.size(); ++row)
        for (const size_t i : best[row])
            remedies[row] = fmt::format("{}: {}", text_of(changes[i], compilation), effect(*reports[i], base));
    return remedies;
}

} // namespace shard
