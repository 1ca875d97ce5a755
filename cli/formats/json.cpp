// One object, for scripts.
#include "cli/command/format.h"
#include "cli/diagnostics/subjects_json.h"
#include "cli/explain/explanation_json.h"
#include "cli/report/diff_report.h"
#include "cli/report/listing.h"
#include "cli/report/report.h"
#include "cli/report/show_report.h"
#include "cli/report/sweep_report.h"
#include "cli/run/run_report.h"
#include "plans/file/report_json.h"

namespace shard {

namespace {

std::string check(const CheckPayload& payload, const Paint&) { return subjects_json(payload.subjects); }
std::string plan(const PlanPayload& payload) { return print_report(*payload.plan); }
std::string diff(const std::vector<NamedPlan>& plans, bool, const Paint&) { return diff_json(plans); }
std::string show(const Plan& plan, const std::vector<const TensorReport*>& tensors, const Paint&) {
    return show_json(plan, tensors);
}
std::string explain(const Plan& plan, const std::vector<Explanation>& explanations, const Paint&) {
    return explanations_json(plan, explanations);
}
std::string list(const Listing& listing, const Paint&) { return listing_json(listing); }
std::string item(const Registry&, const Item& item, const Paint&) { return item_payload(item); }
std::string found(const std::vector<FoundItem>& items, const Paint&) { return found_json(items); }
std::string run(const RunReport& report, const Paint&) { return run_json(report); }
std::string nothing_left(const Plan& plan, const std::string&, int steps, const Paint&) {
    return nothing_left_json(plan, steps);
}

} // namespace

const FormatDef& format_json() {
    static const FormatDef def = {
        .name = "json",
        .doc = "one object with format_version, for scripts",
        .check = check,
        .plan = plan,
        .sweep = sweep_json,
        .diff = diff,
        .show = show,
        .explain = explain,
        .found = found,
        .list = list,
        .item = item,
        .run = run,
        .nothing_left = nothing_left,
    };
    return def;
}

} // namespace shard
