// Where gradients are reduced: of parameters in mixed precision before they are converted, in loops too, unless they are
// added up first. The bytes are counted by hand.
#include "tests/support/prove.h"
#include "tests/support/steps.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {

namespace {

// Three layers of 32 x 32 and nothing else, computed in bf16.
std::string layers(const std::string& train = {}, const std::string& repeat = "scan: true, axis: layers") {
    return fmt::format(R"(model: mixed
axes: {{batch: 64, embed: 32}}
precision: {{compute: bf16}}
inputs: {{x: {{axes: [batch, embed], init: normal}}}}
modules:
  block:
    inputs: [x]
    params: {{w: {{axes: [embed, ~], shape: [embed, embed]}}}}
    graph: [{{y: {{dot: [x, w]}}}}, {{x: {{tanh: y}}}}]
    outputs: [x]
graph:
  - x: {{repeat: block, times: 3, in: x, {}}}
  - x: {{cast: x, dtype: f32}}
  - loss: {{mean: {{mul: [x, x]}}}}
outputs: [loss]
train:
  loss: loss
  optimizer: {{adam: {{learning_rate: 0.01}}}}
{})",
                       repeat, train);
}

const std::string dp = "mesh: {data: 8}\nrules: [{batch: data}, {embed: ~}]\n";
const std::string fsdp = dp + "fsdp: {axis: data, min_size: 16}\n";
const std::string zero1 = dp + "states: {\"block.w.*\": [~, data, ~]}\n";
constexpr i64 elements = 3 * 32 * 32;

// What all devices send together of gradients of w, by kind.
std::map<std::string, i64> sent(const std::string& model, const std::string& layout) {
    std::map<std::string, i64> bytes;
    for (const CollectiveReport& collective : train_plan(model, layout).report.collectives)
        if (collective.tensor.find("grad") != std::string::npos && collective.wire_bytes_total > 1000)
            bytes[collective.kind] += collective.wire_bytes_total;
    return bytes;
}

std::string proved(const std::string& model, const std::string& layout) {
    ProofOptions options;
    options.mode = "train";
    options.steps = 3;
    return fmt::format("{}", fmt::join(prove(model, layout, options), "\n"));
}

} // namespace

TEST_CASE("gradients in mixed precision are reduced as they are made, scanned or written out") {
    for (const std::string repeat : {"scan: true, axis: layers", "scan: false"}) {
        CAPTURE(repeat);
        const std::string model = layers({}, repeat);
        CHECK(sent(model, dp) == std::map<std::string, i64>{{"all_reduce", elements * 2 * 2 * 7}});
        CHECK(sent(model, fsdp) == std::map<std::string, i64>{{"reduce_scatter", elements * 2 * 7}});
        CHECK(proved(model, dp) == "");
        CHECK(proved(model, fsdp) == "");
    }
    CHECK(sent(layers(), zero1) == std::map<std::string, i64>{{"reduce_scatter", elements * 2 * 7}});
    CHECK(proved(layers(), zero1) == "");
}

TEST_CASE("gradients of microbatches are added up in f32 and reduced once, or scattered as they are made") {
    const std::string model = layers("  microbatches: 2\n");
    CHECK(sent(model, dp) == std::map<std::string, i64>{{"all_reduce", elements * 4 * 2 * 7}});
    CHECK(sent(model, fsdp) == std::map<std::string, i64>{{"reduce_scatter", 2 * elements * 2 * 7}});
    for (const std::string& layout : {dp, fsdp, zero1}) CHECK(proved(model, layout) == "");
}

} // namespace shard
