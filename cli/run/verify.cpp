#include "cli/run/verify.h"

#include "cli/diagnostics/diagnostics.h"
#include "executor/run/refusals.h"
#include "executor/verify/compare.h"
#include "executor/verify/in_f64.h"
#include "plans/base/version.h"
#include "plans/json/json_places.h"
#include "plans/plan/plan_difference.h"

#include <fmt/format.h>

namespace shard {

bool Verification::prepare(const PlanSource& source, bool other_plan, Env& env) {
    plan_ = &*source.plan;
    if (source.file_text.empty()) return true; // compiled just now
    again_ = compile_again(*source.plan);
    plan_ = again_.plan();
    if (plan_ == nullptr) {
        print_diagnostics(env, *again_.sources, again_.diagnostics().all());
        return false;
    }
    const std::string difference = first_difference(*source.plan, *plan_);
    if (difference.empty()) return true;
    Sources files;
    const int file = files.add(source.name, source.file_text);
    const Span place = JsonText{source.file_text, file}.value(difference);
    Diagnostics diagnostics;
    if (other_plan) {
        diagnostics.warning("W0501", place, "this program plans the texts inside the plan file in another way")
            .note(fmt::format("the first difference is in {}", difference))
            .help("it is compared with what the texts say on one device");
    } else {
        DiagnosticBuilder error =
            diagnostics.error("E0507", place, "the plan is not what this program makes of the texts inside it")
                .help("plan the model again; --allow-other-plan compares what it computes all the same");
        error.note(fmt::format("the first difference is in {}", difference));
        if (source.plan->tool != tool_text())
            error.note(fmt::format("it was written by {}, this is {}", source.plan->tool, tool_text()));
    }
    print_diagnostics(env, files, diagnostics.all());
    return other_plan;
}

void Verification::plan_reference(const Plan& plan, Diagnostics& diagnostics) {
    reference_ = compile_reference(*plan_);
    if (reference_.plan() != nullptr) fits_memory_verified(plan, *reference_.plan(), diagnostics);
}

bool Verification::compare(const RunOptions& options, RunReport& report, Env& env, Diagnostics& diagnostics) const {
    if (reference_.plan() == nullptr) {
        print_diagnostics(env, *reference_.sources, reference_.diagnostics().all());
        return false;
    }
    const Plan& reference = *reference_.plan();
    if (!same_inputs(*report.plan, reference, diagnostics)) return true;
    RunOptions same = options;
    same.steps = report.result.steps;
    same.return_initial = true; // how far parameters moved says how far apart they may be
    same.after_step = nullptr;
    same.at_end = nullptr;
    same.stop = nullptr;
    same.timed = false;
    same.ranks = nullptr; // the first rank alone makes the comparison
    const std::optional<RunResult> result = run_plan(reference, same, diagnostics);
    if (!result) return false;
    Diagnostics findings;
    report.comparison = compare_results({*report.plan, report.result}, {reference, *result}, findings, &same);
    if (report.comparison && !report.comparison->equal && is_below_f64(*report.plan))
        repeat_in_f64(reference, same, report);
    if (report.comparison && report.verified()) return true;
    for (const Diagnostic& finding : findings.all()) diagnostics.add(finding);
    return true;
}

// Both plans as they are, steps and collectives alike, but in f64, from the values that the other runs began with.
void Verification::repeat_in_f64(const Plan& reference, RunOptions options, RunReport& report) const {
    if (takes_float_bits(reference)) {
        report.not_in_f64 = "the model takes bits of floating-point numbers";
        return;
    }
    Diagnostics problems;
    const auto cannot = [&] { report.not_in_f64 = problems.all().front().message; };
    std::optional<std::map<std::string, Tensor>> inputs = beginning(reference, options, problems);
    if (!inputs) return cannot();
    options.inputs = std::move(*inputs);
    options.restore = nullptr;
    const Plan plan = in_f64(*report.plan), one = in_f64(reference);
    const std::optional<RunResult> expected = run_plan(one, options, problems);
    const std::optional<RunResult> result = expected ? run_plan(plan, options, problems) : std::nullopt;
    if (!result) return cannot();
    report.in_f64 = compare_repeated({plan, *result}, {one, *expected}, problems, &options);
}

} // namespace shard
