// JUnit XML: every subject is a test case; errors and findings fail it, the other diagnostics are its output. A case
// has one failure, which holds all that is wrong: of several, most readers show the first or the last.
#include "cli/command/format.h"
#include "cli/diagnostics/subjects.h"

#include <algorithm>
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

std::string render(const CheckPayload& payload, const Paint&) {
    const std::span<const Subject> subjects = payload.subjects;
    int failures = 0, errors = 0;
    std::string cases;
    for (const Subject& subject : subjects) {
        int code = exit_code(std::span<const Subject>(&subject, 1));
        failures += code == 1 ? 1 : 0;
        errors += code == 2 ? 1 : 0;
        cases += fmt::format("    <testcase classname=\"shardc\" name=\"{}\">\n", escaped(subject.name));
        std::string output = subject.summary;
        std::vector<const Diagnostic*> wrong;
        std::string texts;
        for (const Diagnostic& diagnostic : subject.diagnostics) {
            const std::string text = describe({&diagnostic, subject.sources});
            if (!fails(diagnostic)) {
                output += (output.empty() ? "" : "\n") + text;
                continue;
            }
            texts += (wrong.empty() ? "" : "\n\n") + text;
            wrong.push_back(&diagnostic);
        }
        if (!wrong.empty()) {
            // An error is named first: what follows from it may be found too.
            const auto first =
                std::find_if(wrong.begin(), wrong.end(), [](const Diagnostic* d) { return !d->finding; });
            const Diagnostic& named = first == wrong.end() ? *wrong.front() : **first;
            const std::string more = wrong.size() == 1 ? "" : fmt::format(" (and {} more)", wrong.size() - 1);
            cases += fmt::format("      <{0} type=\"{1}\" message=\"{2}\">{3}</{0}>\n", code == 1 ? "failure" : "error",
                                 named.code, escaped(named.message + more), escaped(texts));
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
