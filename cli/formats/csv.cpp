// For a spreadsheet or a plot (RFC 4180). Of `diff`: a column per layout; a row that names their hardware, then one per
// figure, in seconds, bytes and counts.
#include "cli/command/format.h"
#include "cli/report/diff_report.h"

#include <fmt/format.h>

namespace shard {

namespace {

std::string field(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
    std::string quoted = "\"";
    for (char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
}

std::string diff(const std::vector<NamedPlan>& plans, bool, const Paint&) {
    std::string out = "figure";
    for (const NamedPlan& named : plans) out += "," + field(named.name);
    out += "\nhardware";
    for (const NamedPlan& named : plans) out += "," + field(named.plan->report.hardware);
    for (const Figure& figure : figures_of(plans)) {
        out += "\n" + field(figure.key);
        for (const NamedPlan& named : plans) out += fmt::format(",{}", figure.value(named.plan->report));
    }
    return out + "\n";
}

} // namespace

const FormatDef& format_csv() {
    static const FormatDef def = {
        .name = "csv", .doc = "the figures of `diff`, for a spreadsheet or a plot", .only_figures = true, .diff = diff};
    return def;
}

} // namespace shard
