// The strip at the top: four answers, each with a bar.
#include "cli/html/panel.h"

#include "cli/html/bar.h"
#include "cli/html/words.h"
#include "cli/summary/verdict.h"
#include "plans/base/units.h"
#include "plans/plan/report_totals.h"

#include <fmt/format.h>

namespace shard {

namespace {

void write_card(Markup& out, std::string_view label, std::string_view figure, std::string_view judged,
                std::string_view judged_as, std::string_view text, const std::vector<BarPart>& parts) {
    out.open("div", {{"class", "card"}}).leaf("h3", {}, label);
    out.open("p", {{"class", "figure"}}).text(figure);
    if (!judged.empty()) out.text(" ").leaf("span", {{"class", judged_as}}, judged);
    out.close();
    if (!parts.empty()) write_bar(out, parts);
    out.leaf("p", {{"class", "small"}}, text).close().line();
}

void memory_card(Markup& out, const MemoryReport& memory) {
    const double whole = static_cast<double>(std::max(memory.peak, memory.capacity));
    std::vector<BarPart> parts;
    std::string text;
    for (const auto& [role, bytes] : memory_by_role(memory)) {
        parts.push_back(
            {memory_class(role), static_cast<double>(bytes) / whole, fmt::format("{} {}", role, human_bytes(bytes))});
        text += fmt::format("{}{} {}", text.empty() ? "at the peak " : ", ", role, human_bytes(bytes));
    }
    if (memory.capacity <= 0)
        return write_card(out, "memory of a device", human_bytes(memory.peak), "", "", text, parts);
    const bool fits = memory.peak <= memory.capacity;
    const std::string share = percent(static_cast<double>(memory.peak), static_cast<double>(memory.capacity));
    write_card(out, "memory of a device", human_bytes(memory.peak), fits ? "fits" : "does not fit",
               fits ? "good" : "bad", fmt::format("{} of {}; {}", share, human_bytes(memory.capacity), text), parts);
}

void time_cards(Markup& out, const Report& report) {
    const TimeReport& time = report.time;
    const double exposed = time.exposed_communication_seconds;
    const std::string bound = fmt::format("bound by {}", bound_by(time));
    write_card(
        out, "time of a step", human_seconds(time.step_seconds), bound, "plain",
        fmt::format("compute {} ({} on a device)", human_seconds(time.compute_seconds),
                    human_flops(report.flops_per_device)),
        {{"computes", time.compute_seconds / time.step_seconds, "compute " + human_seconds(time.compute_seconds)},
         {"waits", exposed / time.step_seconds, "waits " + human_seconds(exposed)}});
    const i64 count = collective_count(report);
    if (count == 0) return write_card(out, "exposed communication", "none", "", "", "no collectives", {});
    write_card(out, "exposed communication", human_seconds(exposed), "", "",
               fmt::format("{} of the step, of {} in all; {}, a device sends {}", percent(exposed, time.step_seconds),
                           human_seconds(time.communication_seconds), counted(count, "collective"),
                           human_bytes(wire_bytes_per_device(report))),
               {{"waits", exposed / time.communication_seconds, "exposed " + human_seconds(exposed)}});
}

void write_findings(Markup& out, const Plan& plan) {
    if (plan.report.diagnostics.empty()) return;
    out.open("ul", {{"class", "findings"}}).line();
    for (const Diagnostic& diagnostic : plan.report.diagnostics) {
        const bool is_bad = diagnostic.finding || diagnostic.severity == Severity::error;
        out.open("li").leaf("b", {{"class", is_bad ? "bad" : "warn"}}, diagnostic.code);
        out.text(" " + diagnostic.message + " ");
        if (!diagnostic.labels.empty()) {
            const Span& span = diagnostic.labels.front().span;
            if (span.known() && span.file < static_cast<int>(plan.sources.size())) {
                const SourceRef place{plan.sources[span.file].name, span.line, span.column};
                write_place(out, plan, place, fmt::format("{}:{}", place.file, place.line));
            }
        }
        if (!diagnostic.help.empty()) out.leaf("div", {{"class", "small"}}, diagnostic.help);
        out.close().line();
    }
    out.close().line();
}

void draw(Markup& out, const PageData& data) {
    const Report& report = data.plan.report;
    out.open("div", {{"class", "cards"}}).line();
    memory_card(out, report.memory);
    time_cards(out, report);
    if (report.memory.host_peak > 0)
        write_card(out, "memory on the host", human_bytes(report.memory.host_peak), "", "",
                   "of a device; copies " + copies_text(report.time), {});
    const ParamsTotal params = params_total(report);
    if (params.count > 0)
        write_card(out, "params", grouped(params.count), "", "",
                   fmt::format("{}; {} on a device", human_bytes(params.bytes), human_bytes(params.on_device)), {});
    out.close().line();
    write_findings(out, data.plan);
}

} // namespace

const PanelDef& panel_verdict_strip() {
    static const PanelDef def = {.id = "verdict", .draw = draw};
    return def;
}

} // namespace shard
