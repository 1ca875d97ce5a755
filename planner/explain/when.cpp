#include "planner/explain/when.h"

#include "planner/price/time_report.h"

namespace shard {

std::vector<When> when_collectives_run(const Compilation& compilation) {
    const Plan& plan = *compilation.plan;
    const Phases phases(*compilation.graph);
    StepTime time = step_time(plan, *compilation.hardware);
    std::vector<When> out;
    for_each_step(plan, [&](const Step& step, i64) { // the order of the report
        const Start* start = std::get_if<Start>(&step.variant_ref());
        if (start == nullptr) return;
        const Node& node = compilation.local->graph.node(compilation.schedule.starts[start->token]);
        out.push_back({phases.of(node), time.waits[start->token], time.launches.at(start->token) == start->token});
    });
    return out;
}

} // namespace shard
