// `plan --set batch=64,128`: the model and the layout planned with each choice of the values, a row for each.
#pragma once

#include "cli/inputs/inputs.h"
#include "cli/report/sweep_report.h"

namespace shard {

// What is planned many times, with the plans that failed: their texts are what errors point into.
class SweepPlans {
public:
    SweepPlans(const Arguments& arguments, Env& env);

    // With these settings, "batch=128". What failed stays here where `is_wanted`, to be said at the end.
    struct Planned {
        SweepRow row;
        Compiled compiled; // without its plan, which the row has
    };
    Planned plan(const std::vector<std::string>& settings) const;
    void keep_failure(Planned& planned); // nothing if it has a plan

    // Writes the rows and what failed; the exit code, which is `code` at least.
    int write(const Sweep& sweep, int code);

private:
    const Arguments& arguments_;
    Env& env_;
    LoadedModel model_;
    LoadedText layout_;
    std::vector<Compiled> failed_;
};

// Refuses what is of one plan; `why` there are several: "--set gives several values". False then.
bool may_plan_many(const Arguments& arguments, Env& env, std::string_view why);
// nullopt after E0701.
std::optional<std::vector<std::vector<std::string>>> choices_of(const Arguments& arguments, Env& env);
// Names and values of settings.
std::vector<std::string> names_of(const std::vector<std::string>& settings);
std::vector<std::string> values_of(const std::vector<std::string>& settings);

int run_sweep(const Arguments& arguments, Env& env); // the exit code: the worst of all

} // namespace shard
