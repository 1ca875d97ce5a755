#include "cli/report/sweep_report.h"

#include "cli/diagnostics/figures.h"
#include "plans/base/units.h"
#include "plans/base/version.h"
#include "plans/json/json_text.h"
#include "plans/plan/report_totals.h"

#include <fmt/format.h>

namespace shard {

namespace {

std::string memory_text(const MemoryReport& memory) {
    if (memory.capacity <= 0) return human_bytes(memory.peak);
    return fmt::format("{} of {}", human_bytes(memory.peak), human_bytes(memory.capacity));
}

} // namespace

std::string sweep_text(const Sweep& sweep, const Paint& paint) {
    std::vector<Column> columns;
    for (const std::string& name : sweep.names) columns.push_back({name, sweep.align});
    for (std::string_view name : {"verdict", "peak memory", "step time", "sent by a device", "all together"})
        columns.push_back({std::string(name), name == "verdict" ? Align::left : Align::right});
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
        }
        table.add(std::move(cells));
    }
    return table.render(paint, "");
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
