#include "cli/report/sweep_report.h"

#include "cli/diagnostics/figures.h"
#include "plans/base/units.h"
#include "plans/base/version.h"
#include "plans/json/json_text.h"
#include "plans/plan/report_totals.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace shard {

namespace {

std::string memory_text(const MemoryReport& memory) {
    if (memory.capacity <= 0) return human_bytes(memory.peak);
    return fmt::format("{} of {}", human_bytes(memory.peak), human_bytes(memory.capacity));
}

// Whole numbers of what there are many of.
std::string rate_text(double a_second) {
    return a_second < 1000 ? fmt::format("{:.3g}", a_second) : grouped(std::llround(a_second));
}

std::string fit_text(const std::string& name, const SweepRow& row) {
    const std::string value = fmt::format("{}={}", name, row.values.back());
    const std::string multiples = row.unit > 1 ? fmt::format(" of the multiples of {}", row.unit) : std::string();
    const auto needs = [&row](i64 peak) { // told apart from what fits
        const std::string text = human_bytes(peak);
        return row.plan && text == human_bytes(row.plan->report.memory.peak) ? exact_bytes(peak) : text;
    };
    if (row.next && row.next->peak > 0)
        return fmt::format("{} is the largest{} that fits: {}={} needs {}", value, multiples, name, row.next->value,
                           needs(row.next->peak));
    if (row.next)
        return fmt::format("{} is the largest{}: {}={} is {}", value, multiples, name, row.next->value,
                           row.next->verdict);
    if (row.has_largest)
        return fmt::format("{} fits, as all that is smaller does: memory does not grow with it", value);
    return fmt::format("nothing fits: {} is the least{}", value, multiples);
}

} // namespace

std::string sweep_text(const Sweep& sweep, const Paint& paint) {
    std::vector<Column> columns;
    for (const std::string& name : sweep.names) columns.push_back({name, sweep.align});
    for (std::string_view name : {"verdict", "peak memory", "step time", "sent by a device", "all together"})
        columns.push_back({std::string(name), name == "verdict" ? Align::left : Align::right});
    const auto has_rate = [](const SweepRow& row) { return row.a_second > 0; };
    if (std::any_of(sweep.rows.begin(), sweep.rows.end(), has_rate))
        columns.push_back({sweep.fitted + " a second", Align::right});
    Table table(columns);
    for (const SweepRow& row : sweep.rows) {
        std::vector<Cell> cells(row.values.begin(), row.values.end());
        cells.emplace_back(row.verdict, row.is_good ? "32" : "31");
        if (row.plan) {
            const Report& report = row.plan->report;
            cells.emplace_back(memory_text(report.memory));
            cells.emplace_back(human_seconds(report.time.step_seconds));
            cells.emplace_back(human_bytes(wire_bytes_per_device(report)));
            cells.emplace_back(human_bytes(wire_bytes_total(report)));
            if (has_rate(row)) cells.emplace_back(rate_text(row.a_second));
        }
        table.add(std::move(cells));
    }
    std::string text = table.render(paint, "");
    if (!sweep.fitted.empty() && sweep.rows.size() == 1 && sweep.rows[0].unit > 0)
        text += "\n" + fit_text(sweep.fitted, sweep.rows[0]) + "\n";
    return text;
}

std::string sweep_json(const Sweep& sweep, const Paint&) {
    std::vector<std::string> rows;
    for (const SweepRow& row : sweep.rows) {
        JsonObject set, object;
        for (size_t i = 0; i < row.values.size(); ++i) set.string(sweep.names[i], row.values[i]);
        object.raw("set", set.text()).string("verdict", row.verdict);
        if (row.plan) {
            const Report& report = row.plan->report;
            add_figures(object, figures_of(report));
            object.integer("wire_bytes_total", wire_bytes_total(report));
        }
        if (row.unit > 0) object.integer("unit", row.unit);
        if (row.a_second > 0) object.number("a_second", row.a_second);
        if (row.next) {
            JsonObject next;
            next.string("value", row.next->value).string("verdict", row.next->verdict);
            if (row.next->peak > 0) next.integer("peak_bytes", row.next->peak);
            object.raw("next", next.text());
        }
        rows.push_back(object.text());
    }
    return JsonObject()
               .integer("format_version", 1)
               .string("tool", tool_text())
               .raw("plans", json_lines(rows, 2))
               .text() +
           "\n";
}

} // namespace shard
