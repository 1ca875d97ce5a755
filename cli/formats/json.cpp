// One object, for scripts. Of `check`:
//
//     {"format_version": 1, "tool": "shardc 0.1.0", "verdict": "findings",
//      "subjects": [{"name": ..., "model": ..., "layout": ..., "mode": ..., "verdict": ..., "summary": ..., "step_seconds": ...}],
//      "diagnostics": [{"code": "E0203", "severity": "error", "finding": false, "message": ..., "subjects": [name],
//                       "source": {"file", "line", "column"}, "labels": [...], "notes": [...], "help": ...}]}
#include "cli/command/format.h"
#include "cli/diagnostics/subjects.h"
#include "cli/explain/explanation_json.h"
#include "cli/report/diff_report.h"
#include "cli/report/listing.h"
#include "cli/report/report.h"
#include "cli/report/show_report.h"
#include "cli/report/sweep_report.h"
#include "cli/run/run_report.h"
#include "cli/terminal/exit_code.h"
#include "plans/base/version.h"
#include "plans/file/report_json.h"
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

std::string render(const CheckPayload& payload, const Paint&) {
    const std::span<const Subject> subjects = payload.subjects;
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

std::string plan(const PlanPayload& payload) { return print_report(*payload.plan); }
std::string diff(const std::vector<NamedPlan>& plans, bool, const Paint&) { return diff_json(plans); }
std::string show(const Plan& plan, const std::vector<const TensorReport*>& tensors, const Paint&) {
    return show_json(plan, tensors);
}
std::string explain(const Plan& plan, const std::vector<Explanation>& explanations, const Paint&) {
    return explanations_json(plan, explanations);
}
std::string list(const Listing& listing, const Paint&) { return listing_json(listing); }
std::string item(const Registry&, const Item& item) { return item_payload(item); }
std::string run(const RunReport& report, const Paint&) { return run_json(report); }
std::string nothing_left(const Plan& plan, const std::string&, int steps, const Paint&) {
    return nothing_left_json(plan, steps);
}

} // namespace

const FormatDef& format_json() {
    static const FormatDef def = {
        .name = "json",
        .doc = "one object with format_version, for scripts",
        .check = render,
        .plan = plan,
        .sweep = sweep_json,
        .diff = diff,
        .show = show,
        .explain = explain,
        .found = found_json,
        .list = list,
        .item = item,
        .run = run,
        .nothing_left = nothing_left,
    };
    return def;
}

} // namespace shard
