#include "cli/check/baseline.h"

#include "cli/inputs/inputs.h"
#include "plans/base/printable.h"
#include "plans/file/plan_json.h"
#include "plans/json/json_reader.h"

#include <fmt/format.h>

namespace shard {

namespace {

// Seconds are sums, whose last digits depend on what is added when.
constexpr double rounding = 1e-9;

// A payload of `check` holds the figures of every subject that could be planned.
std::optional<Baseline> figures_of_check(const Json& json, Baseline baseline) {
    const Json* subjects = json.find("subjects");
    const JsonList* list = subjects == nullptr ? nullptr : std::get_if<JsonList>(&subjects->value);
    if (list == nullptr) return std::nullopt;
    for (const Json& subject : *list) {
        const Json* name = subject.find("name");
        if (name == nullptr || !std::holds_alternative<std::string>(name->value)) return std::nullopt;
        Figures figures = {};
        size_t known = 0;
        for (size_t i = 0; i < figure_count; ++i) {
            const Json* figure = subject.find(all_figures()[i].key);
            if (figure == nullptr) continue;
            if (const i64* whole = std::get_if<i64>(&figure->value))
                figures[i] = static_cast<double>(*whole);
            else if (const double* number = std::get_if<double>(&figure->value))
                figures[i] = *number;
            else
                return std::nullopt;
            ++known;
        }
        if (known == figure_count)
            baseline.figures.emplace(std::get<std::string>(name->value), figures);
        else if (known != 0)
            return std::nullopt;
    }
    return baseline;
}

} // namespace

std::optional<Baseline> read_baseline(const Sources& sources, int file, Diagnostics& diagnostics) {
    Baseline baseline{sources.name(file)};
    JsonParse parsed = parse_json(sources.text(file));
    if (parsed.ok && parsed.root.find("subjects") != nullptr)
        if (std::optional<Baseline> checked = figures_of_check(parsed.root, baseline)) return checked;
    if (looks_like_plan(sources.text(file)) && (!parsed.ok || parsed.root.find("steps") != nullptr)) {
        const std::optional<Plan> plan = parse_plan(JsonText{sources.text(file), file}, diagnostics);
        if (!plan) return std::nullopt;
        constexpr size_t layout = 1;
        baseline.is_plan = true;
        baseline.figures.emplace(plan->sources.size() > layout ? printable(plan->sources[layout].name) : "",
                                 figures_of(plan->report));
        return baseline;
    }
    diagnostics.error("E0711", {file, 1, 1, 1}, fmt::format("'{}' is no baseline", sources.name(file)))
        .help(
            "`shardc plan MODEL LAYOUT -o FILE` writes one, `shardc check ... --format json=FILE` one of many layouts");
    return std::nullopt;
}

void compare_with(const Baseline& baseline, const Tolerance& tolerance, const Subject& subject, bool alone,
                  Diagnostics& diagnostics) {
    if (!subject.figures) return;
    auto found = baseline.figures.find(baseline.is_plan ? subject.layout : subject.name);
    if (found == baseline.figures.end() && baseline.is_plan && alone) found = baseline.figures.begin();
    if (found == baseline.figures.end()) {
        diagnostics.warning("W0701", {}, fmt::format("{} says nothing of this layout", baseline.path));
        return;
    }
    for (size_t i = 0; i < figure_count; ++i) {
        const FigureDef& figure = all_figures()[i];
        const double before = found->second[i], now = (*subject.figures)[i];
        const double limit = before * (1 + tolerance[i]);
        if (now <= (figure.whole ? limit : limit * (1 + rounding))) continue;
        diagnostics
            .finding("P0107", {},
                     fmt::format("{} rose from {} to {}, the limit is {}", figure.words, figure.text(before),
                                 figure.text(now), figure.text(limit)))
            .note(tolerance[i] == 0 ? fmt::format("{} says what it was; nothing more is tolerated", baseline.path)
                                    : fmt::format("{} says what it was; {:.4g}% more is tolerated", baseline.path,
                                                  100 * tolerance[i]));
    }
}

} // namespace shard
