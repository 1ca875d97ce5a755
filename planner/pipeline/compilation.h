// What a plan is asked for with, and everything that the passes make on the way to it.
#pragma once

#include "planner/model/model.h"
#include "planner/partition/local.h"
#include "planner/pipeline/attention_ways.h"
#include "planner/pipeline/joint_partition.h"
#include "planner/propagate/propagate.h"
#include "planner/rewrite/pad_uneven.h"
#include "planner/schedule/schedule.h"
#include "planner/text/allowances.h"
#include "plans/collective/hardware.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace shard {

struct PassDef;
std::span<const PassDef> all_passes(); // of planner/pipeline/passes.cpp

// Only values: a pass reads what concerns it.
struct PlanRequest {
    int model_file = -1, layout_file = -1; // in Sources
    std::string mode = "forward";
    std::optional<Mesh> mesh_override;              // run --verify plans the same model on one device
    std::vector<Span> without_constraints;          // planner/model/model.h
    std::optional<i64> most_layers;                 // likewise
    std::span<const PassDef> passes = all_passes(); // that are run, one after the other
    bool unimproved = false; // passes that only make plans better are left out, and no value is written over another
    bool checks = true;      // what passes promise is looked at
};

// Parts after the first error are empty. explain, show and tests look at them.
struct Compilation {
    std::optional<Model> model;
    std::optional<Layout> layout; // that is planned
    Mesh written_mesh;            // the file's
    MissingAxes written_missing_axes = MissingAxes::error;
    Allowances allowances;
    std::optional<Graph> graph;
    std::optional<Hardware> hardware;
    // For this mesh, hardware and what the layout prefers: plans that differ in other things share them (decisions_of).
    std::shared_ptr<ComputeDecisions> decisions;
    std::optional<Seeds> seeds;
    Padding padding; // of the graph's values
    std::optional<Propagation> propagation;
    std::vector<AttentionWays> attention_ways;       // of attention whose sequence is split, if any
    std::optional<PropagatedGraph> before_attention; // if any is: what they were chosen for
    std::optional<Partitioned> partitioned;          // with these shardings, if it was tried: for `partition`
    JointForms joint;                                // with which `local` is made
    std::optional<Local> local;
    ScheduleMap schedule;
    std::optional<Plan> plan;
    Diagnostics diagnostics;
    std::vector<double> seconds; // by pass that was run; never in what is printed on stdout
};

// Made when they are first asked for.
ComputeDecisions& decisions_of(Compilation& c);

} // namespace shard
