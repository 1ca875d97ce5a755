// Manual regions in loops, and loops in manual regions: proved like every plan, and equal to what is written out.
#include "tests/support/prove.h"
#include "tests/support/region.h"
#include "tests/support/steps.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace shard {
namespace {

const std::string mesh = "mesh: {i: 2, j: 2}\n";

std::string proved(const std::string& model, const std::string& mode, const std::string& layout = mesh) {
    ProofOptions options;
    options.mode = mode;
    options.steps = mode == "train" ? 2 : 1;
    return fmt::format("{}", fmt::join(prove(model, layout, options), "\n"));
}

// Blocks whose products are split by hand over j, and their batch over i.
std::string blocks(const std::string& repeat, const std::string& train = "") {
    return fmt::format(R"(model: blocks
axes: {{batch: 8, embed: 8, hidden: 16}}
inputs: {{x: {{axes: [batch, embed]}}}}
modules:
  block:
    inputs: [x]
    params:
      w1: {{shape: [8, 16]}}
      w2: {{shape: [16, 8]}}
    graph:
      - y:
          manual:
            in: {{x: [i, ~], w1: [~, j], w2: [j, ~]}}
            out: {{y: [i, ~]}}
            body:
              - h: {{dot: [x, w1]}}
              - h: {{gelu: h}}
              - y: {{dot: [h, w2]}}
              - y: {{psum: y, over: j}}
      - y: {{add: [x, y]}}
    outputs: [y]
graph:
  - y: {{repeat: block, times: 3, in: x{}}}
outputs: [y]
train:
  targets: {{t: {{axes: [batch, embed], init: normal}}}}
  loss: {{mse: [y, t]}}
  optimizer: {{adam: {{learning_rate: 0.01}}}}
{})",
                       repeat, train);
}

// Layers with parameters of their own in a region: one that its `mesh` splits, and one that enters whole.
std::string layers(const std::string& repeat, const std::string& train = "") {
    return fmt::format(R"(model: layers
axes: {{batch: 8, embed: 8}}
inputs: {{x: {{axes: [batch, embed]}}}}
modules:
  layer:
    inputs: [x]
    params:
      w1: {{shape: [8, 16], mesh: [~, j]}}
      w2: {{shape: [16, 8], mesh: [j, ~]}}
      b: {{shape: [8], init: normal}}
    graph:
      - h: {{dot: [x, w1]}}
      - h: {{gelu: h}}
      - y: {{dot: [h, w2]}}
      - y: {{psum: y, over: j}}
      - y: {{add: [y, b]}}
    outputs: [y]
graph:
  - y:
      manual:
        in: {{x: [i, ~]}}
        out: {{y: [i, ~]}}
        body:
          - y: {{repeat: layer, times: 3, in: x{}}}
outputs: [y]
train:
  targets: {{t: {{axes: [batch, embed], init: normal}}}}
  loss: {{mse: [y, t]}}
  optimizer: {{adam: {{learning_rate: 0.01}}}}
{})",
                       repeat, train);
}

// y of a region over x (8, 8) and w (8, 8): a block of the body is repeated.
std::string looped(const std::string& outputs, const std::string& block, const std::string& body,
                   const std::string& repeat = ", scan: true") {
    return fmt::format(R"(model: looped
inputs: {{x: {{shape: [8, 8]}}}}
params: {{w: {{shape: [8, 8]}}}}
modules:
  step:
    inputs: [a, b, w]
    graph:
      {}
    outputs: {}
graph:
  - y:
      manual:
        in: {{x: [i, ~], w: [~, ~]}}
        {}
outputs: [y]
train:
  loss: {{mean: y}}
  optimizer: {{sgd: {{learning_rate: 0.1}}}}
)",
                       block, outputs, fmt::format(fmt::runtime(body), fmt::arg("scan", repeat)));
}

Numbers losses(const std::string& model) { return series(run_steps(train_plan(model, mesh), 3), "loss"); }

void same_losses(const std::string& one, const std::string& other) {
    const Numbers a = losses(one), b = losses(other);
    REQUIRE(a.size() == b.size());
    for (size_t n = 0; n < a.size(); ++n) CHECK(std::fabs(a[n] - b[n]) <= 1e-5 * std::fabs(b[n]));
}

} // namespace

TEST_CASE("a manual region stands in a scanned block") {
    CHECK(proved(blocks(", scan: true"), "forward") == "");
    CHECK(proved(blocks(", scan: true"), "train") == "");
    same_losses(blocks(", scan: true"), blocks(""));
}

TEST_CASE("a manual region stands in a step of microbatches") {
    CHECK(proved(blocks("", "  microbatches: 2\n"), "train") == "");
    CHECK(proved(blocks(", scan: true", "  microbatches: 2\n"), "train") == "");
    same_losses(blocks(", scan: true", "  microbatches: 2\n"), blocks(""));
}

TEST_CASE("a region that leaves an axis to shardc does so in a loop") {
    const std::string layout = "mesh: {i: 2, j: 2, k: 2}\nparams: {\"**\": [\"?\", \"k?\", \"?\"]}\n";
    std::string model = blocks(", scan: true");
    model.replace(model.find("manual:"), 7, "manual:\n            mesh: [i, j]");
    CHECK(proved(model, "forward", layout) == "");
    CHECK(proved(model, "train", layout) == "");
}

TEST_CASE("modules of a manual region have parameters, in a loop and written out") {
    const std::string fsdp = mesh + "fsdp: {axis: i, min_size: 1}\n";
    for (const std::string& layout : {mesh, fsdp})
        for (const std::string& repeat : {std::string(), std::string(", scan: true")})
            for (const std::string& train : {std::string(), std::string("  microbatches: 2\n")}) {
                CAPTURE(layout);
                CAPTURE(repeat);
                CHECK(proved(layers(repeat, train), "train", layout) == "");
            }
    same_losses(layers(", scan: true"), layers(""));
}

TEST_CASE("a loop stands in a manual region") {
    const std::string block = "- a: {dot: [a, w]}\n      - a: {tanh: a}\n      - b: {add: [b, a]}";
    const std::string body = R"(out: {{b: [i, ~]}}
        body:
          - b: {{constant: 0, shape: [4, 8]}}
          - a, b: {{repeat: step, times: 3, in: [x, b, w]{scan}}})";
    const std::string scanned = looped("[a, b]", block, body), written_out = looped("[a, b]", block, body, "");
    CHECK(proved(scanned, "forward") == "");
    CHECK(proved(scanned, "train") == "");
    same_losses(scanned, written_out);
}

// w enters whole: the first trip begins with what is the same on all devices, and makes what is not. And b never
// varies: the body sums before it adds, and `out` may claim that it is the same everywhere.
TEST_CASE("what a loop carries varies over what a trip makes of it") {
    const std::string block =
        "- a: {dot: [a, b]}\n      - a: {tanh: a}\n      - s: {psum: a, over: i}\n      - b: {add: [w, s]}";
    const std::string ends = R"(out: {{b: [~, ~]}}
        body:
          - k: {{axis_index: i}}
          - k: {{cast: k, dtype: f32}}
          - k: {{add: [k, 1]}}
          - a: {{mul: [w, k]}}
          - a, b: {{repeat: step, times: 3, in: [a, w, w]{scan}}})";
    const std::string scanned = looped("[a, b]", block, ends), written_out = looped("[a, b]", block, ends, "");
    CHECK(proved(scanned, "train") == "");
    same_losses(scanned, written_out);

    const std::string grows = "- a: {mul: [a, b]}\n      - a: {tanh: a}\n      - b: {dot: [b, w]}";
    const std::string sums = R"(out: {{y: [~, ~]}}
        body:
          - k: {{axis_index: [i, j]}}
          - k: {{cast: k, dtype: f32}}
          - k: {{broadcast: k, shape: [8, 8]}}
          - a, b: {{repeat: step, times: 3, in: [w, k, w]{scan}}}
          - y: {{psum: a, over: [i, j]}})";
    CHECK(proved(looped("[a, b]", grows, sums), "train") == "");
    same_losses(looped("[a, b]", grows, sums), looped("[a, b]", grows, sums, ""));
}

// What is replicated may leave as that, though the same block carries what varies elsewhere.
TEST_CASE("what a loop carries varies by the operands of each call") {
    const std::string model = R"(model: twice
inputs: {x: {shape: [8, 8]}, w: {shape: [8, 8]}}
modules:
  step:
    inputs: [a, w]
    graph:
      - a: {dot: [a, w]}
      - a: {tanh: a}
    outputs: [a]
  loop:
    inputs: [a, w]
    graph:
      - a: {repeat: step, times: 2, in: [a, w], scan: true}
    outputs: [a]
graph:
  - p, q:
      manual:
        in: {x: [i, ~], w: [~, ~]}
        out: {p: [~, ~], q: [i, ~]}
        body:
          - q: {loop: [x, w]}
          - p: {loop: [w, w]}
outputs: [p, q]
)";
    CHECK(proved(model, "forward", "mesh: {i: 4, j: 2}\n") == "");
    CHECK(proved(model, "forward", "mesh: {i: 1, j: 2}\n") == "");
}

TEST_CASE("a loop in a region may stand in a loop, and be differentiated in the region") {
    const std::string model = R"(model: nested
axes: {batch: 8}
inputs: {x: {axes: [batch, ~], shape: [8, 8]}}
modules:
  step:
    inputs: [a, w]
    graph:
      - a: {dot: [a, w]}
      - a: {tanh: a}
    outputs: [a]
  net:
    inputs: [x, w]
    graph:
      - a: {repeat: step, times: 2, in: [x, w]SCAN}
      - l: {mean: a}
    outputs: [l]
  block:
    inputs: [x]
    params: {w: {shape: [8, 8]}}
    graph:
      - g:
          manual:
            in: {x: [i, ~], w: [~, ~]}
            out: {g: [~, ~]}
            body:
              - l, g: {value_and_grad: net, in: [x, w], wrt: [w]}
      - y: {dot: [x, g]}
      - y: {add: [x, y]}
    outputs: [y]
graph:
  - y: {repeat: block, times: 3, in: xSCAN}
outputs: [y]
)";
    const auto with = [&](const std::string& scan) {
        std::string text = model;
        for (size_t at = text.find("SCAN"); at != std::string::npos; at = text.find("SCAN")) text.replace(at, 4, scan);
        return text;
    };
    CHECK(proved(with(", scan: true"), "forward") == "");
    CHECK(proved(with(""), "forward") == "");
}

} // namespace shard
