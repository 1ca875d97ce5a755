#include "planner/pipeline/pipeline.h"
#include "tests/support/model_harness.h"
#include "tests/support/reading.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace shard {
namespace {

// What is said of microbatches of a batch over 8 devices.
std::string lint(int batch, int microbatches, const std::string& rules = "[{batch: data}, {in: ~}, {out: ~}]",
                 const std::string& comment = "") {
    const std::string model =
        fmt::format("model: m\naxes: {{batch: {}, in: 4, out: 4}}\ninputs: {{x: {{axes: [batch, in]}}}}\n"
                    "params: {{w: {{axes: [in, out]}}}}\ngraph: [{{y: {{dot: [x, w]}}}}]\n"
                    "outputs: [y]\ntrain:\n  loss: {{mean: y}}\n"
                    "  optimizer: {{sgd: {{learning_rate: 0.1}}}}\n{}"
                    "  microbatches: {}\n",
                    batch, comment, microbatches);
    Sources sources;
    PlanRequest request;
    request.mode = "train";
    request.model_file = sources.add("model.yaml", model);
    request.layout_file = sources.add("layout.yaml", "mesh: {data: 8}\nsemantics: linen\nrules: " + rules + "\n");
    return report_text(compile(sources, request).diagnostics);
}

} // namespace

TEST_CASE("microbatches of fewer rows than devices are said") {
    CHECK(lint(64, 8) == "");
    CHECK(lint(8, 4) ==
          "W0312 10:17+1 a microbatch has 2 rows of 'batch' for 8 devices along data: 4 of them compute the "
          "same\n  help 8 rows are shared out evenly by microbatches: 1; 4 microbatches take a multiple "
          "of 32 rows\n");
    CHECK(lint(32, 8).find("4 rows of 'batch' for 8 devices along data: 2 of them compute the same\n  help 32 rows are "
                           "shared out evenly by microbatches: 1 or 2 or 4; 8 microbatches take a multiple of 64 "
                           "rows\n") != std::string::npos);
    CHECK(lint(96, 8).find("12 rows of 'batch' for 8 devices along data: 2 of them") != std::string::npos);
    CHECK(lint(8, 4, "[{batch: ~}, {in: ~}, {out: ~}]") == "");
    CHECK(lint(8, 4, "[{batch: data}, {in: ~}, {out: ~}]", "  # shardc: allow W0312 only tried\n") == "");
}

} // namespace shard
