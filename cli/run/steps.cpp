#include "cli/run/steps.h"

#include "cli/diagnostics/diagnostics.h"
#include "cli/terminal/paint.h"
#include "plans/base/units.h"
#include "plans/json/json_text.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <ostream>

namespace shard {

namespace {

DType dtype_of(const Plan& plan, const PlanOutput& output) { return plan.buffers[output.buffer].dtype; }

// "  loss 1.4580092  accuracy 0.125"
std::string numbers_text(const Plan& plan, const std::map<std::string, double>& scalars) {
    std::string text;
    for (const PlanOutput& output : plan.outputs) {
        const std::map<std::string, double>::const_iterator value = scalars.find(output.name);
        if (value == scalars.end()) continue;
        text += fmt::format("  {} {}", output.name, scalar_text(dtype_of(plan, output), value->second));
    }
    return text;
}

} // namespace

std::string scalar_text(DType dtype, double value) {
    if (!is_floating(dtype)) return fmt::format("{:.0f}", value);
    if (std::isnan(value)) return "nan"; // its sign says nothing
    std::string text = dtype == DType::f64 ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
    if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
    return text;
}

std::string step_json(const Plan& plan, int step, const std::map<std::string, double>& scalars, double seconds) {
    JsonObject object;
    object.integer("step", step);
    for (const PlanOutput& output : plan.outputs) {
        const std::map<std::string, double>::const_iterator value = scalars.find(output.name);
        if (value == scalars.end()) continue;
        if (std::isfinite(value->second))
            object.raw(output.name, scalar_text(dtype_of(plan, output), value->second));
        else
            object.number(output.name, value->second);
    }
    if (seconds >= 0) object.number("seconds", seconds);
    return object.text();
}

StepLog::StepLog(const Plan& plan, Env& env, int first_step, int steps, std::string heading, std::string log_file)
    : plan_(&plan), env_(&env), first_step_(first_step), steps_(steps), heading_(std::move(heading)),
      log_file_(std::move(log_file)), begin_(std::chrono::steady_clock::now()) {}

void StepLog::open(Diagnostics& diagnostics) {
    std::string problem;
    if (!log_file_.empty() && !env_->files.append(log_file_, "", problem))
        diagnostics.error("E0703", {}, fmt::format("cannot write '{}': {}", log_file_, problem));
}

bool StepLog::add(const StepView& view) {
    const std::string numbers = numbers_text(*plan_, view.scalars);
    if (!heading_.empty()) {
        end(); // where both streams are the terminal, the line takes the place of the progress
        if (view.step == first_step_) env_->out << heading_;
        env_->out << fmt::format("step {}{}\n", view.step, numbers) << std::flush;
    }
    show_progress(view, numbers);
    std::string problem;
    if (log_file_.empty() ||
        env_->files.append(log_file_, step_json(*plan_, view.step, view.scalars, view.seconds) + "\n", problem))
        return true;
    end();
    Sources none;
    Diagnostics diagnostics;
    diagnostics.error("E0703", {}, fmt::format("cannot write '{}': {}", log_file_, problem));
    print_diagnostics(*env_, none, diagnostics.all());
    return false;
}

void StepLog::show_progress(const StepView& view, const std::string& numbers) {
    const std::chrono::steady_clock::time_point now = std::chrono::steady_clock::now();
    if (!env_->err_terminal || now - shown_ < std::chrono::milliseconds(100)) return;
    shown_ = now;
    const double seconds = std::chrono::duration<double>(now - begin_).count();
    const int done = view.step + 1 - first_step_;
    env_->err << fmt::format("{}{} of {} steps done{}  {} left", clear_line, view.step + 1, first_step_ + steps_,
                             numbers, human_seconds(seconds / done * (steps_ - done)))
              << std::flush;
}

void StepLog::end() {
    if (env_->err_terminal) env_->err << clear_line << std::flush;
}

} // namespace shard
