#include "cli/report/report.h"

#include "cli/report/nouns.h"
#include "cli/report/report_tables.h"
#include "cli/summary/verdict.h"
#include "cli/terminal/wrap.h"
#include "plans/base/units.h"
#include "plans/plan/report_totals.h"

#include <fmt/format.h>

namespace shard {

namespace {

std::string title(const Plan& plan) {
    std::string hardware = plan.report.hardware.empty() ? "" : ", " + plan.report.hardware;
    return fmt::format("{}, {}, on {}{}", plan.model, plan.mode, mesh_text(plan.mesh), hardware);
}

std::string collectives_heading(const PlanPayload& payload) {
    const Report& report = payload.plan->report;
    if (report.collectives.empty()) return "No collectives";
    return fmt::format("{}: a device sends {}, all together {} B", collectives_text(report, payload.when),
                       exact_bytes(wire_bytes_per_device(report)), grouped(wire_bytes_total(report)));
}

// "5 of 23, those that take longest; --only collectives shows all"
std::string largest_text(const CollectiveRows& collectives) {
    return fmt::format("the {} causes of {} that take longest (--only collectives shows all):", collectives.rows.size(),
                       collectives.rows.size() + collectives.left_out);
}
std::string left_out_text(const ShardingRows& shardings) {
    return fmt::format("and {} (--only shardings shows all)",
                       counted(static_cast<i64>(shardings.left_out), "more row"));
}

Table findings_table(const Report& report) {
    Table table({{"code"}, {"finding"}});
    for (const Diagnostic& diagnostic : report.diagnostics) {
        std::string_view color = diagnostic.finding || diagnostic.severity == Severity::error ? "1;31" : "1;33";
        table.add({Cell(diagnostic.code, color), diagnostic.message});
    }
    return table;
}

std::vector<ReportPart> parts_of(const ReportOptions& options) {
    if (options.only) return {*options.only};
    std::vector<ReportPart> parts = {ReportPart::verdict, ReportPart::collectives, ReportPart::shardings};
    if (options.all) parts.insert(parts.end(), {ReportPart::memory, ReportPart::time});
    return parts;
}

Detail detail_of(const ReportOptions& options) {
    return options.all ? Detail::each : options.only ? Detail::whole : Detail::screen;
}

std::string verdict_text(const Plan& plan, const Paint& paint) {
    size_t labels = 0;
    const std::vector<Fact> facts = verdict_of(plan);
    for (const Fact& fact : facts) labels = std::max(labels, fact.label.size());
    std::string out;
    for (const Fact& fact : facts) {
        const std::string before = fact.verdict.empty() ? "" : fact.verdict + ": ";
        const std::string text = hanging(before + fact.text, paint.width, labels + 4);
        out += fmt::format("  {:<{}}  {}{}\n", fact.label, labels,
                           paint(fact.is_good ? "1;32" : "1;31", text.substr(0, fact.verdict.size())),
                           text.substr(fact.verdict.size()));
    }
    return out;
}

bool shows_peak(const MemoryReport& memory, Detail detail) {
    return detail != Detail::screen && !memory.largest.empty();
}

std::string part_text(const PlanPayload& payload, ReportPart part, Detail detail) {
    const Plan& plan = *payload.plan;
    const Report& report = plan.report;
    const Paint& paint = payload.paint;
    switch (part) {
    case ReportPart::verdict:
        return verdict_text(plan, paint);
    case ReportPart::collectives: {
        const CollectiveRows collectives = collective_rows(report.collectives, payload.when, detail);
        std::string out = paint.strong(hanging(collectives_heading(payload), paint.width, 2)) + "\n";
        if (collectives.left_out > 0)
            out += sums_table(plan, collectives, paint).render(paint, "  ") + "\n  " + largest_text(collectives) + "\n";
        return out + collectives_table(plan, collectives, paint).render(paint, "  ");
    }
    case ReportPart::shardings: {
        const ShardingRows shardings = sharding_rows(plan, detail);
        const std::string table = shardings_table(plan, shardings, paint).render(paint, "  ");
        return paint.strong("Shardings") + "\n" + table +
               (shardings.left_out > 0 ? "  " + left_out_text(shardings) + "\n" : "");
    }
    case ReportPart::memory:
        return memory_table(report.memory).render(paint, "  ") +
               (shows_peak(report.memory, detail) ? "\n" + peak_table(report.memory).render(paint, "  ") : "");
    case ReportPart::time:
        return time_table(report).render(paint, "  ");
    }
    return {};
}

std::string part_markdown(const PlanPayload& payload, ReportPart part, Detail detail) {
    const Plan& plan = *payload.plan;
    const Report& report = plan.report;
    switch (part) {
    case ReportPart::verdict: {
        std::string out;
        for (const Fact& fact : verdict_of(plan))
            out += fmt::format("- {}: {}{}\n", fact.label,
                               fact.verdict.empty() ? "" : "**" + fact.verdict + "**: ", fact.text);
        return out;
    }
    case ReportPart::collectives: {
        const CollectiveRows collectives = collective_rows(report.collectives, payload.when, detail);
        std::string out = fmt::format("#### {}\n", collectives_heading(payload));
        if (collectives.left_out > 0)
            out += fmt::format("\n{}\n{}\n", sums_table(plan, collectives, {}).render_markdown(),
                               largest_text(collectives));
        const Table table = collectives_table(plan, collectives, {});
        return table.empty() ? out : out + "\n" + table.render_markdown();
    }
    case ReportPart::shardings: {
        const ShardingRows shardings = sharding_rows(plan, detail);
        return "#### Shardings\n\n" + shardings_table(plan, shardings, {}).render_markdown() +
               (shardings.left_out > 0 ? "\n" + left_out_text(shardings) + "\n" : "");
    }
    case ReportPart::memory:
        return "#### Memory\n\n" + memory_table(report.memory).render_markdown() +
               (shows_peak(report.memory, detail) ? "\n" + peak_table(report.memory).render_markdown() : "");
    case ReportPart::time:
        return "#### Time\n\n" + time_table(report).render_markdown();
    }
    return {};
}

} // namespace

std::string summary_line(const Plan& plan) {
    const Report& report = plan.report;
    i64 count = collective_count(report);
    std::string communication = count == 0 ? "no collectives"
                                           : fmt::format("{}, {} sent per device", counted(count, "collective"),
                                                         human_bytes(wire_bytes_per_device(report)));
    const MemoryReport& memory = report.memory;
    const std::string fits = memory.capacity == 0            ? ""
                             : memory.peak > memory.capacity ? ", does not fit " + human_bytes(memory.capacity)
                                                             : " of " + human_bytes(memory.capacity);
    return fmt::format("{}; peak {}{}; step {}", communication, human_bytes(memory.peak), fits,
                       human_seconds(report.time.step_seconds));
}

std::string report_text(const PlanPayload& payload) {
    const Plan& plan = *payload.plan;
    const std::string after = title(plan).substr(plan.model.size());
    std::string out = payload.paint.strong(plan.model) + paint_axes(payload.paint, plan.mesh, after) + "\n";
    for (ReportPart part : parts_of(payload.options))
        out += "\n" + part_text(payload, part, detail_of(payload.options));
    return out;
}

std::string report_markdown(const PlanPayload& payload) {
    std::string out = fmt::format("### {}\n", title(*payload.plan));
    for (ReportPart part : parts_of(payload.options))
        out += "\n" + part_markdown(payload, part, detail_of(payload.options));
    const Table findings = findings_table(payload.plan->report);
    return findings.empty() ? out : out + "\n#### Findings and warnings\n\n" + findings.render_markdown();
}

} // namespace shard
