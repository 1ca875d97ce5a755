#include "planner/pipeline/pipeline.h"

#include "planner/pipeline/passes.h"

#include <chrono>

namespace shard {

namespace {

bool is_open(const Compilation& c) {
    return c.layout && c.layout->fsdp && c.layout->fsdp->gather_again == GatherAgain::if_faster;
}

// Both ways of fsdp's gathers are planned: that which fits is taken, and of two that do the faster, by one percent if it
// keeps parameters whole.
Compilation compile_faster(Sources& sources, const PlanRequest& request, const Layout& layout) {
    PlanRequest each = request;
    each.layout = layout;
    each.layout->fsdp->gather_again = GatherAgain::yes;
    Compilation again = compile(sources, each);
    if (!again.plan) return again;
    each.layout->fsdp->gather_again = GatherAgain::no;
    Compilation once = compile(sources, each);
    if (!once.plan) return again;
    const auto fits = [](const Compilation& c) {
        const MemoryReport& memory = c.plan->report.memory;
        return memory.capacity == 0 || memory.peak <= memory.capacity;
    };
    const auto seconds = [](const Compilation& c) { return c.plan->report.time.step_seconds; };
    return fits(once) && seconds(once) < 0.99 * seconds(again) ? std::move(once) : std::move(again);
}

} // namespace

Compilation compile(Sources& sources, const PlanRequest& request) {
    using Clock = std::chrono::steady_clock;
    Compilation c;
    for (const PassDef& pass : request.passes) {
        const Clock::time_point start = Clock::now();
        pass.run(c, request, sources);
        c.seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
        if (c.diagnostics.has_error()) break;
        if (is_open(c)) return compile_faster(sources, request, *c.layout);
        if (request.checks && pass.check != nullptr) pass.check(c);
    }
    return c;
}

} // namespace shard
