// What would make a tensor's collectives go? Found by experiment: the model is planned again with one constraint,
// override or rule dropped or changed, which takes milliseconds, and the plans are compared. Order and number of
// experiments depend on the input alone.
#pragma once

#include "planner/explain/trials.h"

#include <map>

namespace shard {

struct Experiment {
    std::string change;                                       // "without the constraint at model.yaml:12"
    i64 collectives = 0, wire_bytes_per_device = 0, peak = 0; // of the whole plan with the change
    double step_seconds = 0;
    i64 touching = 0, touching_bytes = 0; // of collectives for the tensor asked about
    std::map<std::string, i64> kinds;     // collectives by kind
};

// On the device, or the smaller one (few_layers.h), that the plan without a change is for.
bool fits_where(const Report& report, const Report& base);

// The figures of a plan as it is, in the same form.
Experiment figures_of(const Report& report, const std::string& tensor);

// By how much the numbers of collectives of a kind differ, without those that do not.
std::map<std::string, i64> kind_changes(const Experiment& experiment, const Experiment& base);

// Of changes that were tried those that make the tensor's collectives fewer or cheaper, and how; best first by the
// planner's objective: step time, bytes, collectives. Of those with the same figures the first. What takes far longer since
// devices compute what others do, or does not fit any more, is left out where something else helps.
struct Help {
    size_t change = 0; // which one
    Experiment experiment;
};
std::vector<Help> changes_that_help(const Report& base, std::span<const Change> changes,
                                    std::span<const std::optional<Report>> tried, const std::string& tensor);

} // namespace shard
