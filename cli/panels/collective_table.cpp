// Every collective with its price, why it is there, and what would make it go.
#include "cli/html/panel.h"

#include "cli/html/why.h"
#include "cli/html/words.h"
#include "cli/report/nouns.h"
#include "cli/summary/collective_rows.h"
#include "plans/base/units.h"
#include "plans/plan/report_totals.h"

#include <algorithm>
#include <fmt/format.h>

namespace shard {

namespace {

constexpr size_t most_rows = 250;     // what a page holds; the rest is in `plan --only collectives`
constexpr size_t most_explained = 24; // of those that take longest
constexpr int columns = 10;

void write_row(Markup& out, const PageData& data, const CollectiveRow& row, double longest, bool is_explained) {
    const Plan& plan = data.plan;
    const CollectiveReport& first = *row.first;
    out.open("tbody").open("tr").leaf("td", {}, name(row.phase)).leaf("td", {{"class", "strong"}}, first.kind);
    out.open("td");
    write_axes(out, plan.mesh, axes_text(plan.mesh, first.axes));
    out.close().leaf("td", {}, links_text(first));
    write_name(out, row.tensors);
    write_number(out, grouped(row.count), static_cast<double>(row.count));
    write_number(out, human_bytes(row.bytes), static_cast<double>(row.bytes));
    const std::string share = fmt::format("--w:{:.1f}%", longest > 0 ? 100 * row.seconds / longest : 0);
    out.leaf("td", {{"class", "n share"}, {"style", share}, {"data-v", fmt::format("{:.9g}", row.seconds)}},
             human_seconds(row.seconds));
    write_number(out, human_seconds(row.exposed_seconds), row.exposed_seconds);
    out.open("td");
    write_place(out, plan, first.source, row.source);
    out.close().close();
    out.open("tr", {{"class", "why"}}).open("td", {{"colspan", std::to_string(columns)}}).text(row.cause);
    if (!row.remedy.empty()) out.open("div", {{"class", "good"}}).text("remedy: " + row.remedy).close();
    if (is_explained)
        for (const TensorReport& tensor : data.compilation.plan->report.tensors) {
            if (tensor.name != first.tensor) continue;
            write_why(out, data, tensor);
            break;
        }
    out.close().close().close().line();
}

void draw(Markup& out, const PageData& data) {
    const Report& report = data.plan.report;
    if (report.collectives.empty()) {
        out.leaf("p", {}, "No collectives: no device sends anything.").line();
        return;
    }
    CollectiveRows collectives = collective_rows(report.collectives, data.when, Detail::whole);
    const size_t all = collectives.rows.size();
    std::stable_sort(collectives.rows.begin(), collectives.rows.end(),
                     [](const CollectiveRow& a, const CollectiveRow& b) { return a.seconds > b.seconds; });
    collectives.rows.resize(std::min(all, most_rows));
    std::string text = fmt::format("{}: a device sends {}, all together {}.", collectives_text(report, data.when),
                                   exact_bytes(wire_bytes_per_device(report)), human_bytes(wire_bytes_total(report)));
    if (all > most_rows)
        text += fmt::format(" The {} of {} causes that take longest; --only collectives shows all.", most_rows, all);
    out.leaf("p", {{"class", "small"}}, text);
    out.open("div", {{"class", "scroll"}, {"tabindex", "0"}}).open("table", {{"class", "sortable"}});
    write_head(out, {"phase", "collective", "over", "links", "of", "-times", "-sent", "-time", "-exposed", "source"});
    for (size_t i = 0; i < collectives.rows.size(); ++i)
        write_row(out, data, collectives.rows[i], collectives.rows.front().seconds, i < most_explained);
    out.close().close().line();
}

} // namespace

const PanelDef& panel_collective_table() {
    static const PanelDef def = {.id = "collectives",
                                 .title = "Collectives",
                                 .about = "What devices send each other, why, and what would be cheaper.",
                                 .order = 3,
                                 .draw = draw};
    return def;
}

} // namespace shard
