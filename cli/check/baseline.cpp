#include "cli/check/baseline.h"

#include "cli/check/path_pattern.h"
#include "cli/inputs/inputs.h"
#include "planner/text/yaml_text.h"
#include "plans/base/printable.h"
#include "plans/base/shell_word.h"
#include "plans/base/units.h"
#include "plans/file/plan_json.h"
#include "plans/json/json_reader.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace shard {

namespace {

// Seconds are sums, whose last digits depend on what is added when.
constexpr double rounding = 1e-9;

// Files of the same names, in whatever folders.
bool are_called_alike(const CheckedAs& a, const CheckedAs& b) {
    const auto name = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
    return name(a.model) == name(b.model) && name(a.layout) == name(b.layout) && a.mode == b.mode;
}

// A payload of `check` holds the figures of every subject that could be planned.
// `problem` says what of it is damaged: a figure that nothing can be compared with, or a layout that is there twice.
std::optional<Baseline> figures_of_check(const Json& json, Baseline baseline, std::string& problem) {
    const Json* version = json.find("format_version");
    const i64* said_version = version == nullptr ? nullptr : std::get_if<i64>(&version->value);
    if (said_version == nullptr || *said_version != 1) {
        problem = "its format_version is not 1";
        return std::nullopt;
    }
    const Json* subjects = json.find("subjects");
    const JsonList* list = subjects == nullptr ? nullptr : std::get_if<JsonList>(&subjects->value);
    if (list == nullptr) return std::nullopt;
    for (const Json& subject : *list) {
        CheckedAs as;
        for (const auto& [key, value] : {std::pair("model", &as.model), {"layout", &as.layout}, {"mode", &as.mode}}) {
            const Json* text = subject.find(key);
            if (text == nullptr || !std::holds_alternative<std::string>(text->value)) return std::nullopt;
            *value = std::get<std::string>(text->value);
        }
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
            const bool is_whole = std::holds_alternative<i64>(figure->value);
            if (!std::isfinite(figures[i]) || figures[i] < 0 || (all_figures()[i].whole && !is_whole))
                problem = fmt::format("{} of {} is {}", all_figures()[i].key, printable(as.layout), figures[i]);
            ++known;
        }
        const Json* verdict = subject.find("verdict");
        const std::string* said = verdict == nullptr ? nullptr : std::get_if<std::string>(&verdict->value);
        const bool was_planned = said == nullptr || *said != "error";
        if (known != figure_count && (known != 0 || was_planned))
            problem = fmt::format("{} has not all figures", printable(as.layout));
        else if (known != 0 && !baseline.figures.emplace(as, figures).second)
            problem = fmt::format("{} is in it twice", printable(as.layout));
        if (!problem.empty()) return std::nullopt;
    }
    return baseline;
}

// About a figure that rose.
std::string what_to_do(const Baseline& baseline, const std::string& plan) {
    return baseline.is_plan ? fmt::format("`{} -o new.json`, then `shardc diff {} new.json` shows what changed; to "
                                          "accept it, write the baseline again",
                                          plan, shell_word(baseline.path))
                            : fmt::format("`{}` shows where it goes; if it is meant, check again with --accept", plan);
}

// A figure above its baseline.
struct Risen {
    std::string_view words;
    std::string by;        // "by 100.0%"; of what was nothing "to 1.00 KiB"
    std::string text;      // "peak memory rose from 512 B to 1.00 KiB, by 100.0%"
    std::string tolerated; // "nothing more is tolerated"
};

std::vector<Risen> risen_figures(const Figures& accepted, const Figures& figures, const Tolerance& tolerance) {
    std::vector<Risen> risen;
    for (size_t i = 0; i < figure_count; ++i) {
        const FigureDef& figure = all_figures()[i];
        const double before = accepted[i], now = figures[i];
        const double limit = before * (1 + tolerance[i]);
        if (now <= (figure.whole ? limit : limit * (1 + rounding))) continue;
        const std::string by = before > 0 ? fmt::format("by {}", percent(now - before, before)) : "";
        risen.push_back({figure.words, by.empty() ? "to " + figure.text(now) : by,
                         fmt::format("{} rose from {} to {}{}{}", figure.words, figure.text(before), figure.text(now),
                                     by.empty() ? "" : ", ", by),
                         tolerance[i] == 0 ? std::string("nothing more is tolerated")
                                           : fmt::format("{:.4g}% more is tolerated, up to {}", 100 * tolerance[i],
                                                         figure.text(limit))});
    }
    return risen;
}

} // namespace

std::optional<Baseline> read_baseline(const Sources& sources, int file, Diagnostics& diagnostics) {
    Baseline baseline{sources.name(file)};
    std::string problem;
    const std::string& text = sources.text(file);
    if (const std::string_view encoding = other_encoding(text); !encoding.empty()) {
        report_encoding(encoding, {file, 1, 1, 1}, diagnostics);
        return std::nullopt;
    }
    const JsonParse parsed = parse_json(text);
    Span place = {file, 1, 1, 1};
    if (const size_t first = text.find_first_not_of(" \t\r\n");
        !parsed.ok && text.substr(0, first + 1).ends_with('{')) {
        place = JsonText{text, file}.at(parsed.offset, parsed.length);
        problem = parsed.problem;
    }
    if (parsed.ok && parsed.root.find("subjects") != nullptr)
        if (std::optional<Baseline> checked = figures_of_check(parsed.root, baseline, problem)) return checked;
    // What is damaged is what its beginning says.
    const bool of_plan =
        parsed.ok ? parsed.root.find("steps") != nullptr : text.find("\"verdict\"") > text.find("\"mesh\"");
    if (looks_like_plan(text) && of_plan) {
        const std::optional<Plan> plan = parse_plan(JsonText{text, file}, diagnostics);
        if (!plan) return std::nullopt;
        const auto path = [&plan](size_t source) {
            return source < plan->sources.size() ? plain_path(plan->sources[source].name) : "";
        };
        baseline.is_plan = true;
        baseline.figures.emplace(CheckedAs{path(0), path(1), plan->mode}, figures_of(plan->report));
        return baseline;
    }
    diagnostics
        .error("E0711", place,
               fmt::format("'{}' is no baseline{}{}", sources.name(file), problem.empty() ? "" : ": ", problem))
        .help("`shardc check ... --accept` writes one where there is no file yet, `shardc plan MODEL LAYOUT -o FILE` "
              "another");
    return std::nullopt;
}

void compare_with(const Baseline& baseline, const Tolerance& tolerance, const Subject& subject, Span place, bool alone,
                  const std::string& plan, Diagnostics& diagnostics) {
    auto found = baseline.figures.find(subject.as);
    if (found == baseline.figures.end() && baseline.is_plan && alone &&
        are_called_alike(baseline.figures.begin()->first, subject.as))
        found = baseline.figures.begin();
    if (found == baseline.figures.end()) {
        const bool in_another_mode =
            std::any_of(baseline.figures.begin(), baseline.figures.end(), [&](const auto& entry) {
                return entry.first.model == subject.as.model && entry.first.layout == subject.as.layout;
            });
        DiagnosticBuilder warning = diagnostics.warning(
            "W0701", place,
            in_another_mode ? fmt::format("{} says nothing of this layout in mode {}", baseline.path, subject.as.mode)
                            : fmt::format("{} says nothing of this layout", baseline.path));
        if (!baseline.is_plan) return;
        const CheckedAs& planned = baseline.figures.begin()->first;
        warning
            .note(fmt::format("it is the plan of {} with {}, {}", printable(planned.model), printable(planned.layout),
                              planned.mode))
            .help("name a plan of this layout; or a file that is no plan, which --accept writes for many layouts");
        return;
    }
    const std::vector<Risen> risen = risen_figures(found->second, *subject.figures, tolerance);
    if (risen.empty()) return;
    if (risen.size() == 1) {
        diagnostics.finding("P0107", place, risen[0].text)
            .note(fmt::format("{} says what it was; {}", baseline.path, risen[0].tolerated))
            .help(what_to_do(baseline, plan));
        return;
    }
    std::string message;
    for (const Risen& one : risen)
        message +=
            fmt::format("{}{}{} {}", message.empty() ? "" : ", ", one.words, message.empty() ? " rose" : "", one.by);
    DiagnosticBuilder finding = diagnostics.finding("P0107", place, message).help(what_to_do(baseline, plan));
    for (const Risen& one : risen) finding.note(fmt::format("{}; {}", one.text, one.tolerated));
    finding.note(fmt::format("{} says what they were", baseline.path));
}

} // namespace shard
