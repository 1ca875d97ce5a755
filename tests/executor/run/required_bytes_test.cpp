// What a run takes is known before it begins, so that what does not fit is refused and not killed.
#include "executor/run/required_bytes.h"

#include "executor/devices/arenas.h"
#include "executor/run/run.h"
#include "executor/verify/compare.h"
#include "planner/pipeline/pipeline.h"
#include "tests/support/allocations.h"
#include "tests/support/prove.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {

TEST_CASE("what comparing a run takes is known before, forward and in training") {
    for (const std::string mode : {"forward", "train"})
        for (const std::string optimizer : {"sgd: {learning_rate: 0.1}", "adam: {learning_rate: 0.001}"}) {
            CAPTURE(mode + ", " + optimizer);
            Sources sources;
            PlanRequest request;
            request.model_file = sources.add(
                "model.yaml",
                fmt::format("model: wide\naxes: {{b: 256, e: 1024}}\ninputs: {{x: {{axes: [b, e]}}}}\n"
                            "params: {{w: {{axes: [b, e]}}}}\n"
                            "graph: [{{z: {{add: [x, w]}}}}, {{l: {{mean: {{square: z}}}}}}]\noutputs: [z]\n"
                            "train: {{loss: l, optimizer: {{{}}}}}\n",
                            optimizer));
            request.layout_file = sources.add("layout.yaml", "mesh: {d: 2}\nrules: [{b: d}]\n");
            request.mode = mode;
            const Compilation made = compile(sources, request);
            request.mesh_override = Mesh{};
            const Compilation single = compile(sources, request);
            INFO(text_of(sources, made.diagnostics));
            REQUIRE(made.plan);
            REQUIRE(single.plan);
            const i64 arena = Arenas::total_bytes(1, memory_bytes(*single.plan));
            RunOptions options;
            options.workers = 1;
            Diagnostics diagnostics;
            const CountAllocations count; // arenas are not among them
            const std::optional<RunResult> result = run_plan(*made.plan, options, diagnostics);
            options.return_initial = true;
            const std::optional<RunResult> expected = run_plan(*single.plan, options, diagnostics);
            REQUIRE(result);
            REQUIRE(expected);
            const auto comparison =
                compare_results({*made.plan, *result}, {*single.plan, *expected}, diagnostics, &options);
            REQUIRE(comparison);
            CHECK(comparison->equal);
            const i64 known = verified_bytes(*made.plan, *single.plan);
            CHECK(count.most_bytes() <= known + 65536); // names and lists
            CHECK(count.most_bytes() + arena > known / 2);
        }
}

} // namespace shard
