// Ways to partition that are told apart by the step that they make, overlap included: ops that decide together
// (planner/partition/joint_forms.h) and each alone; values behind a sum whole, and split until an op needs them whole
// (planner/partition/spread.h).
#pragma once

#include "planner/model/layout.h"
#include "planner/partition/partition.h"
#include "planner/partition/spread.h"

namespace shard {

struct Partitioned {
    Local local;
    JointForms joint; // what was decided together for it
};

// Of a step: what the layout prefers to be little, and seconds.
struct StepCost {
    double preferred = 0, seconds = 0;
};
// `a` costs less by more than `gain`, or as much and takes less time by more than it.
bool costs_less(const StepCost& a, const StepCost& b, double gain);
// A way that saves less than this share is not worth a plan that reads otherwise.
inline constexpr double least_gain = 0.01;

// With these shardings, each op deciding alone: what the step costs, and the steps themselves, with places in memory and
// so a peak if it is asked for or counts.
struct PricedStep {
    StepCost cost;
    Plan plan;
};
PricedStep price_alone(const Graph& graph, const Propagation& propagation, const Layout& layout,
                       ComputeDecisions& decisions, bool with_places = false);

// What it costs if ops decide together too, where that costs less.
StepCost price_jointly(const Graph& graph, const Propagation& propagation, const Layout& layout,
                       ComputeDecisions& decisions);

// With these shardings. Deciding together never makes a plan that its own price says is slower.
Partitioned partition_jointly(const Graph& graph, const Propagation& propagation, const Layout& layout,
                              ComputeDecisions& decisions);

// What was found to be the best of them: what is split and how, and what is decided together.
struct SpreadChoice {
    SpreadRoots roots;
    std::optional<size_t> way; // as of spread_along; none: nothing is split
    JointForms joint;
};

// Splits what is faster so, in `propagation`, and partitions with it. `chosen`, if asked for, says how.
Partitioned spread_jointly(const Graph& graph, const Seeds& seeds, Propagation& propagation, const Layout& layout,
                           ComputeDecisions& decisions, SpreadChoice* chosen = nullptr);

// As was chosen, without a look at what it costs; nullopt: nothing can be split so.
std::optional<Partitioned> spread_as_chosen(const Graph& graph, const GraphFacts& facts, const Seeds& seeds,
                                            Propagation& propagation, ComputeDecisions& decisions, SpreadChoice choice);

} // namespace shard
