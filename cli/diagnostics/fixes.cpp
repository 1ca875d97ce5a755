#include "cli/diagnostics/fixes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace shard {

namespace {

constexpr std::string_view blanks = " \t\r";

std::string_view trimmed(std::string_view text) {
    const size_t first = std::min(text.find_first_not_of(blanks), text.size());
    text.remove_prefix(first);
    return text.substr(0, text.find_last_not_of(blanks) + 1); // npos + 1 is 0
}

// The word of "did you mean 'relu'?", or empty.
std::string_view meant_by(std::string_view help) {
    constexpr std::string_view begin = "did you mean '", end = "'?";
    if (!help.starts_with(begin) || !help.ends_with(end) || help.size() <= begin.size() + end.size()) return {};
    return help.substr(begin.size(), help.size() - begin.size() - end.size());
}

bool is_readable_file(const Subject& subject, const std::string& name) {
    // <stdin>, and what is in the box, library:llama.
    if (!subject.as_written || name.find_first_of("<:") != std::string::npos || name.ends_with(".mlir")) return false;
    for (int i = 0; i < subject.sources->count(); ++i) // a model that `import` made
        if (subject.sources->name(i) + ".yaml" == name) return false;
    return true;
}

// "- {heads: data}" and nothing else.
bool is_rule_alone(std::string_view line) {
    line = trimmed(line);
    if (!line.starts_with("- {") || !line.ends_with('}')) return false;
    line = line.substr(3, line.size() - 4);
    return line.find_first_of("{}#") == std::string_view::npos;
}

class Fixer {
public:
    explicit Fixer(std::span<const Subject> subjects) : subjects_(subjects) {}

    // By file and line, as it would be; absent: the line goes. At most one for a line.
    std::map<std::string, std::map<int, std::optional<std::string>>> run() {
        for (const Placed& placed : flatten(subjects_)) {
            if (placed.place() == nullptr || placed.subjects.empty()) continue;
            if (!is_readable_file(*placed.subjects.front(), placed.file())) continue;
            mend_word(placed);
            if (placed.diagnostic->code == "W0302" || placed.diagnostic->code == "W0303") remove_rules(placed);
            if (placed.diagnostic->code == "W0101") remove_allowance(placed);
        }
        return std::move(files_);
    }

private:
    void put(const Placed& placed, const Span& span, std::optional<std::string> line) {
        files_[placed.sources->name(span.file)].try_emplace(span.line, std::move(line));
    }

    // The place is the word, in quotes or not, and the message has it.
    void mend_word(const Placed& placed) {
        const std::string_view meant = meant_by(placed.diagnostic->help);
        const Span& span = *placed.place();
        const std::string line(placed.sources->line(span.file, span.line));
        size_t at = static_cast<size_t>(span.column - 1), size = static_cast<size_t>(std::max(span.length, 0));
        if (meant.empty() || at + size > line.size()) return;
        if (size > 2 && (line[at] == '"' || line[at] == '\'') && line[at + size - 1] == line[at]) ++at, size -= 2;
        if (placed.diagnostic->code == "E0330") return; // hardware is a choice, not a spelling
        const std::string word = line.substr(at, size);
        if (placed.diagnostic->message.find("'" + word + "'") == std::string::npos) return;
        put(placed, span, line.substr(0, at) + std::string(meant) + line.substr(at + size));
    }

    void remove_rules(const Placed& placed) {
        const std::string& file = placed.file();
        size_t readers = 0;
        for (const Subject& subject : subjects_)
            for (int i = 0; i < subject.sources->count(); ++i) readers += subject.sources->name(i) == file ? 1 : 0;
        if (placed.subjects.size() != readers) return; // another model has the axis
        std::set<int> gone;
        for (const Label& label : placed.diagnostic->labels)
            if (label.span.file == placed.place()->file &&
                is_rule_alone(placed.sources->line(label.span.file, label.span.line)))
                gone.insert(label.span.line);
        for (const Label& label : placed.diagnostic->labels)
            if (gone.contains(label.span.line) && has_sibling(placed, label.span, gone)) put(placed, label.span, {});
    }

    // Whether another item of the list stays: without any, the key would have no value.
    static bool has_sibling(const Placed& placed, const Span& span, const std::set<int>& gone) {
        for (const int step : {-1, 1})
            for (int line = span.line + step; line > 0; line += step) {
                const std::string_view text = trimmed(placed.sources->line(span.file, line));
                if (text.starts_with("- ") && !gone.contains(line)) return true;
                if (!text.starts_with("- ") && !text.starts_with('#')) break; // the key, or what follows
            }
        return false;
    }

    // Of a comment that allows one code.
    void remove_allowance(const Placed& placed) {
        const Span& span = *placed.place();
        const std::string_view line = placed.sources->line(span.file, span.line);
        const size_t start = line.rfind('#', static_cast<size_t>(span.column - 1));
        if (start == std::string_view::npos || line.find(',', start) == static_cast<size_t>(span.column + 4)) return;
        const size_t code = line.find_first_not_of("# \t", start);
        if (line.substr(code, static_cast<size_t>(span.column - 1) - code) != "shardc: allow ") return;
        const std::string_view rest = line.substr(0, line.find_last_not_of(blanks, start == 0 ? 0 : start - 1) + 1);
        if (trimmed(line.substr(0, start)).empty())
            put(placed, span, {});
        else
            put(placed, span, std::string(rest));
    }

    std::span<const Subject> subjects_;
    std::map<std::string, std::map<int, std::optional<std::string>>> files_;
};

std::string source_text(std::span<const Subject> subjects, const std::string& file) {
    for (const Subject& subject : subjects)
        for (int i = 0; i < subject.sources->count(); ++i)
            if (subject.sources->name(i) == file) return subject.sources->text(i);
    return {};
}

} // namespace

std::vector<MendedFile> mended_files(std::span<const Subject> subjects, const RefusedFixes& refused) {
    std::vector<MendedFile> mended;
    for (const auto& [file, lines] : Fixer(subjects).run()) {
        MendedFile one{file, source_text(subjects, file)};
        std::string_view rest = one.before;
        for (int line = 1; !rest.empty(); ++line) {
            const std::string_view old = rest.substr(0, std::min(rest.find('\n'), rest.size() - 1) + 1);
            const std::string before(old.substr(0, old.find_last_not_of("\r\n") + 1));
            rest.remove_prefix(old.size());
            const auto fix = lines.find(line);
            if (fix == lines.end() || refused.contains({file, before})) {
                one.after += old;
                continue;
            }
            if (fix->second) // its break is that of the old line
                one.after.append(*fix->second).append(old.substr(before.size()));
            one.lines.push_back({before, fix->second});
        }
        if (!one.lines.empty()) mended.push_back(std::move(one));
    }
    return mended;
}

} // namespace shard
