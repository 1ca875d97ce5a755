#include "planner/pipeline/joint_partition.h"

#include "planner/optimize/combine.h"
#include "planner/optimize/in_place.h"
#include "planner/optimize/offload.h"
#include "planner/optimize/optimize.h"
#include "planner/optimize/order_updates.h"
#include "planner/optimize/overlap.h"
#include "planner/partition/joint_chooser.h"
#include "planner/partition/partitioner.h"
#include "planner/partition/spread.h"
#include "planner/price/time_report.h"
#include "planner/schedule/schedule.h"
#include "plans/base/in_parallel.h"

namespace shard {

namespace {

// As the passes that follow make it.
PricedStep priced(Local local, const Layout& layout, const Hardware& hardware, bool with_places = false) {
    offload(local);
    optimize(local);
    order_updates(local);
    overlap(local, layout.mesh, hardware, !layout.fsdp || layout.fsdp->prefetch);
    combine(local, layout.mesh, hardware);
    land_carried(local);
    land_updates(local);
    PricedStep step;
    step.plan = with_places || layout.prefer == Prefer::memory ? schedule(local, layout.mesh)
                                                               : schedule_without_places(local, layout.mesh);
    const double seconds = time_of(step.plan, hardware).step_seconds;
    const auto preferred = [&] {
        switch (layout.prefer) {
        case Prefer::time:
            return seconds;
        case Prefer::bytes:
            return static_cast<double>(wire_bytes_of(step.plan));
        case Prefer::compute:
            return static_cast<double>(flops_of(step.plan));
        case Prefer::memory:
            return static_cast<double>(step.plan.peak_bytes);
        }
        internal_error("an unknown preference");
    };
    step.cost = {preferred(), seconds};
    return step;
}

class Tries {
public:
    Tries(const Graph& graph, const GraphFacts& facts, const Layout& layout, ComputeDecisions& decisions)
        : graph_(graph), facts_(facts), layout_(layout), numbered_(decisions) {}

    struct Made {
        Partitioned partitioned;
        std::optional<StepCost> cost; // if anybody asked
    };

    Made alone(const Propagation& propagation) { // each op by itself
        return {{partition(graph_, facts_, propagation, numbered_, {}), {}}, {}};
    }

    // `alone`, or what costs less together.
    Made together(Made alone, const Propagation& propagation) {
        JointForms joint = joint_forms(graph_, facts_, propagation, numbered_, alone.partitioned.local);
        if (joint.empty()) return alone;
        Local local = partition(graph_, facts_, propagation, numbered_, joint);
        Made made{{std::move(local), std::move(joint)}, {}};
        return costs_less(cost(made), cost(alone), 0) ? std::move(made) : std::move(alone);
    }

    const StepCost& cost(Made& made) {
        if (!made.cost) made.cost = priced(made.partitioned.local, layout_, numbered_.decisions().hardware()).cost;
        return *made.cost;
    }

private:
    const Graph& graph_;
    const GraphFacts& facts_;
    const Layout& layout_;
    NumberedDecisions numbered_;
};

} // namespace

bool costs_less(const StepCost& a, const StepCost& b, double gain) {
    if (a.preferred < b.preferred * (1 - gain)) return true;
    return a.preferred <= b.preferred && a.seconds < b.seconds * (1 - gain);
}

PricedStep price_alone(const Graph& graph, const Propagation& propagation, const Layout& layout,
                       ComputeDecisions& decisions, bool with_places) {
    const GraphFacts facts(graph);
    Tries tries(graph, facts, layout, decisions);
    return priced(tries.alone(propagation).partitioned.local, layout, decisions.hardware(), with_places);
}

StepCost price_jointly(const Graph& graph, const Propagation& propagation, const Layout& layout,
                       ComputeDecisions& decisions) {
    const GraphFacts facts(graph);
    Tries tries(graph, facts, layout, decisions);
    Tries::Made made = tries.together(tries.alone(propagation), propagation);
    return tries.cost(made);
}

Partitioned partition_jointly(const Graph& graph, const Propagation& propagation, const Layout& layout,
                              ComputeDecisions& decisions) {
    const GraphFacts facts(graph);
    Tries tries(graph, facts, layout, decisions);
    Tries::Made alone = tries.alone(propagation);
    if (layout.partitioner == Partitioner::xla) return std::move(alone.partitioned);
    return tries.together(std::move(alone), propagation).partitioned;
}

Partitioned spread_jointly(const Graph& graph, const Seeds& seeds, Propagation& propagation, const Layout& layout,
                           ComputeDecisions& decisions, SpreadChoice* chosen) {
    const GraphFacts facts(graph);
    Tries tries(graph, facts, layout, decisions);
    Tries::Made alone = tries.alone(propagation);
    SpreadRoots roots = roots_to_spread(graph, facts, alone.partitioned.local);
    const auto choose = [&](Partitioned made, std::optional<size_t> way) {
        if (chosen != nullptr) *chosen = {std::move(roots), way, made.joint};
        return made;
    };
    // As it is and spread, side by side: each with numbers of its own.
    Tries tries_spread(graph, facts, layout, decisions);
    std::optional<Propagation> spread; // by the first way that gains: along other dims as much is saved
    Tries::Made spread_alone;
    size_t way = 0;
    for (; way < ways_to_spread; ++way) {
        spread = spread_along(graph, facts, seeds, propagation, roots, way);
        if (!spread) continue;
        in_parallel(2, [&](size_t i) {
            if (i == 1) spread_alone = tries_spread.alone(*spread);
            tries.cost(i == 0 ? alone : spread_alone);
        });
        if (costs_less(tries.cost(spread_alone), tries.cost(alone), least_gain)) break;
        spread.reset();
    }
    if (!spread) return choose(tries.together(std::move(alone), propagation).partitioned, std::nullopt);
    Tries::Made as_it_is, is_spread;
    in_parallel(2, [&](size_t i) {
        Tries::Made& made = i == 0 ? as_it_is : is_spread;
        made = i == 0 ? tries.together(std::move(alone), propagation)
                      : tries_spread.together(std::move(spread_alone), *spread);
        tries.cost(made);
    });
    if (!costs_less(tries.cost(is_spread), tries.cost(as_it_is), least_gain))
        return choose(std::move(as_it_is.partitioned), std::nullopt);
    propagation = std::move(*spread);
    return choose(std::move(is_spread.partitioned), way);
}

std::optional<Partitioned> spread_as_chosen(const Graph& graph, const GraphFacts& facts, const Seeds& seeds,
                                            Propagation& propagation, ComputeDecisions& decisions,
                                            SpreadChoice choice) {
    if (choice.way) {
        std::optional<Propagation> spread = spread_along(graph, facts, seeds, propagation, choice.roots, *choice.way);
        if (!spread) return std::nullopt;
        propagation = std::move(*spread);
    }
    NumberedDecisions numbered(decisions);
    Local local = partition(graph, facts, propagation, numbered, choice.joint);
    return Partitioned{std::move(local), std::move(choice.joint)};
}

} // namespace shard
