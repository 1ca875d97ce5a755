#include "planner/pipeline/pipeline.h"

#include "planner/pipeline/passes.h"
#include "plans/plan/report_totals.h"

#include <algorithm>
#include <chrono>

namespace shard {

namespace {

// A promise that the next pass gives too is looked at once, after that; builds for who works on passes look after each.
bool is_due(const PassDef& pass, [[maybe_unused]] const PlanRequest& request) {
    if (pass.check == nullptr || !request.checks) return false;
#ifdef SHARDC_CHECK_EACH_PASS
    return true;
#else
    return &pass == &request.passes.back() || (&pass)[1].check != pass.check;
#endif
}

bool fits(const Compilation& c) { return shard::fits(c.plan->report.memory); }

double seconds(const Compilation& c) { return c.plan->report.time.step_seconds; }

} // namespace

std::span<const PassDef> passes_before(std::string_view name, const PlanRequest& request) {
    const auto is_it = [name](const PassDef& pass) { return pass.name == name; };
    const auto found = std::find_if(request.passes.begin(), request.passes.end(), is_it);
    return request.passes.first(static_cast<size_t>(found - request.passes.begin()));
}

void run_passes(Compilation& c, std::span<const PassDef> passes, const PlanRequest& request, Sources& sources) {
    using Clock = std::chrono::steady_clock;
    for (const PassDef& pass : passes) {
        if (c.diagnostics.has_error()) return;
        const Clock::time_point start = Clock::now();
        if (!request.unimproved || !pass.only_improves) pass.run(c, request, sources);
        c.seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
        if (!c.diagnostics.has_error() && is_due(pass, request)) pass.check(c);
    }
}

std::vector<Compilation> ways_of(Compilation begun) {
    const bool is_open =
        begun.layout && begun.layout->fsdp && begun.layout->fsdp->gather_again == GatherAgain::if_faster;
    std::vector<Compilation> ways;
    if (begun.layout && begun.hardware) decisions_of(begun);
    if (is_open) {
        begun.layout->fsdp->gather_again = GatherAgain::yes;
        ways.push_back(begun);
        begun.layout->fsdp->gather_again = GatherAgain::no;
    }
    ways.push_back(std::move(begun));
    return ways;
}

Compilation best_of(std::vector<Compilation> ways) {
    Compilation best = std::move(ways[0]);
    for (size_t i = 1; i < ways.size(); ++i)
        if (best.plan && ways[i].plan && fits(ways[i]) && seconds(ways[i]) < 0.99 * seconds(best))
            best = std::move(ways[i]);
    return best;
}

Compilation compile(Sources& sources, const PlanRequest& request) {
    Compilation begun;
    run_passes(begun, passes_before("seed", request), request, sources);
    return compile_rest(std::move(begun), request, sources);
}

Compilation compile_rest(Compilation begun, const PlanRequest& request, Sources& sources) {
    const std::span<const PassDef> rest = request.passes.subspan(passes_before("seed", request).size());
    std::vector<Compilation> ways = ways_of(std::move(begun));
    for (Compilation& way : ways) run_passes(way, rest, request, sources);
    return best_of(std::move(ways));
}

} // namespace shard
