#include "cli/diagnostics/subjects_json.h"

#include "cli/terminal/exit_code.h"
#include "plans/base/version.h"
#include "plans/json/json_text.h"

namespace shard {

namespace {

std::string place_json(const Sources& sources, const Span& span) {
    return JsonObject()
        .string("file", sources.name(span.file))
        .integer("line", span.line)
        .integer("column", span.column)
        .text();
}

std::string verdict(std::span<const Subject> subjects) {
    int code = exit_code(subjects);
    return code == exit_clean ? "ok" : code == exit_findings ? "findings" : "error";
}

std::string diagnostic_json(const Placed& placed) {
    const Diagnostic& diagnostic = *placed.diagnostic;
    std::vector<std::string> labels;
    for (const Label& label : diagnostic.labels)
        if (label.span.known())
            labels.push_back(
                JsonObject().raw("source", place_json(*placed.sources, label.span)).string("text", label.text).text());
    return JsonObject()
        .string("code", diagnostic.code)
        .string("severity", name(diagnostic.severity))
        .flag("finding", diagnostic.finding)
        .string("message", diagnostic.message)
        .raw("subjects", json_strings(placed.names()))
        .raw("source", placed.place() == nullptr ? "null" : place_json(*placed.sources, *placed.place()))
        .raw("labels", json_array(labels))
        .raw("notes", json_strings(diagnostic.notes))
        .string("help", diagnostic.help)
        .text();
}

} // namespace

std::string subjects_json(std::span<const Subject> subjects) {
    std::vector<std::string> names, diagnostics;
    for (const Subject& subject : subjects) {
        if (subject.name.empty()) continue;
        JsonObject object;
        object.string("name", subject.name)
            .string("model", subject.as.model)
            .string("layout", subject.as.layout)
            .string("mode", subject.as.mode)
            .string("verdict", verdict(std::span<const Subject>(&subject, 1)))
            .string("summary", subject.summary);
        if (subject.figures) add_figures(object, *subject.figures);
        names.push_back(object.text());
    }
    for (const Placed& placed : flatten(subjects)) diagnostics.push_back(diagnostic_json(placed));
    return JsonObject()
               .integer("format_version", 1)
               .string("tool", tool_text())
               .string("verdict", verdict(subjects))
               .raw("subjects", json_lines(names, 2))
               .raw("diagnostics", json_lines(diagnostics, 2))
               .text() +
           "\n";
}

} // namespace shard
