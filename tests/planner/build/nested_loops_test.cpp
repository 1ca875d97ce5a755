// Loops in loops, and loops in reverse: proved like every plan, and equal to what is written out.
#include "tests/planner/build/loop_proofs.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>

namespace shard {
namespace {

const std::string scan = ", scan: true";
const std::string whole = "mesh: {data: 1}\nrules: []\n";

// Blocks that scan blocks: `outer` and `inner` are appended to the repeats.
std::string nested_blocks(const std::string& outer, const std::string& inner, const std::string& more = {}) {
    return fmt::format(R"(model: nested
axes: {{batch: 8, embed: 8, other: 8, stages: 4, layers: 2}}
inputs: {{x: {{axes: [batch, embed]}}}}
modules:
  layer:
    inputs: [x, b]
    params: {{w: {{axes: [embed, other]}}}}
    graph:
      - y: {{dot: [x, w]}}
      - y: {{gelu: y}}
      - y: {{add: [y, b]}}
    outputs: [y]
  stage:
    inputs: [x]
    params:
      w0: {{axes: [embed, other]}}
      b: {{axes: [embed], init: normal}}
    graph:
      - x: {{constrain: x, axes: [batch, embed]}}
      - y: {{dot: [x, w0]}}
      - y: {{repeat: layer, times: 2, in: [y, b], axis: layers{1}}}
      - y: {{softmax: y}}
      - y: {{add: [x, y]}}
    outputs: [y]
graph:
  - y: {{repeat: stage, times: 4, in: x, axis: stages{0}}}
outputs: [y]
train:
  targets: {{t: {{axes: [batch, embed], init: normal}}}}
  loss: {{mse: [y, t]}}
  optimizer: {{adam: {{learning_rate: 1.0e-2}}}}
{2})",
                       outer, inner, more);
}

} // namespace

TEST_CASE("a scanned block that scans another computes what is written out") {
    const std::string data = "mesh: {data: 2, model: 2}\nrules: [{batch: data}]\n";
    const std::string fsdp = data + "fsdp: {axis: data, min_size: 1}\n";
    const std::string stages = "mesh: {data: 2, model: 2}\nrules: [{batch: data}, {stages: model}]\n";
    const std::string both = "mesh: {data: 2, model: 2}\nrules: [{stages: data}, {layers: model}]\n";
    for (const std::string& more : {std::string(), std::string("  microbatches: 2\n")})
        for (const std::string& layout : {whole, data, fsdp, stages, both}) {
            CAPTURE(layout);
            CHECK(proved(nested_blocks(scan, scan, more), layout, "train", 2) == "");
        }
    const Numbers written_out = losses(nested_blocks("", ""), data);
    CHECK(close(losses(nested_blocks(scan, scan), data), written_out, 1e-5));
    CHECK(close(losses(nested_blocks(scan, ""), data), written_out, 1e-5));
    CHECK(close(losses(nested_blocks("", scan), data), written_out, 1e-5));
    CHECK(close(losses(nested_blocks(scan, scan, "  microbatches: 2\n"), data), written_out, 1e-5));
}

TEST_CASE("a plan says which dims are layers, and where their numbers stand in names that are written out") {
    using Layers = std::map<std::string, std::vector<i64>>;
    const auto layers = [](const std::string& outer, const std::string& inner) {
        Layers named;
        const Plan plan = train_plan(nested_blocks(outer, inner), whole);
        for (const PlanInput& input : plan.inputs)
            if (!input.layers.empty()) named[plan.buffers[input.buffer].name] = input.layers;
        return named;
    };
    CHECK(layers("", "") == Layers{});
    Layers named = layers(scan, scan);
    CHECK(named.size() == 9); // w, w0 and b, and of each mu and nu
    CHECK(named["stage.layer.w"] == std::vector<i64>{1, 2});
    CHECK(named["stage.layer.w.mu"] == std::vector<i64>{1, 2});
    CHECK(named["stage.w0"] == std::vector<i64>{1});
    CHECK(layers("", scan)["stage.0.layer.w"] == std::vector<i64>{2});
    CHECK(layers(scan, "")["stage.layer.0.w.nu"] == std::vector<i64>{1});
}

// Per step and not per trip: the gradients are added up through both loops.
TEST_CASE("the gradients of stacks of stacks are reduced once a step") {
    const std::string data = "mesh: {data: 2}\nrules: [{batch: data}]\n";
    const auto bytes = [&](const std::string& model) {
        i64 total = 0;
        const Plan plan = train_plan(model, data);
        for (const CollectiveReport& collective : plan.report.collectives) total += collective.wire_bytes_total;
        return total;
    };
    const i64 once = bytes(nested_blocks("", ""));
    CHECK(bytes(nested_blocks(scan, scan)) == once);
    CHECK(bytes(nested_blocks(scan, scan, "  microbatches: 2\n")) == once);
}

// Else the gradients of all layers of a stage would lie whole for a while.
TEST_CASE("under fsdp the gradient of a layer in a stage is scattered where it is made, in every microbatch") {
    const std::string fsdp = "mesh: {data: 2}\nrules: [{batch: data}]\nfsdp: {axis: data, min_size: 1}\n";
    const std::string model = nested_blocks(scan, scan, "  microbatches: 2\n");
    std::map<std::string, i64> scatters;
    for (const CollectiveReport& collective : train_plan(model, fsdp).report.collectives)
        if (collective.kind == "reduce_scatter") scatters[collective.tensor] += collective.count;
    CHECK(scatters["stage.layer.w.grad"] == 2 * 4 * 2);
    CHECK(scatters["stage.w0.grad"] == 2 * 4);
    CHECK(proved(model, fsdp, "train", 2) == "");
}

// Two layers, the last one first: as they are written out by hand, with the keys of their layers.
TEST_CASE("a scan in reverse takes the last layer first, forward and backward") {
    const std::string train = R"(outputs: [y]
train:
  targets: {t: {axes: [batch, embed], init: normal}}
  loss: {mse: [y, t]}
  optimizer: {adam: {learning_rate: 1.0e-2}}
)";
    const std::string scanned = R"(model: backwards
axes: {batch: 8, embed: 8, other: 8}
inputs: {x: {axes: [batch, embed]}}
modules:
  layer:
    inputs: [x]
    params:
      w: {axes: [embed, other]}
      b: {axes: [embed], init: normal}
    graph:
      - y: {dot: [x, w]}
      - y: {tanh: y}
      - y: {add: [y, b]}
    outputs: [y]
graph:
  - y: {repeat: layer, times: 2, in: x, scan: true, reverse: true}
)" + train;
    const std::string written_out = R"(model: backwards
axes: {batch: 8, embed: 8, other: 8}
inputs: {x: {axes: [batch, embed]}}
params:
  w0: {axes: [embed, other]}
  b0: {axes: [embed], init: normal}
  w1: {axes: [embed, other]}
  b1: {axes: [embed], init: normal}
graph:
  - y: {dot: [x, w1]}
  - y: {tanh: y}
  - y: {add: [y, b1]}
  - y: {dot: [y, w0]}
  - y: {tanh: y}
  - y: {add: [y, b0]}
)" + train;
    const std::string data = "mesh: {data: 2}\nrules: [{batch: data}]\n";
    CHECK(proved(scanned, data, "train", 2) == "");
    CHECK(close(losses(scanned, data), losses(written_out, data), 1e-5));
}

// What the inner loop carries changes places in every trip, so both are copied on the way.
TEST_CASE("a loop in a loop may let what it carries change places") {
    const std::string fibonacci = R"(model: fibonacci
inputs: {x: {shape: [4]}, y: {shape: [4]}}
modules:
  step: {inputs: [a, b], graph: [{c: {add: [a, b]}}], outputs: [b, c]}
  swap: {inputs: [a, b], graph: [], outputs: [b, a]}
  outer:
    inputs: [a, b]
    graph:
      - a, b: {repeat: step, times: 3, in: [a, b], scan: true}
      - a, b: {repeat: swap, times: 3, in: [a, b], scan: true}
    outputs: [a, b]
graph: [{"x, y": {repeat: outer, times: 2, in: [x, y], scan: true}}]
outputs: [x, y]
train:
  loss: {mse: [x, y]}
  optimizer: {sgd: {learning_rate: 0.1}}
)";
    CHECK(proved(fibonacci, whole, "forward") == "");
    CHECK(proved(fibonacci, "mesh: {data: 2}\ninputs: {\"*\": [data]}\n", "forward") == "");
}

TEST_CASE("a parameter of an inner loop that nobody reads is in nobody's way") {
    std::string model = nested_blocks(scan, scan);
    const std::string weight = "w: {axes: [embed, other]}";
    model.replace(model.find(weight), weight.size(), weight + ", unread: {axes: [embed], init: normal}");
    CHECK(proved(model, whole, "forward") == "");
    CHECK(proved(model, "mesh: {data: 2}\nrules: [{batch: data}]\nfsdp: {axis: data, min_size: 1}\n", "train") == "");
}

} // namespace shard
