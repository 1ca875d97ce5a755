#include "planner/pipeline/pipeline.h"

#include "planner/pipeline/passes.h"

#include <chrono>

namespace shard {

Compilation compile(Sources& sources, const PlanRequest& request) {
    using Clock = std::chrono::steady_clock;
    Compilation c;
    for (const PassDef& pass : request.passes) {
        const Clock::time_point start = Clock::now();
        pass.run(c, request, sources);
        c.seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
        if (c.diagnostics.has_error()) break;
        if (pass.check != nullptr) pass.check(c);
    }
    return c;
}

} // namespace shard
