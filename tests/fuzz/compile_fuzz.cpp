// A model and a layout, parted by a line "====", through the whole planner: it ends, it makes a plan exactly when it
// reports no error, the plan file says everything, and a plan that is small enough runs.
#include "executor/run/required_bytes.h"
#include "executor/run/run.h"
#include "planner/pipeline/pipeline.h"
#include "plans/file/plan_json.h"
#include "plans/plan/plan_check.h"
#include "tests/fuzz/reading_fuzz.h"

namespace shard {

namespace {

constexpr i64 device_limit = 16, byte_limit = 1 << 20;

void check(std::string_view model, std::string_view layout) {
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add("model.yaml", std::string(model));
    request.layout_file = sources.add("layout.yaml", std::string(layout));
    const Compilation compilation = compile(sources, request);
    require(compilation.plan.has_value() || compilation.diagnostics.has_error());
    if (!compilation.plan || compilation.diagnostics.has_error()) return;

    const Plan& plan = *compilation.plan;
    Diagnostics diagnostics;
    require(plan_problems(plan).empty());
    const std::string printed = print_plan(plan);
    const std::optional<Plan> parsed = parse_plan(printed, diagnostics);
    require(parsed.has_value() && print_plan(*parsed) == printed);
    if (plan.mesh.device_count() > device_limit || required_bytes(plan) > byte_limit) return;
    RunOptions options;
    options.workers = 1;
    const std::optional<RunResult> result = run_plan(plan, options, diagnostics);
    require(result.has_value() && result->touched_peak_bytes <= plan.peak_bytes);
}

} // namespace

} // namespace shard

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
    constexpr std::string_view divider = "\n====\n";
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const size_t middle = text.find(divider);
    if (middle == std::string_view::npos) return 0;
    shard::check(text.substr(0, middle + 1), text.substr(middle + divider.size()));
    return 0;
}
