// `run --verify`: a plan is executed, and so is the same model on one device. Of a plan file nothing is believed but
// the texts inside it: they are compiled again, and what they give is the reference, with its outputs, its inputs'
// initial values and how far results may be off.
#pragma once

#include "cli/inputs/inputs.h"
#include "cli/run/run_report.h"
#include "executor/run/run.h"

namespace shard {

class Verification {
public:
    // Before the run. False, after printing why: the texts do not compile (any more); or the plan of a file is not the
    // one that this program makes of them, which is E0507 unless `other_plan` allows it, then W0501.
    bool prepare(const PlanSource& source, bool other_plan, Env& env);

    // Then: plans the reference; E0601 if there is not the memory to compare the run with it.
    void plan_reference(const Plan& plan, Diagnostics& diagnostics);

    // After the run: the reference makes the same steps from the same inputs. False if it could not.
    // What differs in narrow types is compared again in f64, which tells rounding from a wrong plan.
    bool compare(const RunOptions& options, RunReport& report, Env& env, Diagnostics& diagnostics) const;

private:
    void repeat_in_f64(const Plan& reference, RunOptions options, RunReport& report) const;

    Compiled again_;             // of a plan file
    const Plan* plan_ = nullptr; // what this program plans
    Compiled reference_;         // on one device
};

} // namespace shard
