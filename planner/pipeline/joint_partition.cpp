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

#include <mutex>

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
        Made made{{{}, std::move(joint)}, {}};
        in_parallel(alone.cost ? 1 : 2, [&](size_t i) {
            if (i == 0)
                made.partitioned.local = partition(graph_, facts_, propagation, numbered_, made.partitioned.joint);
            cost(i == 0 ? made : alone);
        });
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
    if (roots.values.empty()) return choose(tries.together(std::move(alone), propagation).partitioned, std::nullopt);
    // As it is and spread, side by side: each with numbers of its own. What it costs with each op deciding alone both ask
    // for, and whoever comes first finds out.
    StepCost of_alone;
    std::once_flag is_alone_priced;
    const auto cost_alone = [&] {
        std::call_once(is_alone_priced, [&] { of_alone = tries.cost(alone); });
        return of_alone;
    };
    Tries tries_spread(graph, facts, layout, decisions);
    std::optional<Propagation> spread; // by the first way that gains: along other dims as much is saved
    size_t way = 0;
    Tries::Made as_it_is, is_spread;
    const auto plan_spread = [&] {
        for (; way < ways_to_spread; ++way) {
            spread = spread_along(graph, facts, seeds, propagation, roots, way);
            if (!spread) continue;
            is_spread = tries_spread.alone(*spread);
            if (costs_less(tries_spread.cost(is_spread), cost_alone(), least_gain)) break;
            spread.reset();
        }
        if (!spread) return;
        is_spread = tries_spread.together(std::move(is_spread), *spread);
        tries_spread.cost(is_spread);
    };
    in_parallel(2, [&](size_t i) {
        if (i == 1) return plan_spread();
        cost_alone();
        as_it_is = tries.together(std::move(alone), propagation);
    });
    if (!spread || !costs_less(tries.cost(is_spread), tries.cost(as_it_is), least_gain))
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
