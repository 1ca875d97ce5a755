#include "tests/support/judge_case.h"

#include "executor/run/required_bytes.h"
#include "executor/verify/allowance.h"
#include "executor/verify/compare.h"
#include "planner/pipeline/pipeline.h"
#include "planner/price/judge.h"
#include "planner/price/price.h"
#include "planner/price/time_report.h"
#include "plans/file/plan_json.h"
#include "tests/support/allocations.h"
#include "tests/support/prove.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <new>

namespace shard {

namespace {

constexpr i64 most_devices = 16, most_bytes = 1 << 20, most_trips = 1000;

std::string problem_of_places(const Sources& sources, const Diagnostics& diagnostics) {
    for (const Diagnostic& diagnostic : diagnostics.all()) {
        if (diagnostic.severity != Severity::error || diagnostic.finding) continue;
        const Span span = diagnostic.labels.empty() ? Span{} : diagnostic.labels[0].span;
        if (!span.known()) return fmt::format("{} has no place: {}", diagnostic.code, diagnostic.message);
        const size_t length = sources.line(span.file, span.line).size();
        if (span.column < 1 || static_cast<size_t>(span.column - 1) > length)
            return fmt::format("{} points beyond its line: {}", diagnostic.code, diagnostic.message);
    }
    return "";
}

bool is_small(const Plan& plan) {
    i64 trips = 1;
    for_each_step(plan, [&trips](const Step&, i64 count) { trips = std::max(trips, count); });
    return plan.mesh.device_count() <= most_devices && trips <= most_trips && required_bytes(plan) <= most_bytes;
}

bool is_finite(const RunResult& result) {
    for (const auto& [name, tensor] : result.outputs)
        for (double value : values_of(tensor))
            if (!std::isfinite(value)) return false;
    return true;
}

Verdict judge(Sources& sources, const PlanRequest& request) {
    const Compilation compilation = compile(sources, request);
    const Diagnostics& reported = compilation.diagnostics;
    if (reported.has_error() == compilation.plan.has_value()) return {false, false, "neither an error nor a plan"};
    if (reported.has_error()) return {true, false, problem_of_places(sources, reported)};

    const Plan& plan = *compilation.plan;
    Diagnostics diagnostics;
    const std::string printed = print_plan(plan);
    const std::optional<Plan> parsed = parse_plan(printed, diagnostics);
    if (!parsed || print_plan(*parsed) != printed) return {false, false, "the plan does not read back as it was"};
    if (!is_small(plan)) return {};

    PlanRequest one = request;
    one.mesh_override = Mesh{};
    const Compilation single = compile(sources, one);
    if (!single.plan) return {false, false, "no plan for one device: " + text_of(sources, single.diagnostics)};
    if (!is_small(*single.plan)) return {};
    RunOptions options;
    options.workers = 1;
    const std::optional<RunResult> result = run_plan(plan, options, diagnostics);
    // A manual region with `check: false` may say that devices agree where they do not: the run finds it.
    if (!result && diagnostics.all().front().code == "E0604") return {};
    options.return_initial = true;
    const std::optional<RunResult> reference = run_plan(*single.plan, options, diagnostics);
    if (!result || !reference) return {false, false, "the plan does not run: " + text_of(sources, diagnostics)};
    if (result->touched_peak_bytes > plan.peak_bytes) return {false, false, "the run left the plan's memory"};
    // Sums in another order may become another kind of nothing: docs/partitioning.md.
    if (!is_finite(*reference)) return {false, true, ""};
    const std::optional<Comparison> comparison =
        compare_results({plan, *result}, {*single.plan, *reference}, diagnostics, &options);
    if (!comparison || !comparison->equal)
        return {false, true, "another result than on one device: " + text_of(sources, diagnostics)};
    return {false, true, ""};
}

} // namespace

Verdict judge_case(const std::string& model, const std::string& layout, const std::string& mode) {
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add("model.yaml", model);
    request.layout_file = sources.add("layout.yaml", layout);
    request.mode = mode;
    try {
        const BoundAllocations bound(most_allocated);
        return judge(sources, request);
    } catch (const InternalError& error) {
        return {false, false, fmt::format("internal error: {}", error.what())};
    } catch (const std::bad_alloc&) {
        return {false, false, "more allocations than any model needs"};
    } catch (const std::exception& error) {
        return {false, false, fmt::format("an exception: {}", error.what())};
    }
}

} // namespace shard
