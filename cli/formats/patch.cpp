// What can be mended mechanically, as a patch: `shardc check --format patch | git apply` anywhere in a repository, or
// `| patch -p1` at its root.
#include "cli/command/format.h"
#include "cli/diagnostics/fixes.h"

#include <fmt/format.h>

#include <algorithm>

namespace shard {

namespace {

constexpr int context = 3; // lines around a change

struct Text {
    std::vector<std::string_view> lines;
    bool ends_in_break = true;
};

Text text_of(std::string_view text) {
    Text result;
    result.ends_in_break = text.ends_with('\n');
    while (!text.empty()) {
        const size_t end = std::min(text.find('\n'), text.size());
        result.lines.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return result;
}

std::string_view source_text(std::span<const Subject> subjects, const std::string& file) {
    for (const Subject& subject : subjects)
        for (int i = 0; i < subject.sources->count(); ++i)
            if (subject.sources->name(i) == file) return subject.sources->text(i);
    return {};
}

// Of changes that are no farther apart than their context. `shift` is how many lines went before.
std::string hunk(const Text& text, std::span<const Fix> fixes, int& shift) {
    const int count = static_cast<int>(text.lines.size());
    const int first = std::max(fixes.front().line - context, 1), last = std::min(fixes.back().line + context, count);
    std::string body;
    int kept = 0;
    size_t next = 0;
    const auto add = [&](char sign, std::string_view line, bool is_last) {
        body += fmt::format("{}{}\n", sign, line);
        if (is_last && !text.ends_in_break) body += "\\ No newline at end of file\n";
    };
    for (int line = first; line <= last; ++line) {
        const std::string_view old = text.lines[static_cast<size_t>(line - 1)];
        const bool is_fixed = next < fixes.size() && fixes[next].line == line;
        add(is_fixed ? '-' : ' ', old, line == count);
        if (is_fixed && fixes[next].with) add('+', *fixes[next].with, line == count);
        kept += !is_fixed || fixes[next].with ? 1 : 0;
        next += is_fixed ? 1 : 0;
    }
    const int begin = first - shift - (kept == 0 ? 1 : 0);
    shift += last - first + 1 - kept;
    return fmt::format("@@ -{},{} +{},{} @@\n{}", first, last - first + 1, begin, kept, body);
}

std::string render(const CheckPayload& payload, const Paint&) {
    const std::vector<Fix> fixes = fixes_of(payload.subjects);
    std::string out;
    for (size_t at = 0; at < fixes.size();) {
        size_t end = at;
        while (end < fixes.size() && fixes[end].file == fixes[at].file) ++end;
        const std::string& file = fixes[at].file;
        const Text text = text_of(source_text(payload.subjects, file));
        const std::string path = payload.repository.path(file);
        const std::string_view quote = path.find(' ') == std::string::npos ? "" : "\"";
        out += fmt::format("--- {0}a/{1}{0}\n+++ {0}b/{1}{0}\n", quote, path);
        int shift = 0;
        while (at < end) {
            size_t stop = at + 1;
            while (stop < end && fixes[stop].line - fixes[stop - 1].line <= 2 * context) ++stop;
            out += hunk(text, std::span<const Fix>(fixes).subspan(at, stop - at), shift);
            at = stop;
        }
    }
    return out;
}

} // namespace

const FormatDef& format_patch() {
    static const FormatDef def = {
        .name = "patch", .doc = "what can be mended mechanically, for git apply or patch -p1", .check = render};
    return def;
}

} // namespace shard
