// For a pull request comment or a job summary: of `check` a verdict per subject, then the diagnostics.
#include "cli/command/format.h"
#include "cli/diagnostics/subjects.h"
#include "cli/report/diff_report.h"
#include "cli/report/report.h"
#include "cli/terminal/table.h"

#include <fmt/format.h>

namespace shard {

namespace {

std::string render(const CheckPayload& payload, const Paint&) {
    const std::span<const Subject> subjects = payload.subjects;
    std::string out;
    Table verdicts({{"checked"}, {"verdict"}, {"figures"}});
    for (const Subject& subject : subjects) {
        if (subject.name.empty()) continue;
        int code = exit_code(std::span<const Subject>(&subject, 1));
        verdicts.add({subject.name,
                      code == 0   ? (warns(subject) ? "warning" : "ok")
                      : code == 1 ? "findings"
                                  : "error",
                      subject.summary});
    }
    if (!verdicts.empty()) out += verdicts.render_markdown() + "\n";
    const size_t count = named_count(subjects);
    Table table({{"severity"}, {"code"}, {"layout"}, {"place"}, {"message"}, {"what to do"}});
    for (const Placed& placed : flatten(subjects)) {
        const Diagnostic& diagnostic = *placed.diagnostic;
        const Span* span = placed.place();
        table.add({diagnostic.finding ? "finding" : std::string(name(diagnostic.severity)), diagnostic.code,
                   names_text(placed, count),
                   span == nullptr ? "" : fmt::format("{}:{}:{}", placed.file(), span->line, span->column),
                   diagnostic.message, diagnostic.help});
    }
    return table.empty() ? out : out + table.render_markdown() + "\n";
}

std::string diff(const std::vector<NamedPlan>& plans, bool all_values, const Paint&) {
    return diff_markdown(plans, all_values);
}

} // namespace

const FormatDef& format_markdown() {
    static const FormatDef def = {.name = "markdown",
                                  .doc = "tables for a pull request or a job summary",
                                  .leaves_out = true,
                                  .check = render,
                                  .plan = report_markdown,
                                  .diff = diff};
    return def;
}

} // namespace shard
