// For a browser: a page of one file.
#include "cli/command/format.h"
#include "cli/html/check_page.h"
#include "cli/html/diff_page.h"
#include "cli/html/page.h"

namespace shard {

namespace {

std::string check(const CheckPayload& payload, const Paint&) { return check_html(payload.subjects); }
std::string diff(const std::vector<NamedPlan>& plans, bool all_values, const Paint&) {
    return diff_html(plans, all_values);
}

} // namespace

const FormatDef& format_html() {
    static const FormatDef def = {
        .name = "html", .doc = "a page of one file, for a browser", .check = check, .plan = plan_html, .diff = diff};
    return def;
}

} // namespace shard
