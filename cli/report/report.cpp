#include "cli/report/report.h"

#include "cli/report/nouns.h"
#include "cli/report/report_tables.h"
#include "plans/base/units.h"
#include "plans/plan/report_totals.h"

#include <algorithm>
#include <fmt/format.h>

namespace shard {

namespace {

constexpr int bar_width = 24;

std::string of_capacity(const MemoryReport& memory) {
    return memory.capacity > 0 ? " of " + human_bytes(memory.capacity) : std::string();
}

std::string title(const Plan& plan) {
    std::string hardware = plan.report.hardware.empty() ? "" : ", " + plan.report.hardware;
    return fmt::format("{}, {}, on {}{}", plan.model, plan.mode, mesh_text(plan.mesh), hardware);
}

Table memory_table(const Report& report) {
    const MemoryReport& memory = report.memory;
    const std::pair<const char*, i64> parts[] = {{"inputs", memory.inputs},
                                                 {"params", memory.params},
                                                 {"optimizer state", memory.optimizer_state},
                                                 {"gradients", memory.gradients},
                                                 {"activations", memory.activations},
                                                 {"temporaries", memory.temporaries}};
    i64 largest = memory.peak;
    for (const std::pair<const char*, i64>& part : parts) largest = std::max(largest, part.second);
    Table table({{"memory per device"}, {"bytes", Align::right}, {"", Align::right}, {""}});
    for (const std::pair<const char*, i64>& part : parts)
        if (part.second > 0)
            table.add({part.first, human_bytes(part.second), "",
                       bar(static_cast<double>(part.second), static_cast<double>(largest), bar_width)});
    table.add({Cell("peak", "1"), Cell(human_bytes(memory.peak), "1")});
    if (memory.capacity > 0) {
        bool fits = memory.peak <= memory.capacity;
        double peak = static_cast<double>(memory.peak), capacity = static_cast<double>(memory.capacity);
        table.add({"of the device's", human_bytes(memory.capacity), percent(peak, capacity),
                   Cell(bar(peak, capacity, bar_width) + (fits ? "" : " does not fit"), fits ? "32" : "1;31")});
    }
    return table;
}

Table time_table(const Report& report) {
    const TimeReport& time = report.time;
    Table table({{"time per step"}, {"", Align::right}, {""}});
    std::string hidden =
        time.exposed_communication_seconds < time.communication_seconds * (1 - 1e-9) // sums of the same terms
            ? fmt::format(", {} of it not hidden", human_seconds(time.exposed_communication_seconds))
            : std::string();
    table.add({"compute", human_seconds(time.compute_seconds), human_flops(report.flops_per_device) + " per device"});
    table.add({"communication", human_seconds(time.communication_seconds),
               time.communication_seconds > 0
                   ? percent(time.exposed_communication_seconds, time.step_seconds) + " of the step" + hidden
                   : ""});
    table.add({Cell("step", "1"), Cell(human_seconds(time.step_seconds), "1")});
    return table;
}

std::string collectives_heading(const Report& report) {
    i64 count = collective_count(report);
    if (count == 0) return "No collectives";
    return fmt::format("{}: a device sends {}, all together {} B", counted(count, "collective"),
                       exact_bytes(wire_bytes_per_device(report)), grouped(wire_bytes_total(report)));
}

Table findings_table(const Report& report) {
    Table table({{"code"}, {"finding"}});
    for (const Diagnostic& diagnostic : report.diagnostics) {
        std::string_view color = diagnostic.finding || diagnostic.severity == Severity::error ? "1;31" : "1;33";
        table.add({Cell(diagnostic.code, color), diagnostic.message});
    }
    return table;
}

} // namespace

std::string summary_line(const Plan& plan) {
    const Report& report = plan.report;
    i64 count = collective_count(report);
    std::string communication = count == 0 ? "no collectives"
                                           : fmt::format("{}, {} sent per device", counted(count, "collective"),
                                                         human_bytes(wire_bytes_per_device(report)));
    return fmt::format("{}; peak {}{}; step {}", communication, human_bytes(report.memory.peak),
                       of_capacity(report.memory), human_seconds(report.time.step_seconds));
}

std::string report_text(const Plan& plan, const ReportOptions& options, const Paint& paint) {
    const Report& report = plan.report;
    std::string out =
        paint.on ? paint.strong(plan.model) + paint_axes(paint, plan.mesh, title(plan).substr(plan.model.size()))
                 : title(plan);
    out += "\n\n" + paint.strong("Shardings") + "\n" + shardings_table(plan, options, paint).render(paint, "  ");
    out += "\n" + paint.strong(collectives_heading(report)) + "\n";
    out += collectives_table(plan, options, paint, report.collectives).render(paint, "  ");
    out += "\n" + memory_table(report).render(paint, "  ");
    out += "\n" + time_table(report).render(paint, "  ");
    return out;
}

std::string report_markdown(const Plan& plan, const ReportOptions& options) {
    const Report& report = plan.report;
    std::string out = fmt::format("### {}\n\n{}\n\n", title(plan), summary_line(plan));
    out += "#### Shardings\n\n" + shardings_table(plan, options, {}).render_markdown();
    out += fmt::format("\n#### {}\n\n", collectives_heading(report));
    Table collectives = collectives_table(plan, options, {}, report.collectives);
    if (!collectives.empty()) out += collectives.render_markdown();
    out += "\n#### Memory and time\n\n" + memory_table(report).render_markdown() + "\n" +
           time_table(report).render_markdown();
    Table findings = findings_table(report);
    if (!findings.empty()) out += "\n#### Findings and warnings\n\n" + findings.render_markdown();
    return out;
}

} // namespace shard
