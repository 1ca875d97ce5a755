// Blocks that hold a manual region that repeats a block with a collective: each repeat a loop or written out, checked
// or not, whatever the collective. All are proved, forward and backward together.
#include "tests/support/prove.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shard {
namespace {

struct Combination {
    std::string collective;   // lines of the inner block that make h of h
    std::string inner, outer; // appended to the repeats
    std::string check;
    std::string remat;
};

std::string model_of(const Combination& of) {
    return fmt::format(R"(model: combination
axes: {{batch: 8}}
inputs: {{x: {{axes: [batch, ~], shape: [8, 8]}}}}
modules:
  cell:
    inputs: [x, sum]
    params:
      w: {{shape: [8, 8], mesh: [~, j]}}
      b: {{shape: [8], init: normal}}
    graph:
      - w: {{all_gather: w, over: j, dim: 1, tiled: true}}
      - h: {{dot: [x, w]}}
      - h: {{add: [h, b]}}
      - h: {{tanh: h}}
{0}
      - sum: {{add: [sum, h]}}
    outputs: [h, sum]
  block:{4}
    inputs: [x]
    params: {{v: {{shape: [8, 8]}}}}
    graph:
      - z: {{dot: [x, v]}}
      - y:
          manual:
            in: {{z: [i, ~]}}
            out: {{sum: [[i, j], ~]}}
            check: {3}
            body:
              - sum: {{mul: [z, 0.5]}}
              - h, sum: {{repeat: cell, times: 2, in: [z, sum]{1}}}
              - sum: {{add: [sum, h]}}
              - sum: {{own_block: sum, over: j, dim: 0}}
      - y: {{add: [y, x]}}
    outputs: [y]
graph:
  - y: {{repeat: block, times: 2, in: x{2}}}
outputs: [y]
train:
  targets: {{t: {{axes: [batch, ~], shape: [8, 8], init: normal}}}}
  loss: {{mse: [y, t]}}
  optimizer: {{sgd: {{learning_rate: 0.1}}}}
)",
                       of.collective, of.inner, of.outer, of.check, of.remat);
}

const std::vector<std::string> collectives = {
    "      - s: {psum: h, over: i}\n      - h: {mul: [h, s]}",
    "      - h: {ppermute: h, over: i, shift: 1}",
    "      - s: {all_gather: h, over: i, dim: 0, tiled: true}\n      - s: {softmax: s, dim: 0}\n"
    "      - h: {own_block: s, over: i, dim: 0}",
    "      - s: {all_to_all: h, over: i, split: 1, concat: 0, tiled: true}\n      - s: {softmax: s, dim: 0}\n"
    "      - h: {all_to_all: s, over: i, split: 0, concat: 1, tiled: true}",
};

} // namespace

TEST_CASE("every combination of loops, regions and collectives is proved") {
    const std::string mesh = "mesh: {i: 2, j: 2}\n", fsdp = mesh + "fsdp: {axis: i, min_size: 1}\n";
    const std::vector<std::string> repeats = {"", ", scan: true", ", scan: true, reverse: true"};
    int round = 0;
    for (const std::string& collective : collectives)
        for (const std::string& inner : repeats)
            for (const std::string& outer : repeats) {
                ++round;
                const Combination of = {collective, inner, outer, round % 3 == 0 ? "false" : "true",
                                        round % 4 == 0 ? "\n    remat: full" : ""};
                const std::string model = model_of(of);
                CAPTURE(model);
                ProofOptions options;
                options.mode = "train";
                CHECK(fmt::format("{}", fmt::join(prove(model, round % 2 == 0 ? fsdp : mesh, options), "\n")) == "");
            }
}

} // namespace shard
