// What --verify compares.
#pragma once

#include "executor/run/run.h"

#include <optional>

namespace shard {

// Compares outputs of two runs of the same model over the same steps, and the scalars of every step; how far they may
// differ is in executor/verify/allowance.h, and follows from the reference alone, as does what there is to compare. Of
// steps that update inputs, the reference has to have been run with return_initial. Reports the first mismatch of an
// output (name, global index, both values, device that holds it) as a finding P02xx; nullopt if the two plans have
// other outputs. With the options that the reference was run with, it is run again if a result seems too far off, to
// see whether terms cancel in it.
struct Comparison {
    double max_absolute = 0;     // the largest difference of two elements
    double max_relative = 0;     // the same, as a share of what it is compared with: the largest magnitude or movement
    double allowed_relative = 0; // what max_relative may be
    i64 not_finite = 0;          // elements of the reference that are NaN or infinite: equal, but hardly what is wanted
    bool equal = false;
};
struct RunOf {
    const Plan& plan;
    const RunResult& result;
};
std::optional<Comparison> compare_results(const RunOf& run, const RunOf& reference, Diagnostics& diagnostics,
                                          const RunOptions* again = nullptr);
// The same of two plans in f64 (executor/verify/in_f64.h) whose like in narrower types were too far apart: what is
// rounding has gone, what is wrong has not.
std::optional<Comparison> compare_repeated(const RunOf& run, const RunOf& reference, Diagnostics& diagnostics,
                                           const RunOptions* again = nullptr);

// Both plans have inputs of the same names, types and roles, with the same values where none are given; else a finding
// P0202. Results say nothing about a plan that takes them by other names.
bool same_inputs(const Plan& plan, const Plan& reference, Diagnostics& diagnostics);

} // namespace shard
