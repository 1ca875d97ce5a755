#include "cli/diagnostics/subjects_text.h"

#include "cli/terminal/wrap.h"
#include "plans/base/units.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace shard {

namespace {

// A line of a file as it is shown: a tab has no width of its own, and the caret has to stand under what it marks.
std::string excerpt(std::string_view line) {
    std::string spaced;
    for (char c : line) spaced += c == '\t' ? std::string("    ") : std::string(1, c);
    return printable(spaced);
}

size_t width_of(const Paint& paint) { return paint.on ? paint.width : 0; }

// Bytes of a line: what a terminal has room for, with the dots where it was cut.
size_t most_shown(const Paint& paint, size_t gutter) {
    constexpr size_t most = 160, least = 40, frame = 9;
    return width_of(paint) == 0 ? most
                                : std::clamp(width_of(paint) - std::min(width_of(paint), gutter + frame), least, most);
}

// " = note: ..." and their like.
std::string remark(std::string_view word, std::string_view text, size_t gutter, const Paint& paint) {
    const size_t indent = gutter + 5 + word.size();
    return fmt::format("{:{}} {} {}: {}\n", "", gutter, paint("1;34", "="), word,
                       hanging(text, width_of(paint), indent));
}

// Of a very long line only the part around the place is shown. Returns how many bytes were cut from the left.
size_t cut_to_window(std::string_view& line, size_t start, size_t most) {
    const size_t before = most * 3 / 8;
    if (line.size() <= most) return 0;
    const size_t place = std::min(start, line.size());
    size_t left = place > before ? place - before : 0;
    while (left > 0 && (line[left] & 0xC0) == 0x80) --left; // not inside a character
    size_t right = std::min(line.size(), left + most);
    while (right < line.size() && right > left && (line[right] & 0xC0) == 0x80) --right;
    line = line.substr(left, right - left);
    return left;
}

void render_label(std::string& out, const Sources& sources, const Label& label, bool primary, size_t gutter,
                  const Paint& paint, std::string_view color) {
    if (!label.span.known()) return;
    if (label.span.length == 0 && sources.text(label.span.file).empty()) { // a line of a program that is not read
        out += fmt::format("{:{}}{} {}:{}{}{}\n", "", gutter, paint("1;34", primary ? "-->" : ":::"),
                           sources.name(label.span.file), label.span.line, label.text.empty() ? "" : ": ", label.text);
        return;
    }
    std::string_view line = sources.line(label.span.file, label.span.line);
    std::string rule = paint("1;34", "|");
    out += fmt::format("{:{}}{} {}:{}:{}\n", "", gutter, paint("1;34", primary ? "-->" : ":::"),
                       sources.name(label.span.file), label.span.line, label.span.column);
    out += fmt::format("{:{}} {}\n", "", gutter, rule);
    size_t start = std::max(label.span.column - 1, 0);
    const size_t size = line.size(), cut = cut_to_window(line, start, most_shown(paint, gutter));
    start -= cut;
    std::string shown = excerpt(line);
    if (cut > 0) shown.replace(0, 3, "...");
    if (cut + line.size() < size) shown += "...";
    out += fmt::format("{} {} {}\n", paint("1;34", fmt::format("{:>{}}", label.span.line, gutter)), rule, shown);
    const std::string_view before = line.substr(0, start),
                           marked = line.substr(before.size()).substr(0, std::max(label.span.length, 1));
    // A place behind the end of the line is marked where it would be.
    const size_t indent = display_width(excerpt(before)) + (start - before.size());
    const std::string marks(std::max<size_t>(display_width(excerpt(marked)), 1), primary ? '^' : '-');
    out += fmt::format("{:{}} {} {:{}}{}{}{}\n", "", gutter, rule, "", indent, paint(primary ? color : "1;34", marks),
                       label.text.empty() ? "" : " ", paint(primary ? color : "1;34", label.text));
}

// Labels that say nothing but where, beyond the first few: "a.yaml:14, a.yaml:15 and 96 more".
std::string places_text(const Sources& sources, std::span<const Label> labels) {
    constexpr size_t shown = 4;
    std::vector<std::string> places;
    for (size_t i = 0; i < labels.size() && i < shown; ++i)
        places.push_back(fmt::format("{}:{}", sources.name(labels[i].span.file), labels[i].span.line));
    return fmt::format("{}{}", fmt::join(places, ", "),
                       labels.size() > shown ? fmt::format(" and {} more", labels.size() - shown) : "");
}

// `count`: of how many; one alone is named by its verdict.
void render_one(std::string& out, const Placed& placed, size_t count, const Paint& paint) {
    const Diagnostic& diagnostic = *placed.diagnostic;
    std::string_view color = diagnostic.severity == Severity::error     ? "1;31"
                             : diagnostic.severity == Severity::warning ? "1;33"
                                                                        : "1;36";
    out += fmt::format("{}: {}\n", paint(color, fmt::format("{}[{}]", name(diagnostic.severity), diagnostic.code)),
                       paint.strong(hanging(diagnostic.message, width_of(paint),
                                            name(diagnostic.severity).size() + diagnostic.code.size() + 4)));
    int last_line = 1;
    for (const Label& label : diagnostic.labels) last_line = std::max(last_line, label.span.line);
    size_t gutter = std::to_string(last_line).size();
    constexpr size_t most_bare = 3;
    std::vector<Label> bare;
    for (size_t i = 1; i < diagnostic.labels.size(); ++i)
        if (diagnostic.labels[i].text.empty() && diagnostic.labels[i].span.known())
            bare.push_back(diagnostic.labels[i]);
    const bool fold = bare.size() > most_bare;
    for (size_t i = 0; i < diagnostic.labels.size(); ++i)
        if (i == 0 || !fold || !diagnostic.labels[i].text.empty())
            render_label(out, *placed.sources, diagnostic.labels[i], i == 0, gutter, paint, color);
    if (fold) out += fmt::format("{:{}}{} {}\n", "", gutter, paint("1;34", ":::"), places_text(*placed.sources, bare));
    if (count > 1 && !placed.subjects.empty()) out += remark("layout", names_text(placed, count), gutter, paint);
    for (const std::string& note : diagnostic.notes) out += remark("note", note, gutter, paint);
    if (!diagnostic.help.empty()) out += remark("help", diagnostic.help, gutter, paint);
    out += '\n';
}

} // namespace

std::string findings_text(std::span<const Subject> subjects, const Paint& paint) {
    std::string out;
    const size_t count = named_count(subjects);
    constexpr size_t most_of_a_code = 100; // that anybody reads
    std::map<std::string, size_t> said;
    for (const Placed& placed : flatten(subjects))
        if (++said[placed.diagnostic->code] <= most_of_a_code) render_one(out, placed, count, paint);
    for (const auto& [code, times] : said)
        if (times > most_of_a_code)
            out += fmt::format("and {} more of {}\n\n", grouped(static_cast<i64>(times - most_of_a_code)), code);
    return out;
}

std::string subjects_text(std::span<const Subject> subjects, const Paint& paint) {
    std::string out = findings_text(subjects, paint);
    size_t width = 0;
    for (const Subject& subject : subjects)
        if (!subject.name.empty()) width = std::max(width, display_width(subject.name));
    for (const Subject& subject : subjects) {
        if (subject.name.empty()) continue;
        int code = exit_code(std::span<const Subject>(&subject, 1));
        std::string verdict = code == 1        ? paint("1;31", "finding ")
                              : code != 0      ? paint("1;31", "error   ")
                              : warns(subject) ? paint("1;33", "warning ")
                                               : paint("1;32", "ok      ");
        constexpr size_t verdict_width = 9, least = 30; // of a summary
        const bool is_below = width_of(paint) > 0 && verdict_width + width + 2 + least > width_of(paint);
        const size_t column = is_below ? verdict_width : verdict_width + width + 2;
        const std::string gap =
            is_below ? "\n" + std::string(column, ' ') : std::string(width - display_width(subject.name) + 2, ' ');
        const std::string summary = hanging(subject.summary, width_of(paint), column);
        out += fmt::format("{} {}{}\n", verdict, subject.name, subject.summary.empty() ? "" : gap + summary);
    }
    return out;
}

} // namespace shard
