#include "cli/run/run_report.h"

#include "cli/report/nouns.h"
#include "cli/report/report.h"
#include "cli/run/steps.h"
#include "cli/terminal/table.h"
#include "cli/terminal/wrap.h"
#include "executor/elements/element.h"
#include "executor/formats/tensor.h"
#include "executor/verify/compare.h"
#include "planner/text/glob.h"
#include "plans/base/units.h"
#include "plans/base/version.h"
#include "plans/file/plan_json_nouns.h"
#include "plans/json/json_text.h"
#include "plans/plan/report_totals.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <type_traits>

namespace shard {

bool RunReport::is_printed(std::string_view output) const {
    return std::any_of(print.begin(), print.end(),
                       [output](const std::string& pattern) { return glob_matches(pattern, output); });
}

i64 RunReport::predicted_wire_bytes() const { return wire_bytes_total(plan->report); }

void judge_run(const RunReport& report, Diagnostics& diagnostics) {
    const std::string_view help =
        report.of_plan_file
            ? "was the plan file edited? --verify says whether it is what its sources give; if it is, this is a "
              "bug in shardc: please report it with the plan file"
            : "this is a bug in shardc: please report it with the model and the layout";
    if (!report.wire_bytes_equal())
        diagnostics
            .finding("P0203", {},
                     fmt::format("the devices exchanged {} B, the plan says {} B",
                                 grouped(report.result.wire_bytes_total), grouped(report.predicted_wire_bytes())))
            .help(std::string(help));
    const auto compare_peak = [&](std::string_view where, i64 touched, i64 said) {
        if (touched == said) return;
        diagnostics
            .finding("P0204", {},
                     fmt::format("the fullest device touched {} B{}, the plan says {} B", grouped(touched), where,
                                 grouped(said)))
            .help(std::string(help));
    };
    compare_peak("", report.result.touched_peak_bytes, report.plan->peak_bytes);
    compare_peak(" on the host", report.result.touched_host_peak_bytes, report.plan->host_peak_bytes);
}

namespace {

// The sign of a NaN says nothing, and differs between processors.
std::string number(double value) { return std::isnan(value) ? "nan" : fmt::format("{:.4g}", value); }

// Whole numbers as they are: of a key or a position, four digits say nothing, and beyond 2^53 a double says another.
template<typename T>
std::string element(const T& value) {
    if constexpr (std::is_integral_v<T>)
        return std::to_string(value);
    else
        return number(convert_value<double>(value));
}
template<typename T>
std::string element_json(const T& value) {
    if constexpr (std::is_integral_v<T>)
        return std::to_string(value);
    else
        return json_number(convert_value<double>(value));
}

struct Summary {
    double mean = 0;
    std::string least = "0", most = "0"; // as `element` writes them
    std::string least_json = "0", most_json = "0";
    std::vector<std::string> first, first_json;
    bool finite = true;
};

Summary summarise(const Tensor& tensor) {
    constexpr size_t shown = 4;
    Summary summary;
    size_t count = tensor.type.elements();
    double sum = 0;
    visit_dtype(tensor.type.dtype, [&](auto zero) {
        using T = decltype(zero);
        const T* data = reinterpret_cast<const T*>(tensor.bytes.data());
        size_t least = 0, most = 0;
        for (size_t i = 0; i < count; ++i) {
            const double value = convert_value<double>(data[i]);
            if (i < shown) {
                summary.first.push_back(element(data[i]));
                summary.first_json.push_back(element_json(data[i]));
            }
            if (value < convert_value<double>(data[least])) least = i;
            if (value > convert_value<double>(data[most])) most = i;
            summary.finite = summary.finite && std::isfinite(value);
            sum += value;
        }
        if (count == 0) return;
        summary.least = element(data[least]), summary.least_json = element_json(data[least]);
        summary.most = element(data[most]), summary.most_json = element_json(data[most]);
    });
    summary.mean = count > 0 ? sum / static_cast<double>(count) : 0;
    return summary;
}

// Of a step, the scalars have been shown as they came, and states are long lists of small numbers: parameters and variables
// are left.
bool is_shown(const Plan& plan, const PlanOutput& output) {
    if (!is_step(plan)) return true;
    if (output.is_update()) {
        const Role role = plan.buffers[output.updates].role;
        return role == Role::param || role == Role::variable;
    }
    return element_count(plan.buffers[output.buffer].real_shape()) != 1;
}

Table outputs_table(const RunReport& report, const Paint& paint) {
    Table table({{report.plan->mode == "train" ? "parameter" : "output"},
                 {"type"},
                 {"mean", Align::right},
                 {"least", Align::right},
                 {"most", Align::right},
                 {.header = "first values", .spared = paint.narrow_width() > 0 ? 1 : 0},
                 {""}});
    for (const PlanOutput& output : report.plan->outputs) {
        if (report.print.empty() ? !is_shown(*report.plan, output) : !report.is_printed(output.name)) continue;
        const Tensor& tensor = report.result.outputs.at(output.name);
        Summary summary = summarise(tensor);
        std::vector<std::string> first = std::move(summary.first);
        if (tensor.type.elements() > static_cast<i64>(first.size())) first.emplace_back("...");
        table.add({Cell(output.name, "1"), type_text(tensor.type.dtype, tensor.type.shape), number(summary.mean),
                   summary.least, summary.most, fmt::format("{}", fmt::join(first, " ")),
                   Cell(summary.finite ? "" : "not finite", "1;31")});
    }
    return table;
}

// Elements, a row of the last dim on a line; of a large array the first, and how many are left out.
std::string elements_text(const std::string& name, const Tensor& tensor) {
    constexpr i64 most = 4096, most_in_row = 64;
    const i64 count = tensor.type.elements(), row = tensor.type.shape.empty() ? 1 : tensor.type.shape.back();
    std::string out = fmt::format("{} = {}\n", name, type_text(tensor.type.dtype, tensor.type.shape));
    i64 shown = 0;
    visit_dtype(tensor.type.dtype, [&](auto zero) {
        using T = decltype(zero);
        const T* data = reinterpret_cast<const T*>(tensor.bytes.data());
        for (i64 start = 0; start < std::min(count, most); start += row) {
            out += " ";
            for (i64 i = start; i < start + std::min(row, most_in_row); ++i, ++shown) out += " " + element(data[i]);
            out += row > most_in_row ? " ...\n" : "\n";
        }
    });
    return shown == count ? out
                          : out + fmt::format("  {} of {} elements; --output {}=FILE.npy and --format json have all\n",
                                              grouped(shown), grouped(count), name);
}

std::string elements_json(const Tensor& tensor) {
    std::vector<std::string> elements;
    visit_dtype(tensor.type.dtype, [&](auto zero) {
        using T = decltype(zero);
        const T* data = reinterpret_cast<const T*>(tensor.bytes.data());
        for (i64 i = 0; i < tensor.type.elements(); ++i) elements.push_back(element_json(data[i]));
    });
    return json_array(elements);
}

std::string printed_text(const RunReport& report) {
    std::string out;
    for (const PlanOutput& output : report.plan->outputs)
        if (report.is_printed(output.name))
            out += elements_text(output.name, report.result.outputs.at(output.name)) + "\n";
    return out;
}

// The last step's numbers once more, if there are others than the loss, and how far a run got that was stopped.
std::string metrics_text(const RunReport& report) {
    if (!is_step(*report.plan)) return {};
    std::string out = "\n";
    if (report.result.scalars.size() > 1) {
        for (const PlanOutput& output : report.plan->outputs) {
            const std::map<std::string, std::vector<double>>::const_iterator values =
                report.result.scalars.find(output.name);
            if (values == report.result.scalars.end()) continue;
            const double last = values->second.back();
            out += fmt::format("{}: {}\n", output.name, std::isnan(last) ? "nan" : fmt::format("{:.6f}", last));
        }
        out += "\n";
    }
    if (report.stopped())
        out += fmt::format("stopped after {} of {} steps\n\n", report.first_step + report.result.steps,
                           report.first_step + report.steps);
    return out;
}

struct Timing {
    double mean = 0, deviation = 0, least = 0;
    i64 count = 0;
};

// Of the steps after those to warm up; the standard deviation is that of these numbers, not an estimate from a sample.
Timing timing_of(const RunReport& report) {
    Timing timing;
    const std::vector<double>& all = report.result.seconds;
    const std::vector<double> timed(all.begin() + std::min<std::ptrdiff_t>(report.warm_up, std::ssize(all)), all.end());
    timing.count = std::ssize(timed);
    if (timed.empty()) return timing;
    for (double seconds : timed) timing.mean += seconds / static_cast<double>(timing.count);
    for (double seconds : timed)
        timing.deviation += (seconds - timing.mean) * (seconds - timing.mean) / static_cast<double>(timing.count);
    timing.deviation = std::sqrt(timing.deviation);
    timing.least = *std::min_element(timed.begin(), timed.end());
    return timing;
}

JsonObject json_heading(const Plan& plan) {
    JsonObject object;
    object.integer("format_version", 1)
        .string("tool", tool_text())
        .string("model", plan.model)
        .string("mode", plan.mode)
        .raw("mesh", print_mesh(plan.mesh))
        .integer("devices", plan.mesh.device_count()); // as earlier programs called it
    return object;
}

std::string difference_text(const Comparison& comparison, const Plan& plan) {
    // How far parameters and states may be apart follows from how far they moved.
    std::string text = fmt::format(
        "largest difference {:.3g}, {:.2g} of {} ({:.2g} allowed)", comparison.max_absolute, comparison.max_relative,
        is_step(plan) ? "what it is compared with" : "the largest value", comparison.allowed_relative);
    if (comparison.not_finite > 0) text += fmt::format("; {} elements are not finite", comparison.not_finite);
    return text;
}

// What stands after the verdict.
std::string verified_text(const RunReport& report) {
    const Comparison& comparison = *report.comparison;
    std::string text =
        fmt::format("{} the same model on one device: {}", report.verified() ? " against" : ": not equal to",
                    difference_text(comparison, *report.plan));
    constexpr double says_little = 0.5; // a plan that is wrong by a factor of two could pass
    if (comparison.equal && comparison.allowed_relative >= says_little)
        text += "; so much may be rounding that this says little: verify the model in f32";
    if (report.in_f64)
        text += fmt::format("; {}: in f64 {}", report.is_rounding() ? "that is rounding" : "that is not rounding",
                            difference_text(*report.in_f64, *report.plan));
    if (!report.not_in_f64.empty()) text += "; whether that is rounding, f64 could not tell: " + report.not_in_f64;
    return text;
}

std::string comparison_json(const RunReport& report) {
    const auto figures = [](bool verified, const Comparison& comparison) {
        JsonObject object;
        object.flag("verified", verified)
            .number("max_absolute", comparison.max_absolute)
            .number("max_relative", comparison.max_relative)
            .number("allowed_relative", comparison.allowed_relative)
            .integer("not_finite", comparison.not_finite);
        return object;
    };
    JsonObject object = figures(report.verified(), *report.comparison);
    if (report.in_f64) object.raw("in_f64", figures(report.in_f64->equal, *report.in_f64).text());
    if (!report.not_in_f64.empty()) object.string("not_in_f64", report.not_in_f64);
    return object.text();
}

} // namespace

std::string run_heading(const Plan& plan, const Paint& paint) {
    return fmt::format("{}, {}, run on {}\n\n", paint.strong(plan.model), plan.mode, mesh_text(plan.mesh));
}

std::string run_text(const RunReport& report, const Paint& paint) {
    const Plan& plan = *report.plan;
    const RunResult& result = report.result;
    std::string out = metrics_text(report);
    if (!report.quiet) out += outputs_table(report, paint).render(paint, "  ") + "\n";
    out += printed_text(report);
    Table figures({{""}, {"executed", Align::right}, {"predicted", Align::right}, {""}});
    auto row = [&](const char* what, i64 executed, i64 predicted) {
        bool equal = executed == predicted;
        figures.add({what, grouped(executed) + " B", grouped(predicted) + " B",
                     Cell(equal ? "equal" : "DIFFERENT", equal ? "32" : "1;31")});
    };
    row(result.steps > 1 && is_step(plan) ? "sent between devices in a step, all together"
                                          : "sent between devices, all together",
        result.wire_bytes_total, report.predicted_wire_bytes());
    row("peak memory of the fullest device", result.touched_peak_bytes, plan.peak_bytes);
    if (plan.host_peak_bytes > 0)
        row("peak of a device's memory on the host", result.touched_host_peak_bytes, plan.host_peak_bytes);
    out += figures.render(paint, "  ");
    if (report.comparison) {
        const std::string_view verdict = report.verified() ? "verified" : "NOT verified";
        const std::string lines = hanging(std::string(verdict) + verified_text(report), paint.narrow_width(), 2);
        out +=
            fmt::format("\n{}{}\n", paint(report.verified() ? "1;32" : "1;31", verdict), lines.substr(verdict.size()));
    }
    if (report.warm_up > 0) {
        const Timing timing = timing_of(report);
        out += fmt::format("\n{} +- {} per step (mean +- std. dev. of {}, after {} to warm up)\n",
                           human_seconds(timing.mean), human_seconds(timing.deviation),
                           counted(timing.count, is_step(plan) ? "step" : "run"), report.warm_up);
        out +=
            fmt::format("predicted for {}: {}\n", plan.report.hardware, human_seconds(plan.report.time.step_seconds));
    }
    if (report.profile) out += "\n" + profile_text(*report.profile, paint);
    if (report.show_seconds) {
        std::vector<double> sorted = result.seconds;
        std::sort(sorted.begin(), sorted.end());
        out += fmt::format("\nemulation: {}, best {}, median {}\n", counted(static_cast<i64>(sorted.size()), "run"),
                           human_seconds(sorted.front()), human_seconds(sorted[sorted.size() / 2]));
    }
    return out;
}

std::string run_json(const RunReport& report) {
    const Plan& plan = *report.plan;
    std::vector<std::string> outputs, seconds;
    for (const PlanOutput& output : plan.outputs) {
        const Tensor& tensor = report.result.outputs.at(output.name);
        Summary summary = summarise(tensor);
        JsonObject shown;
        shown.string("name", output.name)
            .string("dtype", name(tensor.type.dtype))
            .raw("shape", json_integers(tensor.type.shape))
            .number("mean", summary.mean)
            .raw("least", summary.least_json)
            .raw("most", summary.most_json)
            .raw("first", json_array(summary.first_json));
        if (report.is_printed(output.name)) shown.raw("elements", elements_json(tensor));
        outputs.push_back(shown.text());
    }
    auto figures = [](i64 executed, i64 predicted) {
        return JsonObject()
            .integer("executed", executed)
            .integer("predicted", predicted)
            .flag("equal", executed == predicted)
            .text();
    };
    JsonObject object = json_heading(plan);
    object.raw("outputs", json_lines(outputs, 2))
        .raw("wire_bytes_total", figures(report.result.wire_bytes_total, report.predicted_wire_bytes()))
        .raw("peak_bytes", figures(report.result.touched_peak_bytes, plan.peak_bytes));
    if (plan.host_peak_bytes > 0)
        object.raw("host_peak_bytes", figures(report.result.touched_host_peak_bytes, plan.host_peak_bytes));
    if (report.comparison) object.raw("verify", comparison_json(report));
    if (is_step(plan)) {
        std::vector<std::string> steps;
        for (int step = 0; step < report.result.steps; ++step) {
            std::map<std::string, double> scalars;
            for (const auto& [name, values] : report.result.scalars) scalars[name] = values[step];
            steps.push_back(step_json(plan, report.first_step + step, scalars, -1));
        }
        object.raw("steps", json_lines(steps, 2)).flag("stopped", report.stopped()).flag("nothing_left", false);
    }
    if (report.warm_up > 0) {
        const Timing timing = timing_of(report);
        object.raw("timing", JsonObject()
                                 .integer("warm_up", report.warm_up)
                                 .integer("count", timing.count)
                                 .number("mean_seconds", timing.mean)
                                 .number("deviation_seconds", timing.deviation)
                                 .number("least_seconds", timing.least)
                                 .string("hardware", plan.report.hardware)
                                 .number("predicted_seconds", plan.report.time.step_seconds)
                                 .text());
    }
    if (report.profile) object.raw("profile", profile_json(*report.profile));
    if (report.show_seconds) {
        for (double value : report.result.seconds) seconds.push_back(json_number(value));
        object.raw("seconds", json_array(seconds));
    }
    return object.text() + "\n";
}

std::string nothing_left_text(const std::string& checkpoint, int steps) {
    return fmt::format("nothing left to do: {} has made all {}\n"
                       "steps are counted from the first run's beginning: --steps {} makes {} more\n",
                       checkpoint, counted(steps, "step"), 2 * i64{steps}, steps);
}

std::string nothing_left_json(const Plan& plan, int steps) {
    return json_heading(plan)
               .raw("outputs", "[]")
               .raw("steps", "[]")
               .flag("stopped", false)
               .flag("nothing_left", true)
               .integer("steps_made", steps)
               .text() +
           "\n";
}

std::string nothing_left_log(int steps) {
    return JsonObject().flag("nothing_left", true).integer("steps_made", steps).text() + "\n";
}

} // namespace shard
