// Sentences that say why a collective is there, held to what they claim.
#include "planner/explain/explanation.h"
#include "planner/pipeline/pipeline.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace shard {
namespace {

// Heads are split over model, and summed over by the projection.
constexpr const char* projection = R"(model: projection
axes: {batch: 8, length: 64, heads: 8, kv: 8, embed: 512}
inputs: {o: {axes: [batch, length, heads, kv]}}
params: {wo: {axes: [heads, kv, embed]}}
graph:
  - y: {einsum: "sphk,hkd->spd", in: [o, wo]}
outputs: [y]
)";

struct Planned {
    Sources sources;
    Compilation compilation;

    explicit Planned(const std::string& layout) {
        PlanRequest request;
        request.model_file = sources.add("model.yaml", projection);
        request.layout_file = sources.add("layout.yaml", layout);
        compilation = compile(sources, request);
        REQUIRE(compilation.plan);
    }
    std::string causes() const {
        std::string all;
        for (const CollectiveReport& collective : compilation.plan->report.collectives) all += collective.cause + "\n";
        return all;
    }
    double seconds() const { return compilation.plan->report.time.step_seconds; }
};

const std::string layout = "mesh: {model: 8}\nrules: [{heads: model}]\n";

} // namespace

TEST_CASE("an operand that could be read split is gathered since combining partial results costs more: it does") {
    const Planned gathered(layout), summed(layout + "prefer: compute\n");
    CHECK(gathered.causes() ==
          "o is split over model along heads, but einsum reads it whole, since combining partial results over model "
          "would cost more\n"
          "wo is split over model along heads, but einsum reads it whole, since combining partial results over model "
          "would cost more\n");
    CHECK(summed.causes() == "the contraction over heads is split over model, so each device holds a partial sum\n");
    CHECK(gathered.seconds() < summed.seconds());
}

TEST_CASE("as XLA's partitioner goes nothing is said of prices") {
    CHECK(Planned(layout + "partitioner: xla\n").causes().find("would cost more") == std::string::npos);
}

} // namespace shard
