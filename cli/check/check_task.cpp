#include "cli/check/check_task.h"

#include "cli/check/shared_layouts.h"
#include "cli/inputs/plan_command.h"
#include "cli/report/report.h"
#include "planner/price/judge.h"
#include "planner/read/policy_reader.h"
#include "planner/text/allowances.h"
#include "planner/text/yaml.h"
#include "plans/base/in_parallel.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace shard {

namespace {

// The layout's own policy was judged by compile(); these come on top.
void judge_by(const std::vector<TaskPolicy>& policies, Compiled& compiled) {
    Diagnostics& diagnostics = compiled.compilation.diagnostics;
    Allowances allowances;
    Diagnostics found;
    std::map<const LoadedText*, int> files;
    for (const TaskPolicy& policy : policies) {
        for (const Diagnostic& problem : policy.file->problems.all()) diagnostics.add(problem);
        if (policy.file->problems.has_error()) continue;
        const auto [at, is_new] = files.try_emplace(policy.file.get(), compiled.sources->count());
        if (is_new) {
            compiled.sources->add(policy.file->name, policy.file->text);
            allowances.read(*compiled.sources, at->second, diagnostics);
        }
        std::optional<PolicyDecl> read =
            policy.read ? in_file(*policy.read, at->second) : read_policy(*compiled.sources, at->second, diagnostics);
        if (read && compiled.plan() != nullptr) judge(*compiled.plan(), *read, found);
    }
    if (compiled.plan() == nullptr) return;
    const Diagnostics left = allowances.apply(found);
    for (const Diagnostic& diagnostic : left.all()) diagnostics.add(diagnostic);
}

// Where a layout begins, below the comments at its top: for what is said of the whole of it.
Span beginning_of(const Compiled& compiled) {
    Diagnostics unsaid;
    const YamlDocument root = parse_yaml(*compiled.sources, compiled.request.layout_file, unsaid);
    return root && root->map() != nullptr && !root->map()->empty() ? root->map()->front().key_span : Span{};
}

PlannedAs planned_as(const CheckTask& task) {
    return {task.model->sources.name(0), task.layout->name, task.asked.mode, task.asked.settings};
}

void compare(const CheckTask& task, bool alone, const Subject& subject, Compiled& compiled) {
    Diagnostics found;
    compare_with(*task.baseline, task.tolerance, subject, beginning_of(compiled), alone,
                 command_line("plan", planned_as(task)), found);
    const Diagnostics left = compiled.compilation.allowances.apply_compared(found);
    for (const Diagnostic& diagnostic : left.all()) compiled.compilation.diagnostics.add(diagnostic);
}

Checked check_one(const CheckTask& task, bool alone) {
    PlanArguments asked = task.asked;
    asked.proposes = true;
    Compiled compiled = compile_texts(*task.model, *task.layout, asked);
    judge_by(task.policies, compiled);
    if (compiled.plan() != nullptr)
        compiled.compilation.diagnostics =
            with_commands(compiled.diagnostics(), planned_as(task), compiled.request.layout_file, alone);
    Checked checked;
    Subject& subject = checked.subject;
    subject.name = task.name;
    subject.layout = task.layout->name;
    subject.as_written = task.asked.settings.empty();
    subject.as = task.as;
    if (task.model->file) subject.model = task.model->sources.name(*task.model->file);
    if (const Plan* plan = compiled.plan()) {
        subject.summary = summary_line(*plan);
        subject.figures = figures_of(plan->report);
    }
    if (task.baseline && subject.figures) compare(task, alone, subject, compiled);
    subject.diagnostics = compiled.diagnostics().all();
    checked.sources = std::move(compiled.sources);
    subject.sources = checked.sources.get();
    return checked;
}

// A comment in the model or the policy that silences a finding of one layout is of use, though not to the others.
void drop_allowances_used_elsewhere(std::vector<Checked>& all) {
    using Place = std::tuple<std::string, int, int>;
    const auto place = [](const Subject& subject, const Diagnostic& diagnostic) {
        const Span& span = diagnostic.labels.at(0).span;
        return Place(subject.sources->name(span.file), span.line, span.column);
    };
    std::map<Place, i64> unused;
    for (const Checked& checked : all)
        for (const Diagnostic& diagnostic : checked.subject.diagnostics)
            if (diagnostic.code == "W0101") ++unused[place(checked.subject, diagnostic)];
    if (unused.empty()) return;
    std::map<std::string, i64> readers; // of a file, those that could be planned
    for (const Checked& checked : all)
        for (int i = 0; i < checked.sources->count(); ++i)
            if (checked.subject.figures) ++readers[checked.sources->name(i)];
    for (Checked& checked : all)
        std::erase_if(checked.subject.diagnostics, [&](const Diagnostic& diagnostic) {
            if (diagnostic.code != "W0101") return false;
            const Place at = place(checked.subject, diagnostic);
            return unused[at] < readers[std::get<0>(at)];
        });
}

// A plan that no device has room for passes no check, whatever else is tolerated.
constexpr std::string_view does_not_fit = "W0401";

} // namespace

std::vector<Checked> check_all(const std::vector<CheckTask>& tasks) {
    std::vector<Checked> all(tasks.size());
    in_parallel(tasks.size(), [&](size_t i) { all[i] = check_one(tasks[i], tasks.size() == 1); });
    drop_allowances_used_elsewhere(all);
    drop_rules_used_elsewhere(all);
    for (size_t i = 0; i < tasks.size(); ++i)
        for (Diagnostic& diagnostic : all[i].subject.diagnostics)
            if (diagnostic.severity == Severity::warning && (tasks[i].strict || diagnostic.code == does_not_fit))
                diagnostic.finding = true;
    return all;
}

} // namespace shard
