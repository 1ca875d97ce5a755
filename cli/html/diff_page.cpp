#include "cli/html/diff_page.h"

#include "cli/html/bar.h"
#include "cli/html/frame.h"
#include "cli/html/tiles.h"
#include "cli/html/words.h"
#include "cli/report/nouns.h"
#include "cli/summary/verdict.h"
#include "cli/terminal/fold.h"
#include "plans/base/saturating.h"
#include "plans/base/units.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace shard {

namespace {

using Plans = std::vector<NamedPlan>;

void begin_section(Markup& out, std::string_view id, std::string_view title, std::string_view about) {
    out.open("section", {{"id", id}}).leaf("h2", {}, title).leaf("p", {{"class", "about"}}, about).line();
}

void begin_table(Markup& out, const std::vector<std::string>& first, const Plans& plans, bool numbers) {
    out.open("div", {{"class", "scroll"}, {"tabindex", "0"}})
        .open("table", {{"class", numbers ? "" : "wraps"}})
        .open("thead")
        .open("tr");
    for (const std::string& column : first) out.leaf("th", {{"scope", "col"}}, column);
    for (const NamedPlan& named : plans) out.leaf("th", {{"scope", "col"}, {"class", numbers ? "n" : ""}}, named.name);
    out.close().close().line().open("tbody");
}

void end_table(Markup& out) { out.close().close().close().line(); }

template<class Value>
double largest(const Plans& plans, const Value& value) {
    double most = 0;
    for (const NamedPlan& named : plans) most = std::max(most, value(*named.plan));
    return most;
}

// The bars of all plans are on one scale.
void write_cards(Markup& out, const Plans& plans) {
    const double bytes = largest(plans, [](const Plan& plan) { return static_cast<double>(plan.report.memory.peak); });
    const double seconds = largest(plans, [](const Plan& plan) { return plan.report.time.step_seconds; });
    const double base = plans.front().plan->report.time.step_seconds;
    out.open("div", {{"class", "cards"}}).line();
    for (const NamedPlan& named : plans) {
        const Plan& plan = *named.plan;
        const TimeReport& time = plan.report.time;
        const MemoryReport& memory = plan.report.memory;
        out.open("div", {{"class", "card"}}).leaf("h3", {}, named.name);
        out.open("p", {{"class", "figure"}}).text(human_seconds(time.step_seconds));
        const std::string change = change_text(time.step_seconds, base);
        if (!change.empty()) out.text(" ").leaf("span", {{"class", time.step_seconds < base ? "good" : "bad"}}, change);
        out.close();
        const double exposed = time.exposed_communication_seconds;
        if (seconds > 0)
            write_bar(out,
                      {{"computes", time.compute_seconds / seconds, "compute " + human_seconds(time.compute_seconds)},
                       {"waits", exposed / seconds, "waits " + human_seconds(exposed)}});
        out.open("p", {{"class", "small"}});
        write_axes(out, plan.mesh, mesh_text(plan.mesh));
        out.text(plan.report.hardware.empty() ? "" : ", " + plan.report.hardware).close();
        out.open("p", {{"class", "small"}}).text(human_bytes(memory.peak) + " of memory");
        const bool fits = memory.peak <= memory.capacity;
        if (memory.capacity > 0)
            out.text(" ").leaf("b", {{"class", fits ? "good" : "bad"}}, fits ? "fits" : "does not fit");
        out.close();
        std::vector<BarPart> parts;
        for (const auto& [role, held] : memory_by_role(memory))
            parts.push_back({memory_class(role), bytes > 0 ? static_cast<double>(held) / bytes : 0,
                             fmt::format("{} {}", role, human_bytes(held))});
        write_bar(out, parts);
        out.close().line();
    }
    out.close().line();
}

void write_legend(Markup& out, const Plans& plans) {
    out.open("p", {{"class", "legend"}});
    const auto entry = [&out](std::string_view kind, std::string_view text) {
        out.open("span").leaf("i", {{"class", kind}}).text(text).close().text(" ");
    };
    entry("computes", "computes");
    entry("waits", "waits for collectives");
    std::vector<std::string_view> roles;
    for (const NamedPlan& named : plans)
        for (const auto& [role, bytes] : memory_by_role(named.plan->report.memory))
            if (std::find(roles.begin(), roles.end(), role) == roles.end()) roles.push_back(role);
    for (const std::string_view role : roles) entry(memory_class(role), role);
    out.close().line();
}

void write_figures(Markup& out, const Plans& plans) {
    begin_section(out, "figures", "Figures", "The best of a row is marked; percentages are against the first.");
    begin_table(out, {"figure"}, plans, true);
    for (const Figure& figure : figures_of(plans)) {
        std::vector<double> values;
        for (const NamedPlan& named : plans) values.push_back(figure.value(named.plan->report));
        const auto [least, most] = std::minmax_element(values.begin(), values.end());
        out.open("tr").leaf("td", {{"class", figure.label.starts_with(' ') ? "plain" : "strong"}}, figure.label);
        for (const double value : values) {
            const bool is_best = value == *least && *least != *most;
            out.open("td", {{"class", "n"}})
                .leaf("span", {{"class", is_best ? "good strong" : ""}}, figure.text(value));
            const std::string change = change_text(value, values.front());
            if (!change.empty()) out.leaf("div", {{"class", "plain"}}, change);
            out.close();
        }
        out.close().line();
    }
    end_table(out);
    out.close().line();
}

struct Sent {
    i64 count = 0, bytes = 0;
    double seconds = 0;
};

// By kind and axes, as text, since meshes may differ.
void write_collectives(Markup& out, const Plans& plans) {
    std::map<std::pair<std::string, std::string>, std::vector<Sent>> rows;
    for (size_t p = 0; p < plans.size(); ++p)
        for (const CollectiveReport& c : plans[p].plan->report.collectives) {
            std::vector<Sent>& row = rows[{c.kind, axes_text(plans[p].plan->mesh, c.axes)}];
            row.resize(plans.size());
            row[p].count = add_saturating(row[p].count, c.count);
            row[p].bytes = add_saturating(row[p].bytes, c.wire_bytes_per_device);
            row[p].seconds += c.seconds;
        }
    begin_section(out, "collectives", "Collectives",
                  "How often a step runs them, what a device sends, and how long they take.");
    if (rows.empty()) {
        out.leaf("p", {}, "Nothing moves between devices.").close().line();
        return;
    }
    begin_table(out, {"collective", "over"}, plans, true);
    for (const auto& [key, row] : rows) {
        out.open("tr").leaf("td", {{"class", "strong"}}, key.first).leaf("td", {}, key.second);
        for (const Sent& sent : row) {
            out.open("td", {{"class", "n"}});
            if (sent.count > 0) {
                out.text(fmt::format("{} x", grouped(sent.count)));
                out.leaf("div", {{"class", "plain"}},
                         fmt::format("{}, {}", human_bytes(sent.bytes), human_seconds(sent.seconds)));
            } else {
                out.leaf("span", {{"class", "plain"}}, "none");
            }
            out.close();
        }
        out.close().line();
    }
    end_table(out);
    out.close().line();
}

const TensorReport* find_tensor(const Plan& plan, const std::string& tensor_name, const std::string& role) {
    for (const TensorReport& tensor : plan.report.tensors)
        if (tensor.name == tensor_name && name(tensor.role) == role) return &tensor;
    return nullptr;
}

void write_shardings(Markup& out, const Plans& plans, bool all_values) {
    begin_section(out, "shardings", "Shardings that differ",
                  "An array as each plan cuts it; the solid tile is the first device's.");
    std::vector<ShardingChange> changes;
    i64 left_out = 0;
    for (ShardingChange& change : differing_shardings(plans)) {
        if (all_values || change.role != name(Role::value))
            changes.push_back(std::move(change));
        else
            ++left_out;
    }
    const std::vector<ShardingChange> rows = alike_changes(changes, all_values ? Detail::each : Detail::screen);
    if (rows.empty() && left_out == 0) out.leaf("p", {}, "All tensors have the same shardings.").line();
    if (!rows.empty()) begin_table(out, {"role", "array"}, plans, false);
    for (const ShardingChange& row : rows) {
        out.open("tr").leaf("td", {}, row.role);
        write_name(out, row.name, "name strong");
        for (size_t p = 0; p < plans.size(); ++p) {
            out.open("td", {{"class", "mono"}});
            const Plan& plan = *plans[p].plan;
            const TensorReport* tensor = row.first.empty() ? nullptr : find_tensor(plan, row.first, row.role);
            if (tensor != nullptr) {
                write_axes(out, plan.mesh, sharding_text(plan.mesh, tensor->sharding));
                draw_wrapping_tiles(out, plan.mesh, *tensor);
            } else {
                out.leaf("span", {{"class", "plain"}}, row.shardings[p]);
            }
            out.close();
        }
        out.close().line();
    }
    if (!rows.empty()) end_table(out);
    if (left_out > 0)
        out.leaf("p", {{"class", "about"}},
                 fmt::format("and {} (--all shows them)", counted(left_out, "intermediate value")));
    out.close().line();
}

void write_layouts(Markup& out, const Plans& plans) {
    begin_section(out, "layouts", "Layouts", "What each plan was made of, beside the model.");
    constexpr size_t layout = 1;
    for (const NamedPlan& named : plans) {
        if (named.plan->sources.size() <= layout) continue;
        const SourceText& source = named.plan->sources[layout];
        out.leaf("h3", {}, source.name).open("ol", {{"class", "code"}});
        std::string_view text = source.text;
        while (!text.empty()) {
            const size_t end = std::min(text.find('\n'), text.size());
            out.leaf("li", {}, text.substr(0, end)).line();
            text.remove_prefix(std::min(end + 1, text.size()));
        }
        out.close().line();
    }
    out.close().line();
}

} // namespace

std::string diff_html(const std::vector<NamedPlan>& plans, bool all_values) {
    const Plan& first = *plans.front().plan;
    return framed_page(fmt::format("{}, {}: layouts compared", first.model, first.mode), [&](Markup& out) {
        out.open("header").leaf("h1", {}, first.model);
        out.leaf("p", {}, fmt::format("{}, {} layouts side by side", first.mode, plans.size()));
        out.open("nav", {{"aria-label", "parts"}});
        for (const auto& [id, part] : {std::pair("figures", "Figures"),
                                       {"collectives", "Collectives"},
                                       {"shardings", "Shardings"},
                                       {"layouts", "Layouts"}})
            out.leaf("a", {{"href", fmt::format("#{}", id)}}, part).text(" ");
        out.close().close().line().open("main").line().open("section", {{"id", "verdict"}});
        write_cards(out, plans);
        write_legend(out, plans);
        if (const std::string_view warning = comparison_warning(plans); !warning.empty())
            out.open("p").leaf("b", {{"class", "warn"}}, "warning").text(fmt::format(": {}", warning)).close();
        out.close().line();
        write_figures(out, plans);
        write_collectives(out, plans);
        write_shardings(out, plans, all_values);
        write_layouts(out, plans);
        out.close();
    });
}

} // namespace shard
