// What `run` says about an execution: outputs, executed against predicted figures, and the comparison with one device.
#pragma once

#include "cli/run/step_profile.h"
#include "cli/terminal/paint.h"
#include "executor/run/run.h"
#include "executor/verify/compare.h"

namespace shard {

struct RunReport {
    const Plan* plan = nullptr;
    RunResult result;
    int first_step = 0;                   // steps that a restored run had made
    int steps = 1;                        // that were asked for, without those
    int warm_up = 0;                      // with --repeat: steps before those that are timed; 0 = nothing is timed
    std::optional<Comparison> comparison; // only with --verify
    std::optional<Comparison> in_f64;     // where that found too large a difference: the same runs in f64
    std::string not_in_f64 = {};          // why they could not be made
    std::optional<StepProfile> profile;   // only with --profile
    bool show_seconds = false;            // timings differ from run to run, so they are shown only when asked for
    bool of_plan_file = false;            // which may have been edited
    bool quiet = false;                   // no table of outputs
    std::vector<std::string> print = {};  // of which outputs all elements are shown; then no others are in the table

    bool is_printed(std::string_view output) const;

    i64 predicted_wire_bytes() const;
    bool wire_bytes_equal() const { return result.wire_bytes_total == predicted_wire_bytes(); }
    // What differs in narrow types and not in f64 is rounding.
    bool is_rounding() const { return in_f64 && in_f64->equal; }
    bool verified() const { return comparison && (comparison->equal || is_rounding()); }
    bool stopped() const { return result.steps < steps; }
    bool peak_equal() const {
        return result.touched_peak_bytes == plan->peak_bytes && result.touched_host_peak_bytes == plan->host_peak_bytes;
    }
};

// Findings P0203 and P0204 where the execution moved or touched other bytes than the plan says.
void judge_run(const RunReport& report, Diagnostics& diagnostics);

// "mlp, forward, run on data 2 x model 4 = 8 devices".
std::string run_heading(const Plan& plan, const Paint& paint);
std::string run_text(const RunReport& report, const Paint& paint); // without the heading
std::string run_json(const RunReport& report);

// A run whose checkpoint is where it would end, after `steps` steps. The log's line tells it from one that was killed.
std::string nothing_left_text(const std::string& checkpoint, int steps);
std::string nothing_left_json(const Plan& plan, int steps);
std::string nothing_left_log(int steps);

} // namespace shard
