// The whole planner as one function: read, build, seed, propagate, partition, optimize, schedule, price, judge.
#pragma once

#include "planner/partition/local.h"
#include "planner/schedule/schedule.h"

#include <functional>

namespace shard {

struct PlanRequest {
    int model_file = -1, layout_file = -1; // in Sources
    std::string mode = "forward";
    std::optional<Mesh> mesh_override; // run --verify plans the same model on one device
    // explain finds remedies by experiment: what to change in the built graph and the layout before shardings are
    // seeded
    std::function<void(Graph&, Layout&)> edit;
};

// Everything that was made on the way; explain, show and tests look at the parts. Parts after the first error are
// empty.
struct Compilation {
    std::optional<Model> model;
    std::optional<Layout> layout;
    std::optional<Graph> graph;
    std::optional<Hardware> hardware;
    std::optional<Seeds> seeds;
    std::optional<Propagation> propagation;
    std::optional<Local> local;
    std::optional<Plan> plan;
    Diagnostics diagnostics;
};

Compilation compile(Sources& sources, const PlanRequest& request);

} // namespace shard
