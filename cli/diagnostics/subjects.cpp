#include "cli/diagnostics/subjects.h"

#include "cli/terminal/exit_code.h"
#include "plans/base/sha1.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <tuple>

namespace shard {

const Span* Placed::place() const {
    for (const Label& label : diagnostic->labels)
        if (label.span.known() && label.span.file < sources->count()) return &label.span;
    return nullptr;
}

std::string Placed::any_file() const {
    if (place() != nullptr) return file();
    return subjects.empty() ? std::string() : subjects.front()->layout;
}

std::vector<std::string> Placed::names() const {
    std::vector<std::string> names;
    for (const Subject* subject : subjects) names.push_back(subject->name);
    return names;
}

std::string names_text(const Placed& placed, size_t count) {
    constexpr size_t shown = 4;
    std::vector<std::string> names = placed.names();
    if (names.size() == count && count > 1) return fmt::format("all {} layouts", count);
    const size_t more = names.size() > shown ? names.size() - shown : 0;
    names.resize(names.size() - more);
    return fmt::format("{}{}", fmt::join(names, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

size_t named_count(std::span<const Subject> subjects) {
    return static_cast<size_t>(
        std::count_if(subjects.begin(), subjects.end(), [](const Subject& subject) { return !subject.name.empty(); }));
}

namespace {

// An order of what diagnostics say and where. Two subjects read the same file into different Sources: places are
// compared by file name.
bool comes_before(const Placed& a, const Placed& b) {
    const auto said = [](const Diagnostic& x) { return std::tie(x.code, x.severity, x.message, x.help, x.notes); };
    const auto place = [](const Placed& x) {
        const Span* span = x.place();
        return span == nullptr ? std::tuple(std::string_view(), 0, 0)
                               : std::tuple(std::string_view(x.file()), span->line, span->column);
    };
    const bool is_less = said(*a.diagnostic) < said(*b.diagnostic);
    if (is_less || said(*b.diagnostic) < said(*a.diagnostic)) return is_less;
    return place(a) < place(b);
}

} // namespace

std::vector<Placed> flatten(std::span<const Subject> subjects) {
    std::vector<Placed> result;
    std::map<Placed, std::vector<size_t>, decltype(&comes_before)> seen(comes_before); // where they are in `result`
    for (const Subject& subject : subjects) {
        const size_t begin = result.size(); // within one subject nothing is dropped
        for (const Diagnostic& diagnostic : subject.diagnostics) {
            Placed placed{&diagnostic, subject.sources};
            const auto before = seen.find(placed);
            if (before == seen.end()) {
                if (!subject.name.empty()) placed.subjects = {&subject};
                result.push_back(std::move(placed));
                continue;
            }
            for (size_t at : before->second)
                if (!subject.name.empty() && (result[at].subjects.empty() || result[at].subjects.back() != &subject))
                    result[at].subjects.push_back(&subject);
        }
        for (size_t at = begin; at < result.size(); ++at)
            seen[{result[at].diagnostic, result[at].sources}].push_back(at);
    }
    return result;
}

bool warns(const Subject& subject) {
    return std::any_of(subject.diagnostics.begin(), subject.diagnostics.end(),
                       [](const Diagnostic& diagnostic) { return diagnostic.severity == Severity::warning; });
}

int exit_code(std::span<const Subject> subjects) {
    int code = exit_clean;
    for (const Subject& subject : subjects) {
        for (const Diagnostic& diagnostic : subject.diagnostics) {
            if (diagnostic.finding)
                code = std::max<int>(code, exit_findings);
            else if (diagnostic.severity == Severity::error)
                code = exit_usage;
        }
    }
    return code;
}

namespace {

// "peak memory rose from # to #": without numbers that are words of their own, their units, and the same in brackets.
std::string without_figures(std::string_view message) {
    constexpr std::string_view units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "ns", "us", "ms", "s"};
    std::string out;
    bool was_figure = false;
    for (size_t at = 0; at < message.size();) {
        const size_t end = std::min(message.find(' ', at), message.size());
        const std::string_view word = message.substr(at, end - at);
        at = end + 1;
        const size_t first = word.find_first_not_of('('), last = word.find_last_not_of(",;:)");
        if (first == std::string_view::npos || last == std::string_view::npos) continue;
        const bool is_figure = word[first] >= '0' && word[first] <= '9';
        const bool is_unit = std::find(std::begin(units), std::end(units), word.substr(0, last + 1)) != std::end(units);
        const bool goes_on = was_figure && (is_unit || (is_figure && first > 0));
        if (!goes_on) out += fmt::format("{} ", is_figure ? "#" : word);
        was_figure = is_figure || goes_on;
    }
    return out;
}

// "model.yaml + layout.yaml" as the repository calls these files.
std::string from_root(std::string_view name, const Repository& repository) {
    constexpr std::string_view between = " + ";
    const size_t end = name.find(between);
    const std::string first = repository.path(std::string(name.substr(0, end)));
    return end == std::string_view::npos
               ? first
               : fmt::format("{}{}{}", first, between, from_root(name.substr(end + between.size()), repository));
}

} // namespace

std::string fingerprint(const Placed& placed, const Repository& repository) {
    const Span* place = placed.place();
    std::string_view line = place == nullptr ? std::string_view() : placed.sources->line(place->file, place->line);
    size_t first = line.find_first_not_of(" \t");
    if (first != std::string_view::npos) line.remove_prefix(first);
    const std::string file = place == nullptr ? "" : repository.path(placed.file());
    const Diagnostic& diagnostic = *placed.diagnostic;
    const bool judges = diagnostic.code.starts_with('P'); // what several layouts break, each by its own figures
    std::string text = fmt::format("{}\n{}\n{}\n{}", diagnostic.code, file, line,
                                   judges ? without_figures(diagnostic.message) : diagnostic.message);
    if (judges && !placed.subjects.empty()) text += "\n" + from_root(placed.subjects.front()->name, repository);
    std::string hex;
    for (unsigned char byte : sha1(text)) hex += fmt::format("{:02x}", byte);
    return hex;
}

} // namespace shard
