// Which tensor of the model a collective is for.
#include "tests/support/planned_case.h"

#include <doctest/doctest.h>

namespace shard {

TEST_CASE("a parameter that XLA gathers again for the backward pass is called by its name") {
    constexpr const char* eight_layers = R"(model: eight_layers
include: llama
axes: {batch: 8, length: 16, embed: 64, heads: 8, kv_heads: 8, kv: 8, mlp: 192}
inputs: {x: {axes: [batch, length, embed]}}
graph:
  - y: {repeat: llama_block, times: 8, in: x}
  - e: {mul: [y, y]}
outputs: [y]
train: {loss: {mean: e}, optimizer: {sgd: {learning_rate: 0.1}}}
)";
    const PlannedCase made(eight_layers,
                           "mesh: {data: 2, model: 4}\nrules: [{batch: data}, {mlp: model}, {heads: model}, "
                           "{kv_heads: model}]\nfsdp: {axis: data, min_size: 64}\npartitioner: xla\n",
                           "train");
    int gathered_weights = 0, again = 0;
    std::string before;
    for (const CollectiveReport& collective : made.compilation.plan->report.collectives) {
        const size_t ends = collective.cause.find(" is split over data along embed, but ");
        if (collective.kind != "all_gather" || ends == std::string::npos) continue;
        ++gathered_weights;
        if (before.find('\n' + collective.tensor + '\n') != std::string::npos) ++again;
        before += '\n' + collective.tensor + '\n';
        CHECK(collective.tensor == collective.cause.substr(0, ends));
    }
    CHECK(gathered_weights > 8 * 7);
    CHECK(again > 0);
}

} // namespace shard
