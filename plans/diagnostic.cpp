#include "plans/diagnostic.h"

#include "plans/base.h"

#include <algorithm>
#include <numeric>

namespace shard {

int Sources::add(std::string name, std::string text) {
    files_.push_back({std::move(name), std::move(text)});
    return count() - 1;
}

std::string_view Sources::line(int file, int line) const {
    if (file < 0 || file >= count() || line < 1) return {};
    std::string_view rest = text(file);
    for (int i = 1; i < line; ++i) {
        size_t end = rest.find('\n');
        if (end == std::string_view::npos) return {};
        rest.remove_prefix(end + 1);
    }
    rest = rest.substr(0, rest.find('\n'));
    if (!rest.empty() && rest.back() == '\r') rest.remove_suffix(1);
    return rest;
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
    diagnostic_->labels.push_back({span, std::move(text)});
    return *this;
}

DiagnosticBuilder& DiagnosticBuilder::note(std::string text) {
    diagnostic_->notes.push_back(std::move(text));
    return *this;
}

DiagnosticBuilder& DiagnosticBuilder::help(std::string text) {
    diagnostic_->help = std::move(text);
    return *this;
}

DiagnosticBuilder Diagnostics::error(std::string_view code, Span span, std::string message) {
    add({std::string(code), Severity::error, std::move(message), {{span, {}}}, {}, {}, false});
    return DiagnosticBuilder(all_.back());
}

DiagnosticBuilder Diagnostics::warning(std::string_view code, Span span, std::string message) {
    add({std::string(code), Severity::warning, std::move(message), {{span, {}}}, {}, {}, false});
    return DiagnosticBuilder(all_.back());
}

DiagnosticBuilder Diagnostics::finding(std::string_view code, Span span, std::string message) {
    add({std::string(code), Severity::error, std::move(message), {{span, {}}}, {}, {}, true});
    return DiagnosticBuilder(all_.back());
}

void Diagnostics::add(Diagnostic diagnostic) {
    if (find_code(diagnostic.code) == nullptr)
        internal_error("diagnostic code " + diagnostic.code + " is not registered");
    if (diagnostic.severity == Severity::error && !diagnostic.finding) ++errors_;
    all_.push_back(std::move(diagnostic));
}

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates) {
    std::string_view best;
    size_t best_distance = std::min<size_t>(2, word.size() / 2) + 1;
    for (std::string_view candidate : candidates) {
        std::vector<size_t> row(candidate.size() + 1);
        std::iota(row.begin(), row.end(), size_t{0});
        for (size_t i = 1; i <= word.size(); ++i) {
            size_t diagonal = row[0];
            row[0] = i;
            for (size_t j = 1; j <= candidate.size(); ++j) {
                size_t above = row[j];
                row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (word[i - 1] == candidate[j - 1] ? 0 : 1)});
                diagonal = above;
            }
        }
        if (row.back() < best_distance) {
            best_distance = row.back();
            best = candidate;
        }
    }
    return best;
}

} // namespace shard
