// What `run` says when an execution is not what the plan says. That takes a plan that was made by another program, or a
// bug.
#include "cli/run/run_report.h"
#include "planner/pipeline/pipeline.h"
#include "plans/file/plan_json.h"
#include "test_paths.h"
#include "tests/support/memory_files.h"

#include <doctest/doctest.h>

namespace shard {
namespace {

// DotReluDot on data 2, model 4, as a plan file: one all_reduce of 4 x 1024 f32 a device, 8 x 24,576 B.
Plan planned() {
    MemoryFiles files(SHARDC_SOURCE_DIR);
    const std::string folder = "examples/dot_relu_dot/";
    REQUIRE(run_command(files, "plan " + folder + "model.yaml " + folder + "layout.yaml -o plan.json").code == 0);
    Diagnostics diagnostics;
    std::optional<Plan> plan = parse_plan(files.files.at("plan.json"), diagnostics);
    REQUIRE(plan);
    return *plan;
}

} // namespace

TEST_CASE("run: whole numbers are shown as they are, beyond 2^53 too") {
    MemoryFiles files;
    files.files["m.yaml"] = "model: m\ninputs: {x: {shape: [2], dtype: u64, init: ones}}\ngraph:\n"
                            "  - y: {bit_or: [{shift_left: [x, 63]}, x]}\noutputs: [y]\n";
    files.files["l.yaml"] = "mesh: {}\n";
    CHECK(run_command(files, "run m.yaml l.yaml --print y").out.find("  9223372036854775809 9223372036854775809\n") !=
          std::string::npos);
    const std::string json = run_command(files, "run m.yaml l.yaml --print y --format json").out;
    for (const char* part : {"\"least\": 9223372036854775809", "\"most\": 9223372036854775809",
                             "\"first\": [9223372036854775809, 9223372036854775809]",
                             "\"elements\": [9223372036854775809, 9223372036854775809]"})
        CHECK_MESSAGE(json.find(part) != std::string::npos, part);
}

TEST_CASE("run: a plan that predicts other bytes than its steps move is a finding, and exits with 1") {
    Plan plan = planned();
    REQUIRE(plan.report.collectives.size() == 1);
    plan.report.collectives[0].wire_bytes_total += 64;
    MemoryFiles files;
    files.files["plan.json"] = print_plan(plan);
    const CommandResult result = run_command(files, "run plan.json");
    CHECK(result.code == 1);
    CHECK(result.err ==
          "error[P0203]: the devices exchanged 196,608 B, the plan says 196,672 B\n"
          "  = help: was the plan file edited? --verify says whether it is what its sources give; if it is, "
          "this is a bug in shardc: please report it with the plan file\n\n");
    CHECK(result.out.find("DIFFERENT") != std::string::npos);
}

TEST_CASE("run --verify: a plan without the texts it came from has nothing to be verified with") {
    Plan plan = planned();
    plan.sources.clear();
    MemoryFiles files;
    files.files["plan.json"] = print_plan(plan);
    const CommandResult result = run_command(files, "run plan.json --verify");
    CHECK(result.code == 2);
    CHECK(result.err.find("error[E0705]: the plan does not hold the model and layout it came from\n") !=
          std::string::npos);
}

TEST_CASE("run --verify: where rounding may be as much as a factor of two, equality says little") {
    const Plan plan = planned();
    RunReport report;
    report.plan = &plan;
    report.quiet = true;
    report.comparison.emplace();
    report.comparison->equal = true;
    for (const auto& [allowed, says_little] :
         {std::pair(0.49, false), {0.5, true}, {0.6, true}}) { // 1 and 2 are half apart
        report.comparison->allowed_relative = allowed;
        CHECK((run_text(report, Paint()).find("this says little") != std::string::npos) == says_little);
    }
    report.comparison->equal = false;
    CHECK(run_text(report, Paint()).find("this says little") == std::string::npos);
}

TEST_CASE("run: other memory than predicted is a finding") {
    const Plan plan = planned();
    RunReport report;
    report.plan = &plan;
    report.result.wire_bytes_total = report.predicted_wire_bytes();
    report.result.touched_peak_bytes = plan.peak_bytes;
    Diagnostics diagnostics;
    judge_run(report, diagnostics);
    CHECK(diagnostics.all().empty());
    report.result.touched_peak_bytes += 64;
    judge_run(report, diagnostics);
    REQUIRE(diagnostics.all().size() == 1);
    CHECK(diagnostics.all()[0].code == "P0204");
}

} // namespace shard
