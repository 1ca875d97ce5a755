#include "cli/diagnostics/subjects_text.h"

#include "cli/terminal/paint.h"

#include <algorithm>
#include <fmt/format.h>

namespace shard {

namespace {

// A line of a file as it is shown: a tab has no width of its own, and the caret has to stand under what it marks.
std::string excerpt(std::string_view line) {
    std::string spaced;
    for (char c : line) spaced += c == '\t' ? std::string("    ") : std::string(1, c);
    return printable(spaced);
}

// Of a very long line only the part around the place is shown. Returns how many bytes were cut from the left.
size_t cut_to_window(std::string_view& line, size_t start) {
    constexpr size_t most = 160, before = 60;
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
    std::string_view line = sources.line(label.span.file, label.span.line);
    std::string rule = paint("1;34", "|");
    out += fmt::format("{:{}}{} {}:{}:{}\n", "", gutter, paint("1;34", primary ? "-->" : ":::"),
                       sources.name(label.span.file), label.span.line, label.span.column);
    out += fmt::format("{:{}} {}\n", "", gutter, rule);
    size_t start = std::max(label.span.column - 1, 0);
    const size_t size = line.size(), cut = cut_to_window(line, start);
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

void render_one(std::string& out, const Placed& placed, const Paint& paint) {
    const Diagnostic& diagnostic = *placed.diagnostic;
    std::string_view color = diagnostic.severity == Severity::error     ? "1;31"
                             : diagnostic.severity == Severity::warning ? "1;33"
                                                                        : "1;36";
    out += fmt::format("{}: {}\n", paint(color, fmt::format("{}[{}]", name(diagnostic.severity), diagnostic.code)),
                       paint.strong(diagnostic.message));
    int last_line = 1;
    for (const Label& label : diagnostic.labels) last_line = std::max(last_line, label.span.line);
    size_t gutter = std::to_string(last_line).size();
    for (size_t i = 0; i < diagnostic.labels.size(); ++i)
        render_label(out, *placed.sources, diagnostic.labels[i], i == 0, gutter, paint, color);
    for (const std::string& note : diagnostic.notes)
        out += fmt::format("{:{}} {} note: {}\n", "", gutter, paint("1;34", "="), note);
    if (!diagnostic.help.empty())
        out += fmt::format("{:{}} {} help: {}\n", "", gutter, paint("1;34", "="), diagnostic.help);
    out += '\n';
}

} // namespace

std::string subjects_text(std::span<const Subject> subjects, bool color) {
    Paint paint{color};
    std::string out;
    for (const Placed& placed : flatten(subjects)) render_one(out, placed, paint);
    size_t width = 0;
    for (const Subject& subject : subjects)
        if (!subject.name.empty()) width = std::max(width, display_width(subject.name));
    for (const Subject& subject : subjects) {
        if (subject.name.empty()) continue;
        int code = exit_code(std::span<const Subject>(&subject, 1));
        std::string verdict = code == 0   ? paint("1;32", "ok      ")
                              : code == 1 ? paint("1;31", "finding ")
                                          : paint("1;31", "error   ");
        out += fmt::format(
            "{} {}{}\n", verdict, subject.name,
            subject.summary.empty() ? "" : std::string(width - display_width(subject.name) + 2, ' ') + subject.summary);
    }
    return out;
}

} // namespace shard
