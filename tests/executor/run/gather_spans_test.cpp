// What each device did when, whatever process it is in.
#include "executor/run/gather_spans.h"
#include "tests/support/plan_builder.h"
#include "tests/support/plan_verdict.h"
#include "tests/support/sample_plan.h"
#include "tests/support/thread_ranks.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace shard {

namespace {

std::vector<int> steps_of(const std::vector<RunSpan>& device) {
    std::vector<int> steps;
    for (const RunSpan& span : device) steps.push_back(span.step);
    return steps;
}

} // namespace

TEST_CASE("spans of all devices come to the first rank, in the order of positions, by one clock") {
    const Plan plan = updating_plan();
    RunOptions options;
    options.steps = 2;
    options.timed = true;
    int collectives = 0;
    const RunResult alone = run_clean(plan, options);
    REQUIRE(alone.spans.size() == static_cast<size_t>(plan.mesh.device_count()));
    for (const int count : {1, 2}) {
        CAPTURE(count);
        const RunResult together = run_on_thread_ranks(plan, options, count);
        REQUIRE(together.spans.size() == alone.spans.size());
        double first = 1e9;
        for (size_t device = 0; device < alone.spans.size(); ++device) {
            CHECK(steps_of(together.spans[device]) == steps_of(alone.spans[device]));
            for (const RunSpan& span : together.spans[device]) {
                CHECK(span.begin >= 0);
                CHECK(span.end >= span.begin);
                first = std::min(first, span.begin);
            }
        }
        CHECK(first < 1); // the first device begins at 0
        // Nobody has the result of a collective before all have come to it.
        for (size_t step = 0; step < plan.steps.size(); ++step) {
            const Wait* const wait = std::get_if<Wait>(&plan.steps[step].variant_ref());
            if (wait == nullptr) continue;
            double last_begin = 0, first_end = 1e9;
            for (const std::vector<RunSpan>& device : together.spans)
                for (const RunSpan& span : device) {
                    const Start* const start =
                        std::get_if<Start>(&plan.steps[static_cast<size_t>(span.step)].variant_ref());
                    if (start != nullptr && start->token == wait->token) last_begin = std::max(last_begin, span.begin);
                    if (span.step == static_cast<int>(step)) first_end = std::min(first_end, span.end);
                }
            CHECK(first_end >= last_begin);
            ++collectives;
        }
    }
    CHECK(collectives == 4); // two of them, twice
}

} // namespace shard
