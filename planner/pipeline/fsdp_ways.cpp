#include "planner/pipeline/fsdp_ways.h"

#include "planner/pipeline/joint_partition.h"
#include "planner/rewrite/gather_parameters.h"
#include "planner/rewrite/join_moves.h"
#include "planner/rewrite/outweighing.h"

namespace shard {

namespace {

// Parameters that are not gathered; `lead`: what meets them is split as they are, as if rules had split them.
struct LeftSplit {
    std::vector<ValueId> parameters;
    bool lead = false;
};

void leave_split(Seeds& seeds, const LeftSplit& left) {
    for (const ValueId id : left.parameters) {
        seeds.gathered[static_cast<size_t>(id)].reset();
        if (!left.lead) continue;
        for (DimSharding& dim : seeds.values[static_cast<size_t>(id)]->dims)
            if (dim.priority == storage_priority) dim.priority = 0;
    }
}

// As the passes that follow make it.
StepCost cost_with(Compilation& c, const LeftSplit& left) {
    Graph graph = *c.graph;
    Seeds seeds = *c.seeds;
    leave_split(seeds, left);
    gather_parameters(graph, *c.layout, seeds);
    join_moves(graph, seeds);
    return price_alone(graph, propagate(graph, c.layout->mesh, seeds), *c.layout, decisions_of(c)).cost;
}

} // namespace

void gather_or_leave_split(Compilation& c) {
    LeftSplit best;
    if (c.layout->fsdp && c.layout->fsdp->gather == GatherParameters::if_faster) {
        const std::vector<ValueId> parameters = outweighing_parameters(*c.graph, *c.seeds);
        std::optional<StepCost> least;
        for (const LeftSplit& way : {LeftSplit{}, LeftSplit{parameters, false}, LeftSplit{parameters, true}}) {
            if (parameters.empty()) break;
            const StepCost cost = cost_with(c, way);
            if (least && !costs_less(cost, *least, least_gain)) continue;
            least = cost;
            best = way;
        }
    }
    leave_split(*c.seeds, best);
    gather_parameters(*c.graph, *c.layout, *c.seeds);
}

} // namespace shard
