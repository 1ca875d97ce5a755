#include "planner/pipeline/joint_partition.h"

#include "planner/optimize/in_place.h"
#include "planner/optimize/optimize.h"
#include "planner/optimize/order_updates.h"
#include "planner/price/time_report.h"
#include "planner/schedule/schedule.h"

namespace shard {

namespace {

// As the passes that follow make it.
double step_seconds(Local local, const Mesh& mesh, const Hardware& hardware) {
    optimize(local);
    order_updates(local);
    land_carried(local);
    land_updates(local);
    return time_of(schedule(local, mesh), hardware).step_seconds;
}

} // namespace

Local partition_jointly(const Graph& graph, const Propagation& propagation, const Mesh& mesh, const Hardware& hardware,
                        JointForms& joint) {
    ComputeDecisions decisions(mesh, hardware);
    Local alone = partition(graph, propagation, decisions);
    joint = joint_forms(graph, propagation, decisions, alone);
    if (joint.empty()) return alone;
    Local together = partition(graph, propagation, decisions, joint);
    if (step_seconds(together, mesh, hardware) < step_seconds(alone, mesh, hardware)) return together;
    joint = {};
    return alone;
}

} // namespace shard
