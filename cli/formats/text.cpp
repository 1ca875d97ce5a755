// For people: what the reports of the commands say, in colour on a terminal.
#include "cli/command/format.h"
#include "cli/diagnostics/subjects_text.h"
#include "cli/explain/explanation_text.h"
#include "cli/report/diff_report.h"
#include "cli/report/listing.h"
#include "cli/report/report.h"
#include "cli/report/show_report.h"
#include "cli/report/sweep_report.h"
#include "cli/run/run_report.h"
#include "cli/run/steps.h"

namespace shard {

namespace {

std::string plan(const PlanPayload& payload) {
    const std::string report = report_text(payload);
    return payload.diagnostics.empty() ? report : report + "\n" + payload.diagnostics;
}

std::string check(const CheckPayload& payload, const Paint& paint) { return subjects_text(payload.subjects, paint); }

std::string diff(const std::vector<NamedPlan>& plans, bool all_values, const Paint& paint) {
    return diff_text(plans, paint, all_values);
}

// A run of steps has said its heading before the first of them.
std::string run(const RunReport& report, const Paint& paint) {
    const std::string text = run_text(report, paint);
    return is_step(*report.plan) ? text : run_heading(*report.plan, paint) + text;
}

std::string nothing_left(const Plan& plan, const std::string& checkpoint, int steps, const Paint& paint) {
    return run_heading(plan, paint) + nothing_left_text(checkpoint, steps);
}

} // namespace

const FormatDef& format_text() {
    static const FormatDef def = {
        .name = "text",
        .doc = "for people: the place, the excerpt and what to do",
        .is_usual = true,
        .holds_diagnostics = true,
        .leaves_out = true,
        .check = check,
        .plan = plan,
        .sweep = sweep_text,
        .diff = diff,
        .show = show_text,
        .explain = explanations_text,
        .found = found_text,
        .list = listing_text,
        .item = item_text,
        .run = run,
        .run_heading = run_heading,
        .nothing_left = nothing_left,
    };
    return def;
}

} // namespace shard
