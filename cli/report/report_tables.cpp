#include "cli/report/report_tables.h"

#include "cli/report/nouns.h"
#include "cli/summary/verdict.h"
#include "plans/base/units.h"
#include "plans/plan/source_ref.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include <set>

namespace shard {

namespace {

constexpr int bar_width = 24;

Cell axes_cell(const Plan& plan, const CollectiveReport& collective, const Paint& paint) {
    Cell axes(axes_text(plan.mesh, collective.axes));
    axes.painted = paint_axes(paint, plan.mesh, axes.text);
    return axes;
}

// Where collectives cross several links the table says which each crosses.
bool use_several_links(const std::vector<CollectiveReport>& collectives) {
    std::set<std::string> links;
    for (const CollectiveReport& collective : collectives)
        for (const LinkUse& use : collective.links) links.insert(use.link);
    return links.size() > 1;
}

std::string phase_text(const CollectiveRows& collectives, const CollectiveRow& row) {
    return collectives.has_phases ? std::string(name(row.phase)) : std::string();
}

std::string exposed_text(const CollectiveRows& collectives, const CollectiveRow& row) {
    return collectives.is_partly_hidden ? human_seconds(row.exposed_seconds) : std::string();
}

std::string times_text(i64 count) { return count == 1 ? "" : fmt::format("{} x", grouped(count)); }

} // namespace

Table shardings_table(const Plan& plan, const ShardingRows& shardings, const Paint& paint) {
    Table table({{"role"},
                 {.header = "name", .wraps = true},
                 {.header = "type", .wraps = true},
                 {"sharding"},
                 {.header = "on a device", .spared = 1},
                 {"bytes", Align::right},
                 {.header = "source", .spared = 2}});
    std::string last_role;
    for (const ShardingRow& row : shardings.rows) {
        const TensorReport& tensor = *row.first;
        const std::string role(name(tensor.role));
        const std::string shown = role == last_role ? "" : role;
        last_role = role;
        if (row.is_as_params) {
            table.add(
                {shown, row.name, fmt::format("{}, as the param", name(tensor.dtype)), "", "", human_bytes(row.bytes)});
            continue;
        }
        const std::string bytes = human_bytes(tensor.bytes_per_device);
        table.add({shown, row.name, type_text(tensor.dtype, tensor.shape, tensor.logical),
                   sharding_cell(paint, plan.mesh, tensor.sharding), shape_text(tensor.local_shape),
                   row.count > 1 ? fmt::format("{} x {}", row.count, bytes) : bytes, Cell(row.source, "2")});
    }
    return table;
}

Table collectives_table(const Plan& plan, const CollectiveRows& collectives, const Paint& paint) {
    Table table({{"phase"},
                 {"collective"},
                 {"over"},
                 {.header = "links", .spared = 1},
                 {.header = "of", .wraps = true, .noted = true},
                 {"dim", Align::right, 1},
                 {"times", Align::right},
                 {"sent by a device", Align::right},
                 {"time", Align::right},
                 {"exposed", Align::right},
                 {.header = "source", .spared = 2, .noted = true}});
    const bool with_links = use_several_links(plan.report.collectives);
    for (const CollectiveRow& row : collectives.rows) {
        const bool has_dim = row.is_one_dim && row.first->dim >= 0;
        table.add({phase_text(collectives, row), Cell(row.first->kind, "1"), axes_cell(plan, *row.first, paint),
                   with_links ? links_text(*row.first) : "", row.tensors, has_dim ? std::to_string(row.first->dim) : "",
                   times_text(row.count), human_bytes(row.bytes), human_seconds(row.seconds),
                   exposed_text(collectives, row), Cell(row.source, "2")});
        if (!row.cause.empty()) table.add_note(row.cause);
        if (!row.remedy.empty()) table.add_note("remedy: " + row.remedy, "32");
    }
    return table;
}

Table sums_table(const Plan& plan, const CollectiveRows& collectives, const Paint& paint) {
    Table table({{"phase"},
                 {"collective"},
                 {"over"},
                 {"times", Align::right},
                 {"sent by a device", Align::right},
                 {"time", Align::right},
                 {"exposed", Align::right}});
    std::string last_phase;
    for (const CollectiveRow& row : collectives.sums) {
        const std::string phase = phase_text(collectives, row);
        table.add({phase == last_phase ? "" : phase, Cell(row.first->kind, "1"), axes_cell(plan, *row.first, paint),
                   times_text(row.count), human_bytes(row.bytes), human_seconds(row.seconds),
                   exposed_text(collectives, row)});
        last_phase = phase;
    }
    return table;
}

Table memory_table(const MemoryReport& memory) {
    Table table({{"memory per device"}, {"bytes", Align::right}, {"", Align::right}, {""}});
    for (const auto& [role, bytes] : memory_by_role(memory))
        table.add({std::string(role), human_bytes(bytes), "",
                   bar(static_cast<double>(bytes), static_cast<double>(memory.peak), bar_width)});
    table.add({Cell("peak", "1"), Cell(human_bytes(memory.peak), "1")});
    if (memory.capacity > 0) {
        const bool fits = memory.peak <= memory.capacity;
        const double peak = static_cast<double>(memory.peak), capacity = static_cast<double>(memory.capacity);
        table.add({"of the device's", human_bytes(memory.capacity), percent(peak, capacity),
                   Cell(bar(peak, capacity, bar_width) + (fits ? "" : " does not fit"), fits ? "32" : "1;31")});
    }
    if (memory.host_peak > 0) {
        table.add({"on the host", human_bytes(memory.host_peak)});
        if (memory.host_capacity > 0)
            table.add({"of a device's share", human_bytes(memory.host_capacity),
                       percent(static_cast<double>(memory.host_peak), static_cast<double>(memory.host_capacity))});
    }
    return table;
}

Table peak_table(const MemoryReport& memory) {
    Table table({{.header = "alive at the peak", .wraps = true},
                 {"bytes", Align::right},
                 {"", Align::right},
                 {""},
                 {.header = "source", .spared = 1}});
    i64 named = 0;
    for (const AtPeak& value : memory.largest) {
        table.add({value.name, human_bytes(value.bytes),
                   percent(static_cast<double>(value.bytes), static_cast<double>(memory.peak)), value.kind,
                   text(value.source)});
        named += value.bytes;
    }
    const i64 all = memory.params + memory.optimizer_state + memory.gradients + memory.activations +
                    memory.temporaries + memory.inputs;
    if (memory.others > 0)
        table.add({fmt::format("{} others", grouped(memory.others)), human_bytes(all - named),
                   percent(static_cast<double>(all - named), static_cast<double>(memory.peak))});
    return table;
}

Table time_table(const Report& report) {
    const TimeReport& time = report.time;
    Table table({{"time per step"}, {"", Align::right}, {"", Align::right}, {""}});
    const auto share = [&](double seconds) { return percent(seconds, time.step_seconds); };
    table.add({"compute", human_seconds(time.compute_seconds), share(time.compute_seconds),
               human_flops(report.flops_per_device) + " per device"});
    if (time.launch_seconds > 0)
        table.add({"launches of kernels", human_seconds(time.launch_seconds), share(time.launch_seconds),
                   "a part of compute"});
    if (time.communication_seconds > 0)
        table.add({"communication", human_seconds(time.communication_seconds), "",
                   is_partly_hidden(time.communication_seconds, time.exposed_communication_seconds)
                       ? "some of it while the device computes"
                       : "none of it while the device computes"});
    table.add({"exposed communication", human_seconds(time.exposed_communication_seconds),
               share(time.exposed_communication_seconds)});
    if (time.host_seconds > 0)
        table.add({"copies to and from the host", human_seconds(time.host_seconds), share(time.host_seconds)});
    table.add({Cell("step", "1"), Cell(human_seconds(time.step_seconds), "1")});
    if (report.peak_flops > 0 && time.step_seconds > 0) {
        const double rate = static_cast<double>(report.flops_per_device) / time.step_seconds;
        table.add({"of the device's peak", human_flops(std::llround(rate)) + "/s", percent(rate, report.peak_flops),
                   fmt::format("of {} in {}", human_flops(std::llround(report.peak_flops)) + "/s", report.peak_dtype)});
    }
    return table;
}

} // namespace shard
