// JUnit XML: every subject is a test case; errors and findings fail it, the other diagnostics are its output.
#include "cli/command/format.h"
#include "cli/diagnostics/subjects.h"

#include <fmt/format.h>

namespace shard {

namespace {

// XML 1.0 allows no control characters but tab, newline and carriage return, not even escaped: what is rendered has
// none but the newlines that join texts.
std::string escaped(std::string_view text) {
    std::string result;
    for (char c : text) {
        if (c == '&')
            result += "&amp;";
        else if (c == '<')
            result += "&lt;";
        else if (c == '>')
            result += "&gt;";
        else if (c == '"')
            result += "&quot;";
        else if (c == '\n')
            result += "&#10;";
        else
            result += c;
    }
    return result;
}

bool fails(const Diagnostic& diagnostic) { return diagnostic.finding || diagnostic.severity == Severity::error; }

std::string describe(const Placed& placed) {
    std::string text;
    if (const Span* span = placed.place()) text = fmt::format("{}:{}:{}: ", placed.file(), span->line, span->column);
    text += fmt::format("{}[{}]: {}", name(placed.diagnostic->severity), placed.diagnostic->code,
                        placed.diagnostic->message);
    for (const std::string& note : placed.diagnostic->notes) text += "\nnote: " + note;
    if (!placed.diagnostic->help.empty()) text += "\nhelp: " + placed.diagnostic->help;
    return text;
}

std::string render(std::span<const Subject> subjects, bool) {
    int failures = 0, errors = 0;
    std::string cases;
    for (const Subject& subject : subjects) {
        int code = exit_code(std::span<const Subject>(&subject, 1));
        failures += code == 1 ? 1 : 0;
        errors += code == 2 ? 1 : 0;
        cases += fmt::format("    <testcase classname=\"shardc\" name=\"{}\">\n", escaped(subject.name));
        std::string output = subject.summary;
        for (const Diagnostic& diagnostic : subject.diagnostics) {
            Placed placed{&diagnostic, subject.sources};
            if (!fails(diagnostic)) {
                output += (output.empty() ? "" : "\n") + describe(placed);
                continue;
            }
            std::string_view tag = diagnostic.finding ? "failure" : "error";
            cases += fmt::format("      <{0} type=\"{1}\" message=\"{2}\">{3}</{0}>\n", tag, diagnostic.code,
                                 escaped(diagnostic.message), escaped(describe(placed)));
        }
        if (!output.empty()) cases += fmt::format("      <system-out>{}</system-out>\n", escaped(output));
        cases += "    </testcase>\n";
    }
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<testsuites>\n  <testsuite name=\"shardc\" tests=\"{}\" failures=\"{}\" errors=\"{}\">\n{}  </testsuite>\n"
        "</testsuites>\n",
        subjects.size(), failures, errors, cases);
}

} // namespace

const FormatDef& format_junit() {
    static const FormatDef def = {.name = "junit", .doc = "JUnit XML: a test case per layout", .check = render};
    return def;
}

} // namespace shard
