// The tables that the text and the Markdown report share.
#include "cli/report/report_tables.h"

#include "cli/report/nouns.h"
#include "cli/report/report.h"
#include "cli/terminal/fold.h"
#include "plans/base/units.h"
#include "plans/plan/source_ref.h"

#include <fmt/format.h>

namespace shard {

namespace {

// Rows as they are, or folded where only the index of a repeated layer differs.
std::vector<FoldedRow> rows_of(const std::vector<std::vector<std::string>>& rows, bool fold) {
    if (fold) return fold_rows(rows);
    std::vector<FoldedRow> result;
    for (size_t i = 0; i < rows.size(); ++i) result.push_back({{static_cast<int>(i)}, rows[i]});
    return result;
}

std::string times(size_t members, const std::string& text) {
    return members > 1 ? fmt::format("{} x {}", members, text) : text;
}

} // namespace

Table shardings_table(const Plan& plan, const ReportOptions& options, const Paint& paint) {
    std::vector<const TensorReport*> tensors;
    std::vector<std::vector<std::string>> rows;
    for (const TensorReport& tensor : plan.report.tensors) {
        if (tensor.role == Role::value && !options.all_values) continue;
        tensors.push_back(&tensor);
        rows.push_back(
            {tensor.name, std::string(name(tensor.role)), type_text(tensor.dtype, tensor.shape, tensor.logical),
             sharding_text(plan.mesh, tensor.sharding), shape_text(tensor.local_shape), text(tensor.source)});
    }
    Table table({{"role"}, {"name"}, {"type"}, {"sharding"}, {"on a device"}, {"bytes", Align::right}, {"source"}});
    std::string last_role;
    for (const FoldedRow& row : rows_of(rows, !options.all_values)) {
        const TensorReport& tensor = *tensors[row.members.front()];
        const std::string& role = row.fields[1];
        table.add({role == last_role ? "" : role, row.fields[0], row.fields[2],
                   sharding_cell(paint, plan.mesh, tensor.sharding), row.fields[4],
                   times(row.members.size(), human_bytes(tensor.bytes_per_device)), Cell(row.fields[5], "2")});
        last_role = role;
    }
    return table;
}

Table collectives_table(const Plan& plan, const ReportOptions& options, const Paint& paint,
                        const std::vector<CollectiveReport>& collectives) {
    std::vector<std::vector<std::string>> rows;
    for (const CollectiveReport& c : collectives)
        rows.push_back({c.tensor, c.op, c.kind, axes_text(plan.mesh, c.axes), c.reduce, std::to_string(c.dim),
                        std::to_string(c.count), std::to_string(c.wire_bytes_per_device), human_seconds(c.seconds),
                        c.cause, c.remedy, text(c.source)});
    Table table({{"collective"},
                 {"over"},
                 {"of"},
                 {"dim", Align::right},
                 {"times", Align::right},
                 {"sent by a device", Align::right},
                 {"time", Align::right},
                 {"source"}});
    for (const FoldedRow& row : rows_of(rows, !options.all_values)) {
        i64 count = 0, bytes = 0;
        double seconds = 0;
        for (int member : row.members) {
            const CollectiveReport& c = collectives[member];
            count += c.count;
            bytes += c.wire_bytes_per_device;
            seconds += c.seconds;
        }
        const CollectiveReport& first = collectives[row.members.front()];
        Cell axes(row.fields[3]);
        axes.painted = paint_axes(paint, plan.mesh, axes.text);
        table.add({Cell(first.kind, "1"), axes, row.fields[0], first.dim < 0 ? "" : std::to_string(first.dim),
                   count == 1 ? "" : fmt::format("{} x", count), human_bytes(bytes), human_seconds(seconds),
                   Cell(row.fields[11], "2")});
        if (!row.fields[9].empty()) table.add_note(row.fields[9]);
        if (!row.fields[10].empty()) table.add_note("remedy: " + row.fields[10]);
    }
    return table;
}

} // namespace shard
