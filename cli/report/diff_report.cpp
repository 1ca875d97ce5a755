#include "cli/report/diff_report.h"

#include "cli/report/nouns.h"
#include "cli/report/report.h"
#include "cli/terminal/wrap.h"
#include "planner/read/hardware.h"
#include "plans/base/units.h"
#include "plans/base/version.h"
#include "plans/file/plan_json_nouns.h"
#include "plans/json/json_text.h"
#include "plans/plan/report_totals.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

namespace shard {

namespace {

std::string bytes_text(double value) { return human_bytes(static_cast<i64>(value)); }
std::string count_text(double value) { return grouped(static_cast<i64>(value)); }

} // namespace

std::vector<Figure> figures_of(const std::vector<NamedPlan>& plans) {
    std::vector<Figure> figures = {
        {"step_seconds", "step time", [](const Report& r) { return r.time.step_seconds; }, human_seconds},
        {"compute_seconds", "  compute", [](const Report& r) { return r.time.compute_seconds; }, human_seconds},
        {"communication_seconds", "  communication", [](const Report& r) { return r.time.communication_seconds; },
         human_seconds},
        {"exposed_communication_seconds", "  exposed",
         [](const Report& r) { return r.time.exposed_communication_seconds; }, human_seconds},
        {"peak_bytes", "peak memory", [](const Report& r) { return static_cast<double>(r.memory.peak); }, bytes_text},
        {"params_bytes", "  params", [](const Report& r) { return static_cast<double>(r.memory.params); }, bytes_text},
        {"wire_bytes_per_device", "sent by a device",
         [](const Report& r) { return static_cast<double>(wire_bytes_per_device(r)); }, bytes_text},
        {"wire_bytes_total", "sent, all together",
         [](const Report& r) { return static_cast<double>(wire_bytes_total(r)); }, bytes_text},
        {"collectives", "collectives", [](const Report& r) { return static_cast<double>(collective_count(r)); },
         count_text},
    };
    const auto uses_host = [](const NamedPlan& named) { return named.plan->report.memory.host_peak > 0; };
    if (std::any_of(plans.begin(), plans.end(), uses_host)) {
        figures.push_back({"host_peak_bytes", "memory on the host",
                           [](const Report& r) { return static_cast<double>(r.memory.host_peak); }, bytes_text});
        figures.push_back(
            {"host_seconds", "  copies", [](const Report& r) { return r.time.host_seconds; }, human_seconds});
    }
    std::vector<std::string> kinds;
    for (const NamedPlan& named : plans)
        for (const CollectiveReport& collective : named.plan->report.collectives)
            if (std::find(kinds.begin(), kinds.end(), collective.kind) == kinds.end()) kinds.push_back(collective.kind);
    std::sort(kinds.begin(), kinds.end());
    for (const std::string& kind : kinds)
        figures.push_back({kind, "  " + kind,
                           [kind](const Report& r) {
                               i64 count = 0;
                               for (const CollectiveReport& collective : r.collectives)
                                   if (collective.kind == kind) count += collective.count;
                               return static_cast<double>(count);
                           },
                           count_text});
    return figures;
}

namespace {

std::vector<Column> columns_of(const std::vector<NamedPlan>& plans) {
    std::vector<Column> columns = {{""}};
    for (size_t i = 0; i < plans.size(); ++i) {
        const int group = static_cast<int>(i) + 1;
        columns.push_back({.header = plans[i].name, .align = Align::right, .group = group});
        columns.push_back({.header = "", .group = group});
    }
    return columns;
}

Table figures_table(const std::vector<NamedPlan>& plans) {
    Table table(columns_of(plans));
    for (const Figure& figure : figures_of(plans)) {
        std::vector<double> values;
        for (const NamedPlan& named : plans) values.push_back(figure.value(named.plan->report));
        double best = *std::min_element(values.begin(), values.end());
        bool all_equal = std::count(values.begin(), values.end(), best) == static_cast<std::ptrdiff_t>(values.size());
        std::vector<Cell> cells = {figure.label};
        for (double value : values) {
            bool is_best = value == best && !all_equal;
            cells.emplace_back(figure.text(value), is_best ? "1;32" : "");
            cells.emplace_back((is_best ? "* " : "  ") + change_text(value, values.front()), is_best ? "1;32" : "2");
            if (cells.back().text == "  ") cells.back().text.clear();
        }
        table.add(cells);
    }
    return table;
}

using TensorsByName = std::map<std::pair<std::string_view, Role>, const TensorReport*>;

TensorsByName by_name(const Report& report) {
    TensorsByName tensors;
    for (const TensorReport& tensor : report.tensors) tensors.try_emplace({tensor.name, tensor.role}, &tensor);
    return tensors;
}

constexpr std::string_view absent = "absent";

// What a plan has a tensor as.
std::string sharding_in(const Plan& plan, const TensorsByName& tensors, const std::pair<std::string_view, Role>& key) {
    const TensorsByName::const_iterator found = tensors.find(key);
    return found == tensors.end() ? std::string(absent) : sharding_text(plan.mesh, found->second->sharding);
}

// Inputs, params and outputs; intermediate values too if asked for, else `left_out` counts them.
Table shardings_table(const std::vector<NamedPlan>& plans, const Paint& paint, bool all_values, i64& left_out) {
    std::vector<Column> columns = {{"role"}, {.header = "tensor", .wraps = true}};
    for (size_t i = 0; i < plans.size(); ++i)
        columns.push_back({.header = plans[i].name, .group = static_cast<int>(i) + 1});
    Table table(columns);
    std::vector<ShardingChange> changes;
    for (ShardingChange& change : differing_shardings(plans)) {
        if (all_values || change.role != name(Role::value))
            changes.push_back(std::move(change));
        else
            ++left_out;
    }
    std::string last_role;
    for (const ShardingChange& change : alike_changes(changes, all_values ? Detail::each : Detail::screen)) {
        std::vector<Cell> cells = {change.role == last_role ? "" : change.role, change.name};
        last_role = change.role;
        for (size_t i = 0; i < plans.size(); ++i) {
            cells.emplace_back(change.shardings[i]);
            cells.back().painted = paint_axes(paint, plans[i].plan->mesh, cells.back().text);
        }
        table.add(cells);
    }
    return table;
}

std::string left_out_text(i64 count) {
    return count == 0 ? std::string()
                      : fmt::format("and {} (--all shows them)\n", counted(count, "intermediate value"));
}

// What a file beside the layout says; nothing of a profile that is built in, which its name stands for.
std::optional<Hardware> hardware_file(const Plan& plan) {
    constexpr size_t after_model_and_layout = 2;
    for (size_t i = after_model_and_layout; i < plan.sources.size(); ++i) {
        Sources sources;
        sources.add(plan.sources[i].name, plan.sources[i].text);
        Diagnostics known; // to the plan, or of a file of modules
        if (std::optional<Hardware> hardware = load_hardware(plan.sources[i].name, {}, sources, known)) return hardware;
    }
    return std::nullopt;
}

bool same_hardware(const std::vector<NamedPlan>& plans) {
    const Plan& first = *plans.front().plan;
    const std::optional<Hardware> hardware = hardware_file(first);
    return std::all_of(plans.begin(), plans.end(), [&](const NamedPlan& named) {
        return named.plan->report.hardware == first.report.hardware && hardware_file(*named.plan) == hardware;
    });
}

constexpr std::string_view hardware_warning =
    "the plans are for different hardware: their times compare machines, not layouts";

// Mesh and hardware in the title if all have the same, else one line per plan.
std::string heading(const std::vector<NamedPlan>& plans, const Paint& paint, std::string_view indent) {
    const Plan& first = *plans.front().plan;
    auto same = [&](const NamedPlan& named) { return named.plan->mesh == first.mesh; };
    std::string out = fmt::format("{}, {}", paint.strong(first.model), first.mode);
    if (std::all_of(plans.begin(), plans.end(), same) && same_hardware(plans))
        return fmt::format("{}, on {}{}\n\n", out, paint_axes(paint, first.mesh, mesh_text(first.mesh)),
                           first.report.hardware.empty() ? "" : ", " + first.report.hardware);
    Table table({{""}, {""}, {""}});
    for (const NamedPlan& named : plans) {
        Cell mesh(mesh_text(named.plan->mesh));
        mesh.painted = paint_axes(paint, named.plan->mesh, mesh.text);
        table.add({named.name, mesh, named.plan->report.hardware});
    }
    out += "\n\n" + table.render(paint, indent) + "\n";
    return same_hardware(plans)
               ? out
               : out + fmt::format("{}: {}\n\n", paint("1;33", "warning"),
                                   hanging(hardware_warning, paint.width, std::string_view("warning: ").size()));
}

constexpr std::string_view legend = "* best of the row; percentages are against the first";

} // namespace

std::string change_text(double value, double base) {
    if (value == base) return "";
    if (base == 0) return "new";
    double change = 100 * (value - base) / base;
    if (change > 900) return fmt::format("x{:.3g}", value / base);
    return std::fabs(change) < 0.05 ? "" : fmt::format("{:+.1f}%", change);
}

std::vector<ShardingChange> differing_shardings(const std::vector<NamedPlan>& plans) {
    std::vector<ShardingChange> changes;
    std::vector<TensorsByName> tensors;
    for (const NamedPlan& named : plans) tensors.push_back(by_name(named.plan->report));
    for (size_t p = 0; p < plans.size(); ++p) {
        for (const TensorReport& tensor : plans[p].plan->report.tensors) {
            const std::pair<std::string_view, Role> key{tensor.name, tensor.role};
            const auto has_it = [&](const TensorsByName& earlier) { return earlier.contains(key); };
            if (std::any_of(tensors.begin(), tensors.begin() + static_cast<std::ptrdiff_t>(p), has_it)) continue;
            ShardingChange change{tensor.name, std::string(name(tensor.role)), {}, {}, tensor.logical};
            for (size_t each = 0; each < plans.size(); ++each)
                change.shardings.push_back(sharding_in(*plans[each].plan, tensors[each], key));
            const auto differs = [&](const std::string& text) { return text != change.shardings.front(); };
            if (std::any_of(change.shardings.begin(), change.shardings.end(), differs))
                changes.push_back(std::move(change));
        }
    }
    return changes;
}

std::string_view comparison_warning(const std::vector<NamedPlan>& plans) {
    return same_hardware(plans) ? std::string_view() : hardware_warning;
}

bool plans_differ(const std::vector<NamedPlan>& plans) {
    for (const Figure& figure : figures_of(plans))
        for (const NamedPlan& named : plans)
            if (figure.value(named.plan->report) != figure.value(plans.front().plan->report)) return true;
    return !differing_shardings(plans).empty();
}

std::string diff_text(const std::vector<NamedPlan>& plans, const Paint& paint, bool all_values) {
    std::string out = heading(plans, paint, "  ");
    out += figures_table(plans).render(paint, "  ");
    out += fmt::format("  {}\n", paint.faint(legend));
    i64 left_out = 0;
    Table shardings = shardings_table(plans, paint, all_values, left_out);
    if (shardings.empty() && left_out == 0) return out + "\nAll tensors have the same shardings.\n";
    out += "\n" + paint.strong("Shardings that differ") + "\n" + shardings.render(paint, "  ");
    return left_out == 0 ? out : out + "  " + left_out_text(left_out);
}

std::string diff_markdown(const std::vector<NamedPlan>& plans, bool all_values) {
    std::string out = "### " + heading(plans, {}, "    ") + figures_table(plans).render_markdown() +
                      fmt::format("\n\\{}\n\n", legend);
    i64 left_out = 0;
    Table shardings = shardings_table(plans, {}, all_values, left_out);
    if (shardings.empty() && left_out == 0) return out + "All tensors have the same shardings.\n";
    out += "#### Shardings that differ\n\n" + shardings.render_markdown();
    return left_out == 0 ? out : out + "\n" + left_out_text(left_out);
}

std::string diff_json(const std::vector<NamedPlan>& plans) {
    std::vector<std::string> items, tensors;
    std::vector<Figure> figures = figures_of(plans);
    for (const NamedPlan& named : plans) {
        JsonObject object;
        object.string("name", named.name).string("model", named.plan->model).raw("mesh", print_mesh(named.plan->mesh));
        object.string("hardware", named.plan->report.hardware);
        for (const Figure& figure : figures) object.number(figure.key, figure.value(named.plan->report));
        items.push_back(object.text());
    }
    for (const ShardingChange& change : differing_shardings(plans)) {
        std::vector<std::string> shardings;
        for (const std::string& text : change.shardings)
            shardings.push_back(text == absent ? "null" : json_string(text));
        tensors.push_back(JsonObject()
                              .string("name", change.name)
                              .string("role", change.role)
                              .raw("shardings", json_array(shardings))
                              .text());
    }
    JsonObject object;
    object.integer("format_version", 1).string("tool", tool_text()).flag("differ", plans_differ(plans));
    object.raw("plans", json_lines(items, 2)).raw("tensors", json_lines(tensors, 2));
    if (!same_hardware(plans)) object.raw("warnings", json_array(std::vector{json_string(hardware_warning)}));
    return object.text() + "\n";
}

} // namespace shard
