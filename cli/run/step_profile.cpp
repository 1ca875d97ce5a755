#include "cli/run/step_profile.h"

#include "cli/report/nouns.h"
#include "cli/terminal/table.h"
#include "plans/base/units.h"
#include "plans/json/json_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <utility>

namespace shard {

namespace {

constexpr size_t most_rows = 12;

// "block.*.attn" of "block.3.attn.q": the modules of a value, layers being alike.
std::string module_of(std::string_view value) {
    std::string module;
    for (size_t dot = value.find('.'); dot != std::string_view::npos; dot = value.find('.')) {
        const std::string_view part = value.substr(0, dot);
        const bool layer = part.find_first_not_of("0123456789") == std::string_view::npos;
        module += (module.empty() ? "" : ".") + std::string(layer ? "*" : part.substr(0, part.find('#')));
        value.remove_prefix(dot + 1);
    }
    return module;
}

// What a step of the plan is counted as.
struct Item {
    std::string kind = {}, module = {};
    int token = -1;       // of a collective, which is counted where it is waited for
    bool counted = false; // one more of its kind each time that it runs
    bool is_loop = false;
    i64 trips = 1; // of all loops that it is in
};

class Items {
public:
    explicit Items(const Plan& plan) : plan_(plan) { add(plan.steps, 1); }
    const std::vector<Item>& all() const { return items_; }

private:
    void add(const std::vector<Step>& steps, i64 trips) {
        for (const Step& step : steps) {
            trips_ = trips;
            std::visit([this](const auto& s) { add(s); }, step.variant_ref());
        }
    }
    void add(const Compute& compute) {
        items_.push_back({.kind = std::string(class_name(*compute.kernel)),
                          .module = module_of(plan_.buffers[compute.output].name),
                          .counted = true,
                          .trips = trips_});
    }
    void add(const Start& start) {
        const CollectiveReport& c = plan_.report.collectives.at(collectives_++); // in the order of the steps
        const std::string kind = fmt::format("{} over {}", c.kind, axes_text(plan_.mesh, c.axes));
        items_.push_back(
            {.kind = kind, .module = module_of(c.tensor), .token = start.token, .counted = true, .trips = trips_});
        by_token_[start.token] = items_.size() - 1;
    }
    void add(const Wait& wait) {
        Item item = items_[by_token_.at(wait.token)];
        item.counted = false;
        items_.push_back(std::move(item));
    }
    void add(const Loop& loop) {
        items_.push_back({.is_loop = true});
        add(loop.body, trips_ * loop.trips);
    }
    void add(const Release& release) {
        items_.push_back({.kind = "release", .module = module_of(plan_.buffers[release.buffer].name)});
    }

    const Plan& plan_;
    i64 trips_ = 1;
    std::vector<Item> items_;
    std::map<int, size_t> by_token_;
    size_t collectives_ = 0;
};

class Rows {
public:
    ProfileRow& of(const std::string& name) {
        ProfileRow& row = rows_[name];
        row.name = name;
        return row;
    }
    std::vector<ProfileRow> longest_first() const {
        std::vector<ProfileRow> rows;
        for (const auto& [name, row] : rows_)
            if (row.count > 0 || row.executed > 0 || row.predicted > 0) rows.push_back(row);
        std::stable_sort(rows.begin(), rows.end(), [](const ProfileRow& a, const ProfileRow& b) {
            return std::max(a.executed, a.predicted) > std::max(b.executed, b.predicted);
        });
        return rows;
    }

private:
    std::map<std::string, ProfileRow> rows_;
};

bool takes_turns(const StepProfile& profile) {
    return profile.at_once > 0 && std::cmp_less(profile.at_once, profile.devices);
}

// "block.*.attn" of "block.*.attn.softmax": two names deep is what fits a screen.
std::string shallow(const std::string& module) {
    size_t names = 0;
    for (size_t begin = 0; begin < module.size();) {
        const size_t dot = std::min(module.find('.', begin), module.size());
        if (module.substr(begin, dot - begin) != "*" && ++names == 2) return module.substr(0, dot);
        begin = dot + 1;
    }
    return module;
}

std::vector<ProfileRow> shallow_rows(const std::vector<ProfileRow>& modules) {
    Rows rows;
    for (const ProfileRow& module : modules) {
        ProfileRow& row = rows.of(shallow(module.name));
        row.count += module.count;
        row.executed += module.executed;
        row.predicted += module.predicted;
        row.flops += module.flops;
    }
    return rows.longest_first();
}

// The longest, and the others as one.
std::vector<ProfileRow> shown(const std::vector<ProfileRow>& rows) {
    if (rows.size() <= most_rows) return rows;
    std::vector<ProfileRow> out(rows.begin(), rows.begin() + most_rows - 1);
    ProfileRow others;
    others.name = fmt::format("{} others", rows.size() - out.size());
    for (size_t i = out.size(); i < rows.size(); ++i) {
        others.count += rows[i].count;
        others.executed += rows[i].executed;
        others.predicted += rows[i].predicted;
        others.flops += rows[i].flops;
    }
    out.push_back(std::move(others));
    return out;
}

std::string table_text(const StepProfile& profile, std::string_view heading, std::string_view nothing,
                       const std::vector<ProfileRow>& rows, const Paint& paint) {
    Table table({{std::string(heading), Align::left, 0, true},
                 {"count", Align::right, 2},
                 {"executed", Align::right},
                 {"share", Align::right},
                 {"FLOP/s", Align::right, 1},
                 {"predicted", Align::right},
                 {"share", Align::right}});
    const bool predicts = !profile.hardware.empty();
    const double turns = takes_turns(profile)
                             ? static_cast<double>(profile.devices) / static_cast<double>(profile.at_once)
                             : 1; // FLOP/s are those of a device that computes
    for (const ProfileRow& row : shown(rows)) {
        const bool rate = row.flops > 0 && row.executed > 0;
        table.add({Cell(row.name.empty() ? std::string(nothing) : row.name, "1"), grouped(row.count),
                   human_seconds(row.executed), percent(row.executed, profile.executed),
                   rate ? fmt::format("{:.3g} G", static_cast<double>(row.flops) * turns / row.executed * 1e-9) : "",
                   predicts ? human_seconds(row.predicted) : "",
                   predicts ? percent(row.predicted, profile.predicted) : ""});
    }
    return table.render(paint, "  ");
}

std::string rows_json(const StepProfile& profile, const std::vector<ProfileRow>& rows) {
    std::vector<std::string> out;
    for (const ProfileRow& row : rows) {
        JsonObject object;
        object.string("name", row.name).integer("count", row.count).number("executed_seconds", row.executed);
        if (!profile.hardware.empty()) object.number("predicted_seconds", row.predicted).integer("flops", row.flops);
        out.push_back(object.text());
    }
    return json_lines(out, 4);
}

} // namespace

StepProfile profile_of(const Plan& plan, const Course* course, std::span<const std::vector<RunSpan>> devices,
                       i64 at_once) {
    const std::vector<Item> items = Items(plan).all();
    Rows kinds, modules;
    const auto add = [&](const Item& item, const auto& change) {
        change(kinds.of(item.kind));
        change(modules.of(item.module));
    };
    StepProfile profile;
    profile.devices = devices.size();
    profile.at_once = at_once;
    double computed = 0, waited = 0; // by all devices
    for (const std::vector<RunSpan>& device : devices)
        for (const RunSpan& span : device) {
            const Item& item = items.at(span.step);
            profile.executed = std::max(profile.executed, span.end);
            if (!item.is_loop) (item.token >= 0 ? waited : computed) += span.end - span.begin;
        }
    double of_kernels = devices.empty() ? 0 : 1 / static_cast<double>(devices.size()), of_waits = of_kernels;
    if (takes_turns(profile)) { // a device that waits has no thread
        of_kernels = 1 / static_cast<double>(at_once);
        of_waits = waited > 0 ? std::max(0.0, profile.executed - computed * of_kernels) / waited : 0;
    }
    for (const std::vector<RunSpan>& device : devices)
        for (const RunSpan& span : device) {
            const Item& item = items[static_cast<size_t>(span.step)];
            if (item.is_loop) continue; // what is in it is there too
            add(item, [&](ProfileRow& row) {
                row.executed += (span.end - span.begin) * (item.token >= 0 ? of_waits : of_kernels);
                row.count += item.counted && &device == &devices.front() ? 1 : 0;
            });
        }
    if (course != nullptr) {
        profile.predicted = course->time.report.step_seconds;
        profile.hardware = plan.report.hardware;
        for (size_t step = 0; step < items.size(); ++step) {
            const Item& item = items[step];
            const StepSpan& span = course->time.spans.at(step);
            if (item.is_loop || !item.counted) continue;
            const std::map<int, double>::const_iterator wait = course->time.waits.find(item.token);
            const double waits = wait == course->time.waits.end() ? 0 : wait->second;
            add(item, [&](ProfileRow& row) {
                row.predicted += item.token >= 0 ? waits : (span.end - span.begin) * static_cast<double>(item.trips);
                row.flops += span.flops * item.trips;
            });
        }
    }
    profile.kinds = kinds.longest_first();
    profile.modules = modules.longest_first();
    return profile;
}

std::string profile_text(const StepProfile& profile, const Paint& paint) {
    const std::string predicted = profile.hardware.empty() ? ""
                                                           : fmt::format(", predicted for {}: {}", profile.hardware,
                                                                         human_seconds(profile.predicted));
    const std::string whose =
        takes_turns(profile)
            ? fmt::format("of the step, in which {} devices take turns on {} cores", profile.devices, profile.at_once)
            : fmt::format("of a device, the mean of {}", profile.devices);
    return fmt::format("the last step took {}{}\n{}:\n\n{}\n{}", human_seconds(profile.executed), predicted, whose,
                       table_text(profile, "what", "", profile.kinds, paint),
                       table_text(profile, "module", "(in none)", shallow_rows(profile.modules), paint));
}

std::string profile_json(const StepProfile& profile) {
    JsonObject object;
    object.number("executed_seconds", profile.executed);
    if (!profile.hardware.empty())
        object.string("hardware", profile.hardware).number("predicted_seconds", profile.predicted);
    return object.raw("kinds", rows_json(profile, profile.kinds))
        .raw("modules", rows_json(profile, profile.modules))
        .text();
}

} // namespace shard
