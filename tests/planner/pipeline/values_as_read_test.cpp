// What is made of values on their way to a product lies as the product reads it, where that is faster.
#include "tests/support/planned_case.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace shard {
namespace {

// Two heads of keys, each copied for two heads of queries, and padded from 8 places to 64.
constexpr const char* grouped = R"(model: grouped
axes: {batch: 4, length: 8, embed: 16}
inputs: {x: {axes: [batch, length, embed]}, g: {shape: [4, 4]}}
params: {wk: {shape: [16, 16]}}
graph:
  - k: {dot: [x, wk]}
  - k: {reshape: k, shape: [4, 8, 2, 8]}
  - k: {broadcast: k, shape: [4, 8, 2, 2, 8], dims: [0, 1, 2, 4]}
  - k: {reshape: k, shape: [4, 8, 4, 8]}
  - k: {pad: k, dim: 1, low: 0, high: 56}
  - k: {mul: [k, 0.5]}
  - s: {einsum: "blhk,bmhk->bhlm", in: [k, k]}
  - s: {mul: [s, {reshape: g, shape: [4, 4, 1, 1]}]}
outputs: [s]
train: {loss: {mean: s}, optimizer: {sgd: {learning_rate: 0.1}}}
)";
constexpr const char* over_heads = "mesh: {data: 2, model: 4}\nrules: [{batch: data}]\nparams: {wk: [~, model]}\n"
                                   "inputs: {g: [data, model]}\n";

struct Planned : PlannedCase {
    explicit Planned(const std::string& layout, const std::string& mode = "forward", bool unimproved = false,
                     const std::string& model = grouped)
        : PlannedCase(model, layout, mode, unimproved) {}

    i64 values_as_read() const {
        const DecisionLog& log = compilation.propagation->log;
        return std::count_if(log.begin(), log.end(),
                             [](const Decision& decision) { return decision.cause == Decision::Cause::read; });
    }
};

} // namespace

TEST_CASE("copies of heads lie as the product reads them: what they are copies of is sent, and no padding") {
    // Of 2 examples, 8 places, 1 head and 4 numbers the half, twice over: as of 64 places it would be eight times as much.
    Planned made(over_heads);
    CHECK(made.values_as_read() > 0);
    CHECK(made.sent == 2 * 8 * 4 * 4);
    CHECK(Planned(over_heads, "forward", true).sent == 8 * made.sent);
    made.check_proof();
}

TEST_CASE("a step whose values lie as they are read is that of one device, and sends less") {
    Planned made(over_heads, "train");
    CHECK(4 * made.sent < Planned(over_heads, "train", true).sent);
    made.check_proof();
}

TEST_CASE("what a value is made of is followed through any number of ops") {
    const std::string text = grouped, one = "  - k: {mul: [k, 0.5]}\n";
    std::string many;
    for (int n = 0; n < 40000; ++n) many += one;
    const size_t at = text.find(one);
    const Planned made(over_heads, "forward", false, text.substr(0, at) + many + text.substr(at + one.size()));
    CHECK(made.values_as_read() > 40000);
    CHECK(made.sent == 2 * 8 * 4 * 4);
}

TEST_CASE("values that lie as they are read anyway, and what a layout says of, stay as they are") {
    CHECK(Planned("mesh: {data: 2, model: 4}\nrules: [{batch: data}]\n").values_as_read() == 0);
    const Planned asked(over_heads + std::string("values: {k: [data, ~, \"model:(1)2\", \"model:(2)2\"]}\n"));
    CHECK(asked.values_as_read() == 0);
    CHECK(asked.sent > 8 * 256 - 1);
}

} // namespace shard
