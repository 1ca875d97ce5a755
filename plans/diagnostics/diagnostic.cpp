#include "plans/diagnostics/diagnostic.h"

#include "plans/base/base.h"
#include "plans/base/printable.h"
#include "plans/diagnostics/codes.h"
#include "plans/diagnostics/usual_help.h"

#include <algorithm>
#include <mutex>
#include <numeric>

namespace shard {

namespace {

constexpr int lines_per_mark = 64;

// Drops the first line; false if there is no other.
bool next_line(std::string_view& rest) {
    const size_t end = rest.find('\n');
    if (end == std::string_view::npos) return false;
    rest.remove_prefix(end + 1);
    return true;
}

} // namespace

struct Sources::Made {
    std::once_flag once;
    std::shared_ptr<const void> value;
};

int Sources::add(std::string name, std::string text) {
    std::vector<size_t> marks;
    std::string_view rest = text;
    int line = 0;
    do {
        if (line++ % lines_per_mark == 0) marks.push_back(text.size() - rest.size());
    } while (next_line(rest));
    files_.push_back({printable(name), std::move(text), std::move(marks), std::make_shared<Made>()});
    return count() - 1;
}

std::string_view Sources::line(int file, int line) const {
    if (file < 0 || file >= count() || line < 1) return {};
    const std::vector<size_t>& marks = files_[file].marks;
    const size_t mark = (line - 1) / lines_per_mark;
    if (mark >= marks.size()) return {};
    std::string_view rest = std::string_view(text(file)).substr(marks[mark]);
    for (int left = (line - 1) % lines_per_mark; left > 0; --left)
        if (!next_line(rest)) return {};
    rest = rest.substr(0, rest.find('\n'));
    if (!rest.empty() && rest.back() == '\r') rest.remove_suffix(1);
    return rest;
}

std::shared_ptr<const void> Sources::made_of(int file, const std::function<std::shared_ptr<const void>()>& make) const {
    Made& made = *files_[file].made;
    std::call_once(made.once, [&] { made.value = make(); });
    return made.value;
}

std::string_view name(Severity severity) {
    switch (severity) {
    case Severity::note:
        return "note";
    case Severity::warning:
        return "warning";
    case Severity::error:
        return "error";
    }
    internal_error("severity without a name");
}

DiagnosticBuilder& DiagnosticBuilder::label(Span span, std::string text) {
    diagnostic_->labels.push_back({span, printable(text)});
    return *this;
}

DiagnosticBuilder& DiagnosticBuilder::note(std::string text) {
    diagnostic_->notes.push_back(printable(text));
    return *this;
}

DiagnosticBuilder& DiagnosticBuilder::help(std::string text) {
    if (!text.empty()) diagnostic_->help = printable(text); // else the usual words of the code stay
    return *this;
}

DiagnosticBuilder Diagnostics::error(std::string_view code, Span span, std::string message) {
    add({std::string(code), Severity::error, printable(message), {{span, {}}}, {}, {}, false});
    return DiagnosticBuilder(all_.back());
}

DiagnosticBuilder Diagnostics::warning(std::string_view code, Span span, std::string message) {
    add({std::string(code), Severity::warning, printable(message), {{span, {}}}, {}, {}, false});
    return DiagnosticBuilder(all_.back());
}

DiagnosticBuilder Diagnostics::finding(std::string_view code, Span span, std::string message) {
    add({std::string(code), Severity::error, printable(message), {{span, {}}}, {}, {}, true});
    return DiagnosticBuilder(all_.back());
}

void Diagnostics::add(Diagnostic diagnostic) {
    if (find_code(diagnostic.code) == nullptr)
        internal_error("diagnostic code " + diagnostic.code + " is not registered");
    if (diagnostic.help.empty()) diagnostic.help = usual_help(diagnostic.code);
    if (diagnostic.severity == Severity::error && !diagnostic.finding) ++errors_;
    all_.push_back(std::move(diagnostic));
}

namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Letters added, left out, exchanged for another or with their neighbour; upper and lower case are one letter.
size_t slips(std::string_view word, std::string_view wanted) {
    std::vector<std::vector<size_t>> rows(word.size() + 1, std::vector<size_t>(wanted.size() + 1));
    std::iota(rows[0].begin(), rows[0].end(), size_t{0});
    for (size_t i = 1; i <= word.size(); ++i) {
        rows[i][0] = i;
        for (size_t j = 1; j <= wanted.size(); ++j) {
            const auto same = [&](size_t a, size_t b) { return lower(word[a]) == lower(wanted[b]); };
            rows[i][j] = std::min({rows[i - 1][j] + 1, rows[i][j - 1] + 1,
                                   rows[i - 1][j - 1] + (same(i - 1, j - 1) ? size_t{0} : size_t{1})});
            if (i > 1 && j > 1 && same(i - 1, j - 2) && same(i - 2, j - 1))
                rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
        }
    }
    return rows.back().back();
}

} // namespace

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates) {
    constexpr size_t longest = 200; // no name is as long, and the time is that of the product
    std::string_view best;
    size_t best_slips = std::min<size_t>(2, word.size() / 3) + 1;
    if (word.size() > longest) return best;
    for (std::string_view candidate : candidates) {
        if (candidate.size() > word.size() + 2 || word.size() > candidate.size() + 2) continue;
        const size_t count = slips(word, candidate);
        if (count < best_slips) best_slips = count, best = candidate;
    }
    return best;
}

} // namespace shard
