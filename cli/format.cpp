#include "cli/format.h"

#include "cli/command.h"
#include "plans/sha1.h"

#include <algorithm>
#include <fmt/format.h>

namespace shard {

#define REGISTER(stem) const FormatDef& format_##stem();
#include "format_registry.inc"
#undef REGISTER

const std::vector<const FormatDef*>& all_formats() {
    static const std::vector<const FormatDef*> formats = {
#define REGISTER(stem) &format_##stem(),
#include "format_registry.inc"
#undef REGISTER
    };
    return formats;
}

const FormatDef* find_format(std::string_view name) {
    for (const FormatDef* format : all_formats())
        if (format->name == name) return format;
    return nullptr;
}

const Span* Placed::place() const {
    for (const Label& label : diagnostic->labels)
        if (label.span.known() && label.span.file < sources->count()) return &label.span;
    return nullptr;
}

namespace {

// Two subjects read the same file into different Sources: places are compared by file name.
bool same(const Placed& a, const Placed& b) {
    const Diagnostic& x = *a.diagnostic;
    const Diagnostic& y = *b.diagnostic;
    if (x.code != y.code || x.severity != y.severity || x.message != y.message || x.help != y.help ||
        x.notes != y.notes)
        return false;
    const Span* p = a.place();
    const Span* q = b.place();
    if (p == nullptr || q == nullptr) return p == q;
    return p->line == q->line && p->column == q->column && a.file() == b.file();
}

} // namespace

std::vector<Placed> flatten(std::span<const Subject> subjects) {
    std::vector<Placed> result;
    for (const Subject& subject : subjects) {
        const std::vector<Placed> before = result; // within one subject nothing is dropped
        for (const Diagnostic& diagnostic : subject.diagnostics) {
            Placed placed{&diagnostic, subject.sources};
            bool seen =
                std::any_of(before.begin(), before.end(), [&](const Placed& other) { return same(other, placed); });
            if (!seen) result.push_back(placed);
        }
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
