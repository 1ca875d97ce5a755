// Numbers that are added up are added in groups by the axes over which devices have parts of them.
#include "tests/support/prove.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {
namespace {

const std::string layout = "mesh: {data: 2, model: 4}\nrules: [{d: data}, {m: model}]\nhardware: h100\n";

// a, c over data, b, d over model, e on no axis, all small: each alone would be gathered.
std::string model(const std::string& graph) {
    return fmt::format("model: sums\naxes: {{d: 16, m: 16, n: 8}}\ninputs:\n"
                       "  a: {{axes: [d, n]}}\n  b: {{axes: [m, n]}}\n  c: {{axes: [n, d]}}\n  d: {{axes: [n, m]}}\n"
                       "  e: {{axes: [n]}}\ngraph:\n{}outputs: [y]\n",
                       graph);
}

// "all_reduce over data", in order; the plan is proved.
std::vector<std::string> collectives(const std::string& graph) {
    Sources sources;
    PlanRequest request;
    request.model_file = sources.add("model.yaml", model(graph));
    request.layout_file = sources.add("layout.yaml", layout);
    const Compilation compilation = compile(sources, request);
    INFO(text_of(sources, compilation.diagnostics));
    REQUIRE(compilation.plan.has_value());
    const std::vector<std::string> problems = prove(sources, request, compilation, {});
    CHECK_MESSAGE(problems.empty(), fmt::format("{}", fmt::join(problems, "\n")));
    std::vector<std::string> made;
    for (const CollectiveReport& collective : compilation.plan->report.collectives)
        made.push_back(fmt::format("{} over {}", collective.kind, text(compilation.plan->mesh, collective.axes)));
    return made;
}

using Collectives = std::vector<std::string>;

} // namespace

TEST_CASE("a norm of values that are split over different axes takes one all_reduce for each set of axes") {
    CHECK(collectives("  - y: {global_norm: [a, b, c, d, e]}\n") ==
          Collectives{"all_reduce over data", "all_reduce over model"});
    CHECK(collectives("  - y: {global_norm: [b, e, a, d, c]}\n") ==
          Collectives{"all_reduce over model", "all_reduce over data"});
}

TEST_CASE("a sum on the way that has a name is what its name says") {
    // s is of a and b, whatever they are split over.
    const std::string sums = "  - p: {reduce_sum: a}\n  - q: {reduce_sum: b}\n  - r: {reduce_sum: c}\n"
                             "  - t: {reduce_sum: d}\n  - s: {add: [p, q]}\n  - u: {add: [s, r]}\n";
    CHECK(collectives(sums + "  - y: {add: [u, t]}\n").size() == 4);
}

} // namespace shard
