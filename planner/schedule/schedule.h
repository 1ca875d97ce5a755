// The schedule pass: local graph -> plan steps with arena offsets, aliases and exact peak.
#pragma once

#include "planner/partition/local.h"
#include "plans/plan/plan.h"

namespace shard {

// What the plan's numbers stand for in the local graph.
struct ScheduleMap {
    std::vector<std::vector<ValueId>> values; // by buffer: those that it holds, one after the other
    std::vector<NodeId> starts;               // by token
};

// Order (the local graph's), waits placed at the first use, releases at the last, lifetime-based offsets. Places of
// steps are named by `sources`.
Plan schedule(const Local& local, const Mesh& mesh, const Sources& sources = {}, ScheduleMap* map = nullptr);

// The same steps, which take the same time, with a place for each buffer that no other uses: to be priced, not to be run.
Plan schedule_without_places(const Local& local, const Mesh& mesh);

} // namespace shard
