// Workflow commands of GitHub Actions, which show each diagnostic on its line of the pull request:
//
//     ::error file=layout.yaml,line=4,col=5,title=E0312 unknown mesh axis::there is no mesh axis 'modle'%0Adid you mean
//     'model'?
//
// What breaks a policy is an error where the policy stands, and a notice where most of it comes from.
#include "cli/command/format.h"
#include "cli/diagnostics/noted_places.h"
#include "plans/diagnostics/codes.h"

#include <fmt/format.h>

namespace shard {

namespace {

// The runner undoes exactly these escapes; property values have two more.
std::string escaped(std::string_view text, bool property) {
    std::string result;
    for (char c : text) {
        if (c == '%')
            result += "%25";
        else if (c == '\r')
            result += "%0D";
        else if (c == '\n')
            result += "%0A";
        else if (property && c == ':')
            result += "%3A";
        else if (property && c == ',')
            result += "%2C";
        else
            result += c;
    }
    return result;
}

std::string render(const CheckPayload& payload, const Paint&) {
    std::string out;
    const size_t count = named_count(payload.subjects);
    for (const Placed& placed : flatten(payload.subjects)) {
        const Diagnostic& diagnostic = *placed.diagnostic;
        std::string_view command = diagnostic.severity == Severity::error || diagnostic.finding ? "error"
                                   : diagnostic.severity == Severity::warning                   ? "warning"
                                                                                                : "notice";
        const auto place_of = [&](const Span& span) {
            return fmt::format("file={},line={},col={},endColumn={},",
                               escaped(payload.repository.path(placed.sources->name(span.file)), true), span.line,
                               span.column, span.column + std::max(span.length, 1));
        };
        std::string place;
        if (const Span* span = placed.place())
            place = place_of(*span);
        else if (const std::string file = placed.any_file(); !file.empty())
            place = fmt::format("file={},", escaped(payload.repository.path(file), true));
        const CodeDoc* doc = find_code(diagnostic.code);
        std::string title = doc == nullptr ? diagnostic.code : fmt::format("{} {}", diagnostic.code, doc->title);
        std::string text = diagnostic.message;
        if (!placed.subjects.empty()) text += "\nlayout: " + names_text(placed, count);
        for (const std::string& note : diagnostic.notes) text += "\n" + note;
        if (!diagnostic.help.empty()) text += "\n" + diagnostic.help;
        out += fmt::format("::{} {}title={}::{}\n", command, place, escaped(title, true), escaped(text, false));
        // A budget is broken elsewhere than where it stands: the line that does most of it is told too.
        if (const std::vector<Label> causes = noted_places(placed); !causes.empty())
            out += fmt::format("::notice {}title={}::{}\n", place_of(causes.front().span), escaped(title, true),
                               escaped(causes.front().text, false));
    }
    return out;
}

} // namespace

const FormatDef& format_github() {
    static const FormatDef def = {
        .name = "github", .doc = "annotations of GitHub Actions", .annotates = true, .check = render};
    return def;
}

} // namespace shard
