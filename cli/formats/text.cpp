// For people:
//
//     error[E0203]: unknown op 'rleu'
//       --> model.yaml:12:9
//        |
//     12 |   - a: {rleu: h}
//        |         ^^^^
//        = help: did you mean 'relu'?
#include "cli/format.h"
#include "cli/paint.h"

#include <algorithm>
#include <fmt/format.h>

namespace shard {

namespace {

// Bytes of a line before a column, with every character that is not a tab as one space, so the caret stands under what
// it marks.
std::string indent_like(std::string_view line, int column) {
    std::string indent;
    for (int i = 0; i + 1 < column; ++i) {
        char c = static_cast<size_t>(i) < line.size() ? line[static_cast<size_t>(i)] : ' ';
        if ((c & 0xC0) == 0x80) continue; // continuation byte of UTF-8: no column of its own
        indent += c == '\t' ? '\t' : ' ';
    }
    return indent;
}

// Of a very long line only the part around the place is shown. Returns how many bytes were cut from the left.
size_t cut_to_window(std::string_view& line, size_t start) {
    constexpr size_t most = 160, before = 60;
    if (line.size() <= most) return 0;
    size_t left = start > before && start < line.size() ? start - before : 0;
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
    size_t start = static_cast<size_t>(std::max(label.span.column - 1, 0));
    const size_t size = line.size(), cut = cut_to_window(line, start);
    start -= cut;
    std::string shown = printable(line);
    if (cut > 0) shown.replace(0, 3, "...");
    if (cut + line.size() < size) shown += "...";
    out += fmt::format("{} {} {}\n", paint("1;34", fmt::format("{:>{}}", label.span.line, gutter)), rule, shown);
    size_t room = line.size() > start ? line.size() - start : 1;
    size_t width = std::clamp<size_t>(static_cast<size_t>(std::max(label.span.length, 1)), 1, room);
    std::string marks(width, primary ? '^' : '-');
    out += fmt::format("{:{}} {} {}{}{}{}\n", "", gutter, rule, indent_like(line, static_cast<int>(start) + 1),
                       paint(primary ? color : "1;34", marks), label.text.empty() ? "" : " ",
                       paint(primary ? color : "1;34", label.text));
}

void render_one(std::string& out, const Placed& placed, const Paint& paint) {
    const Diagnostic& diagnostic = *placed.diagnostic;
    std::string_view color = diagnostic.severity == Severity::error     ? "1;31"
                             : diagnostic.severity == Severity::warning ? "1;33"
                                                                        : "1;36";
    out += fmt::format("{}: {}\n", paint(color, fmt::format("{}[{}]", name(diagnostic.severity), diagnostic.code)),
                       paint.strong(printable(diagnostic.message)));
    int last_line = 1;
    for (const Label& label : diagnostic.labels) last_line = std::max(last_line, label.span.line);
    size_t gutter = std::to_string(last_line).size();
    for (size_t i = 0; i < diagnostic.labels.size(); ++i)
        render_label(out, *placed.sources, diagnostic.labels[i], i == 0, gutter, paint, color);
    for (const std::string& note : diagnostic.notes)
        out += fmt::format("{:{}} {} note: {}\n", "", gutter, paint("1;34", "="), printable(note));
    if (!diagnostic.help.empty())
        out += fmt::format("{:{}} {} help: {}\n", "", gutter, paint("1;34", "="), printable(diagnostic.help));
    out += '\n';
}

// A line of figures per subject follows, if there are any: what was checked even where nothing is wrong.
std::string render(std::span<const Subject> subjects, bool color) {
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

} // namespace

const FormatDef& format_text() {
    static const FormatDef def = {
        .name = "text", .doc = "for people: the place, the excerpt and what to do", .render = render};
    return def;
}

} // namespace shard
