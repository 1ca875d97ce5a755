// What `run` shows of a plan that updates its inputs, while its steps run: a line each, a log, progress on a terminal.
#pragma once

#include "cli/terminal/env.h"
#include "executor/run/run.h"

#include <chrono>

namespace shard {

// A number in the precision of its type, as numpy prints it: "1.4580092" of f32, "1.0", "nan".
std::string scalar_text(DType dtype, double value);

// The scalars of a step as JSON, in the order of the plan's outputs: {"step": 0, "loss": 1.4580092, "seconds": 0.25}
// `seconds` is left out if it is negative.
std::string step_json(const Plan& plan, int step, const std::map<std::string, double>& scalars, double seconds);

class StepLog {
public:
    // `heading` comes before the first line; nothing is printed to env.out if it is empty. JSON lines are appended to
    // `log_file`, unless it is empty.
    // The run makes `steps` steps from `first_step` on.
    StepLog(const Plan& plan, Env& env, int first_step, int steps, std::string heading, std::string log_file);

    // Opens the log, E0703 if that fails. Before signals only ask the run to stop: a pipe is waited for.
    void open(Diagnostics& diagnostics);
    // False, after reporting E0703, if the log cannot be written.
    bool add(const StepView& view);
    // Removes the progress from the terminal.
    void end();

private:
    void show_progress(const StepView& view, const std::string& numbers);

    const Plan* plan_;
    Env* env_;
    int first_step_, steps_;
    std::string heading_, log_file_;
    std::chrono::steady_clock::time_point begin_, shown_;
};

} // namespace shard
