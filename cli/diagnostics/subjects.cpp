#include "cli/diagnostics/subjects.h"

#include "cli/terminal/exit_code.h"
#include "plans/base/sha1.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <tuple>

namespace shard {

const Span* Placed::place() const {
    for (const Label& label : diagnostic->labels)
        if (label.span.known() && label.span.file < sources->count()) return &label.span;
    return nullptr;
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
    std::set<Placed, decltype(&comes_before)> seen(comes_before);
    for (const Subject& subject : subjects) {
        const size_t begin = result.size(); // within one subject nothing is dropped
        for (const Diagnostic& diagnostic : subject.diagnostics) {
            const Placed placed{&diagnostic, subject.sources};
            if (!seen.contains(placed)) result.push_back(placed);
        }
        seen.insert(result.begin() + static_cast<std::ptrdiff_t>(begin), result.end());
    }
    return result;
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

std::string fingerprint(const Placed& placed) {
    const Span* place = placed.place();
    std::string_view line = place == nullptr ? std::string_view() : placed.sources->line(place->file, place->line);
    size_t first = line.find_first_not_of(" \t");
    if (first != std::string_view::npos) line.remove_prefix(first);
    std::string text = fmt::format("{}\n{}\n{}\n{}", placed.diagnostic->code, place == nullptr ? "" : placed.file(),
                                   line, placed.diagnostic->message);
    std::string hex;
    for (unsigned char byte : sha1(text)) hex += fmt::format("{:02x}", byte);
    return hex;
}

} // namespace shard
