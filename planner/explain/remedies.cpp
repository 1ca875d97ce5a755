#include "planner/explain/remedies.h"

#include "planner/explain/trials.h"
#include "plans/base/units.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

namespace shard {

namespace {

constexpr double worth_it = 0.01; // what is less is within what a price says

bool fits(const Report& report) { return report.memory.capacity <= 0 || report.memory.peak <= report.memory.capacity; }

bool is_remedy(const Report& changed, const Report& base) {
    const double more_work = static_cast<double>(base.flops_per_device) * (1 + worth_it);
    if (static_cast<double>(changed.flops_per_device) > more_work) return false;
    if (!fits(base)) return changed.memory.peak < base.memory.peak;
    return fits(changed) && changed.time.step_seconds < base.time.step_seconds * (1 - worth_it);
}

bool better(const Report& a, const Report& b) {
    if (fits(a) != fits(b)) return fits(a);
    return a.time.step_seconds < b.time.step_seconds;
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

struct Tried {
    std::string text;
    Report report;
};

} // namespace

std::vector<std::string> find_remedies(const Compilation& compilation, const Sources& sources,
                                       const PlanRequest& request) {
    const Report& base = compilation.plan->report;
    std::vector<std::string> remedies(base.collectives.size());
    if (base.collectives.empty()) return remedies;
    std::vector<Change> changes = possible_changes(compilation, sources);
    keep_most_promising(changes, most_tries(compilation));
    std::vector<std::optional<Report>> reports = Trials(compilation, sources, request).run(changes);
    std::vector<Tried> tried;
    for (size_t i = 0; i < changes.size(); ++i)
        if (reports[i] && is_remedy(*reports[i], base)) tried.push_back({changes[i].text, std::move(*reports[i])});
    std::stable_sort(tried.begin(), tried.end(),
                     [](const Tried& a, const Tried& b) { return better(a.report, b.report); });
    const std::map<std::string, double> now = seconds_by_tensor(base);
    for (const Tried& each : tried) {
        const std::map<std::string, double> then = seconds_by_tensor(each.report);
        for (size_t i = 0; i < remedies.size(); ++i) {
            const std::string& tensor = base.collectives[i].tensor;
            const std::map<std::string, double>::const_iterator left = then.find(tensor);
            const bool helps = left == then.end() || left->second < now.at(tensor) * (1 - worth_it);
            if (helps && remedies[i].empty()) remedies[i] = fmt::format("{}: {}", each.text, effect(each.report, base));
        }
    }
    return remedies;
}

} // namespace shard
