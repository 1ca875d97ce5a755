#include "planner/pipeline/joint_partition.h"

#include "planner/optimize/in_place.h"
#include "planner/optimize/optimize.h"
#include "planner/optimize/order_updates.h"
#include "planner/optimize/overlap.h"
#include "planner/partition/spread.h"
#include "planner/price/time_report.h"
#include "planner/schedule/schedule.h"

namespace shard {

namespace {

// A way that takes longer, or saves less than this share of a step, is not worth a plan that reads otherwise.
constexpr double least_gain = 0.01;

// As the passes that follow make it.
double step_seconds(Local local, const Layout& layout, const Hardware& hardware) {
    optimize(local);
    order_updates(local);
    overlap(local, layout.mesh, hardware, !layout.fsdp || layout.fsdp->prefetch);
    land_carried(local);
    land_updates(local);
    return time_of(schedule(local, layout.mesh), hardware).step_seconds;
}

class Tries {
public:
    Tries(const Graph& graph, const Layout& layout, const Hardware& hardware)
        : graph_(graph), layout_(layout), hardware_(hardware), decisions_(layout.mesh, hardware) {}

    struct Made {
        Partitioned partitioned;
        std::optional<double> seconds; // if anybody asked
    };

    Made alone(const Propagation& propagation) { // each op by itself
        return {{partition(graph_, propagation, decisions_), {}}, {}};
    }

    // `alone`, or what is faster together.
    Made together(Made alone, const Propagation& propagation) {
        JointForms joint = joint_forms(graph_, propagation, decisions_, alone.partitioned.local);
        if (joint.empty()) return alone;
        Local local = partition(graph_, propagation, decisions_, joint);
        Made made{{std::move(local), std::move(joint)}, {}};
        return seconds(made) < seconds(alone) ? std::move(made) : std::move(alone);
    }

    double seconds(Made& made) const {
        if (!made.seconds) made.seconds = step_seconds(made.partitioned.local, layout_, hardware_);
        return *made.seconds;
    }

private:
    const Graph& graph_;
    const Layout& layout_;
    const Hardware& hardware_;
    ComputeDecisions decisions_;
};

} // namespace

Partitioned partition_jointly(const Graph& graph, const Propagation& propagation, const Layout& layout,
                              const Hardware& hardware) {
    Tries tries(graph, layout, hardware);
    return tries.together(tries.alone(propagation), propagation).partitioned;
}

std::optional<Partitioned> spread_jointly(const Graph& graph, const Seeds& seeds, Propagation& propagation,
                                          const Layout& layout, const Hardware& hardware) {
    Tries tries(graph, layout, hardware);
    Tries::Made alone = tries.alone(propagation);
    std::vector<Propagation> ways = ways_to_spread(graph, seeds, propagation, alone.partitioned.local);
    if (ways.empty()) return std::nullopt;
    std::optional<Propagation> spread;
    std::optional<Tries::Made> spread_alone;
    for (Propagation& way : ways) {
        Tries::Made made = tries.alone(way);
        if (tries.seconds(made) >= tries.seconds(spread_alone ? *spread_alone : alone) * (1 - least_gain)) continue;
        spread_alone = std::move(made);
        spread = std::move(way);
    }
    Tries::Made best = tries.together(std::move(alone), propagation);
    if (spread) {
        Tries::Made made = tries.together(std::move(*spread_alone), *spread);
        if (tries.seconds(made) < tries.seconds(best) * (1 - least_gain)) {
            best = std::move(made);
            propagation = std::move(*spread);
        }
    }
    return std::move(best.partitioned);
}

} // namespace shard
