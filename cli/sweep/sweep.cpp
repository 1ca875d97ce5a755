#include "cli/sweep/sweep.h"

#include "cli/command/format.h"
#include "cli/diagnostics/diagnostics.h"
#include "cli/diagnostics/subjects_text.h"
#include "cli/inputs/dividing_sizes.h"
#include "cli/inputs/output.h"
#include "cli/inputs/settings.h"
#include "cli/terminal/exit_code.h"
#include "plans/plan/report_totals.h"

#include <algorithm>
#include <fmt/format.h>
#include <ostream>

namespace shard {

namespace {

SweepRow row_of(Compiled& compiled, const std::vector<std::string>& settings) {
    SweepRow row;
    row.values = values_of(settings);
    for (const Diagnostic& diagnostic : compiled.diagnostics().all())
        if (row.verdict.empty() && (diagnostic.severity == Severity::error || diagnostic.finding))
            row.verdict = diagnostic.code;
    if (compiled.plan() == nullptr) return row;
    row.plan = std::move(compiled.compilation.plan);
    const MemoryReport& memory = row.plan->report.memory;
    row.is_good = fits(memory) && row.verdict.empty();
    if (!fits(memory))
        row.verdict = "does not fit";
    else if (row.verdict.empty())
        row.verdict = memory.capacity > 0 ? "fits" : "ok";
    return row;
}

} // namespace

SweepPlans::SweepPlans(const Arguments& arguments, Env& env)
    : arguments_(arguments), env_(env), model_(load_model_text(env, arguments.string("MODEL"))),
      layout_(load_text(env, arguments.string("LAYOUT"))) {}

SweepPlans::Planned SweepPlans::plan(const std::vector<std::string>& settings) const {
    Planned planned;
    planned.compiled = compile_texts(model_, layout_, {arguments_.string("--mode"), settings});
    planned.row = row_of(planned.compiled, settings);
    return planned;
}

void SweepPlans::keep_failure(Planned& planned) {
    if (planned.row.plan) return;
    Compiled& compiled = planned.compiled;
    propose_sizes(*compiled.sources, compiled.request, compiled.compilation);
    failed_.push_back(std::move(compiled));
}

int SweepPlans::write(const Sweep& sweep, int code) {
    std::vector<Subject> subjects;
    for (const Compiled& compiled : failed_)
        subjects.push_back({{}, {}, compiled.sources.get(), compiled.diagnostics().all()});
    env_.err << subjects_text(subjects, Paint{env_.err_color, env_.width});
    return write_payload(env_, arguments_, chosen_format(arguments_).sweep(sweep, payload_paint(env_, arguments_)),
                         code);
}

bool may_plan_many(const Arguments& arguments, Env& env, std::string_view why) {
    for (std::string_view option : {"--plan", "--trace", "--all", "--only", "--timing"})
        if (arguments.has(option)) {
            refuse(env, fmt::format("{} is of one plan, and {}", option == "--plan" ? "-o" : option, why),
                   "set one value, or leave it away");
            return false;
        }
    if (arguments.string("MODEL") == "-" && arguments.string("LAYOUT") == "-") {
        refuse(env, "model and layout cannot both be read from stdin", "name a file for one of them");
        return false;
    }
    const FormatDef& format = chosen_format(arguments);
    if (format.sweep != nullptr) return true;
    refuse(env, fmt::format("--format {} writes one plan, and {}", format.name, why), "write it as text or json");
    return false;
}

std::optional<std::vector<std::vector<std::string>>> choices_of(const Arguments& arguments, Env& env) {
    Diagnostics diagnostics;
    std::optional<std::vector<std::vector<std::string>>> choices = all_choices(arguments.strings("--set"), diagnostics);
    if (!choices) print_diagnostics(env, Sources(), diagnostics.all());
    return choices;
}

std::vector<std::string> names_of(const std::vector<std::string>& settings) {
    std::vector<std::string> names;
    for (const std::string& setting : settings) names.push_back(setting.substr(0, setting.find('=')));
    return names;
}

std::vector<std::string> values_of(const std::vector<std::string>& settings) {
    std::vector<std::string> values;
    for (const std::string& setting : settings)
        values.push_back(setting.substr(std::min(setting.find('='), setting.size() - 1) + 1));
    return values;
}

int run_sweep(const Arguments& arguments, Env& env) {
    if (!may_plan_many(arguments, env, "--set gives several values")) return exit_usage;
    const std::optional<std::vector<std::vector<std::string>>> choices = choices_of(arguments, env);
    if (!choices) return exit_usage;
    SweepPlans plans(arguments, env);
    Sweep sweep;
    sweep.names = names_of(choices->front());
    int code = exit_clean;
    for (const std::vector<std::string>& settings : *choices) {
        SweepPlans::Planned planned = plans.plan(settings);
        code = std::max(code, exit_code(planned.compiled.diagnostics()));
        plans.keep_failure(planned);
        sweep.rows.push_back(std::move(planned.row));
    }
    return plans.write(sweep, code);
}

} // namespace shard
