#include "planner/text/allowances.h"

#include "planner/text/yaml_text.h"
#include "plans/diagnostics/codes.h"
#include "plans/diagnostics/suggestion.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

constexpr std::string_view blanks = " \t\r";

// "# shardc: ..." up to the end of its line; the rest of `text` is kept by offset.
constexpr std::string_view marker = "shardc:";

bool is_code(std::string_view word) {
    return word.size() == 5 && word[0] >= 'A' && word[0] <= 'Z' &&
           word.substr(1).find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_of_comparison(std::string_view code) { return code == "P0107" || code == "W0701"; }

std::vector<std::string_view> allowable_codes() {
    std::vector<std::string_view> codes;
    for (const CodeDoc& doc : all_codes())
        if (doc.code.starts_with('W') || doc.code.starts_with("P01")) codes.push_back(doc.code);
    return codes;
}

// Words of one line, with where they are.
class Words {
public:
    Words(std::string_view text, size_t begin, size_t end) : text_(text.substr(0, end)), at_(begin) { skip_blanks(); }
    bool ended() const { return at_ >= text_.size(); }
    size_t at() const { return at_; }
    bool accept(char c) {
        if (ended() || text_[at_] != c) return false;
        ++at_;
        skip_blanks();
        return true;
    }
    std::string_view next() {
        const size_t end = std::min(text_.find_first_of(" \t\r,", at_), text_.size());
        const std::string_view word = text_.substr(at_, end - at_);
        at_ = end;
        skip_blanks();
        return word;
    }

private:
    void skip_blanks() { at_ = std::min(text_.find_first_not_of(blanks, at_), text_.size()); }
    std::string_view text_;
    size_t at_;
};

// The offset behind "# shardc:" in a comment that starts at `at`; npos if it says something else.
size_t after_marker(std::string_view text, size_t at, size_t end) {
    const size_t word = std::min(text.find_first_not_of("# \t", at), end);
    return text.substr(word, end - word).starts_with(marker) ? word + marker.size() : std::string_view::npos;
}

// The line on which the text goes on after a comment that has a line to itself; 0 if it does not.
int next_line(const TextPlaces& places, size_t at) {
    const std::string_view text = places.text();
    while (at < text.size()) {
        at = text.find_first_not_of(" \t\r\n", at);
        if (at == std::string_view::npos) return 0;
        if (text[at] != '#') return places.at(at).line;
        at = places.end_of_line(at);
    }
    return 0;
}

} // namespace

void Allowances::read(const Sources& sources, int file, Diagnostics& diagnostics) {
    const std::string& text = sources.text(file);
    if (text.find(marker) == std::string::npos) return;
    const TextPlaces places(sources, file);
    const std::vector<std::string_view> known = allowable_codes();
    for (size_t at = next_comment(places, 0); at != std::string::npos; at = next_comment(places, at)) {
        const size_t start = at, end = places.end_of_line(start);
        at = end;
        const size_t body = after_marker(text, start, end);
        if (body == std::string::npos) continue;
        const auto fail = [&](size_t where, size_t length, std::string message) {
            return diagnostics.error("E0119", places.at(where, static_cast<int>(length)), std::move(message));
        };
        Words words(text, body, end);
        const size_t verb = words.at();
        const std::string_view word = words.next();
        if (word != "allow") {
            fail(word.empty() ? start : verb, std::max<size_t>(word.size(), 1), "a comment for shardc allows something")
                .help("write # shardc: allow W0304 and why, or a comment that does not begin with shardc:");
            continue;
        }
        std::vector<Allowance> found;
        bool fine = true;
        do {
            const size_t where = words.at();
            const std::string_view code = words.next();
            if (find_code(code) != nullptr && std::find(known.begin(), known.end(), code) == known.end()) {
                fail(where, code.size(), fmt::format("{} is an error and cannot be allowed", code))
                    .help("warnings (W...) and policy findings (P01...) can");
                fine = false;
            } else if (find_code(code) == nullptr) {
                DiagnosticBuilder error = fail(where, std::max<size_t>(code.size(), 1),
                                               is_code(code) ? fmt::format("there is no code '{}'", code)
                                                             : std::string("expected the code of a warning"));
                error.help(did_you_mean(code, known, "`shardc list codes` lists them"));
                fine = false;
            } else {
                found.push_back({std::string(code), places.at(where, static_cast<int>(code.size())), 0, false});
            }
        } while (fine && words.accept(','));
        if (!fine) continue;
        if (words.ended()) {
            fail(start, end - start, "an allowance says why")
                .help(fmt::format("write # shardc: allow {} and the reason", found[0].code));
            continue;
        }
        const size_t line_start = text.rfind('\n', start) + 1; // npos + 1 is 0
        const bool alone = text.find_first_not_of(" \t", line_start) == start;
        for (Allowance& allowance : found) {
            allowance.line = alone ? next_line(places, end) : allowance.span.line;
            all_.push_back(std::move(allowance));
        }
    }
}

bool Allowances::covers(std::string_view code, const Span& place) {
    bool covered = false;
    for (Allowance& allowance : all_)
        if (place.known() && allowance.code == code && allowance.span.file == place.file &&
            allowance.line == place.line)
            covered = allowance.used = true;
    return covered;
}

Diagnostics Allowances::apply(const Diagnostics& found, bool compared) {
    Diagnostics left;
    for (const Diagnostic& diagnostic : found.all()) {
        const bool can = diagnostic.finding || diagnostic.severity != Severity::error;
        if (!can || diagnostic.labels.empty() || !covers(diagnostic.code, diagnostic.labels[0].span))
            left.add(diagnostic);
    }
    for (const Allowance& allowance : all_)
        if (!allowance.used && is_of_comparison(allowance.code) == compared)
            left.warning("W0101", allowance.span, fmt::format("nothing here is silenced: no {}", allowance.code))
                .help("remove the allowance");
    return left;
}

} // namespace shard
