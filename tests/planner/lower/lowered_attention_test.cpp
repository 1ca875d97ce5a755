// Attention as the manual program that a plan is (planner/lower/lowered_body_attention.cpp).
#include "tests/support/check_lowered.h"

#include <doctest/doctest.h>
#include <string>

namespace shard {

TEST_CASE("attention with a softmax, in modules, as a manual program") {
    check_lowered(R"(model: attention
axes: {batch: 4, len: 8, heads: 4, width: 8, embed: 32}
inputs:
  x: {axes: [batch, len, embed]}
modules:
  block:
    inputs: [x]
    params:
      scale: {axes: [embed], init: ones}
      wq: {axes: [embed, heads, width]}
      wo: {axes: [heads, width, embed]}
    graph:
      - n: {rms_norm: [x, scale]}
      - q: {einsum: "ble,ehd->blhd", in: [n, wq]}
      - a: {attention: [q, q, q], causal: true}
      - o: {einsum: "blhd,hde->ble", in: [a, wo]}
      - x: {add: [x, o]}
    outputs: [x]
graph:
  - y: {repeat: block, times: 2, in: x}
outputs: [y]
)",
                  "mesh: {data: 2, model: 2}\nrules: [{batch: data}, {heads: model}]\n");
}

TEST_CASE("attention of queries that are split, and its gradient, say where a device's own begin") {
    const std::string model = R"(model: sequence
axes: {batch: 2, len: 8, keys: 8, heads: 2, width: 4}
inputs:
  q: {axes: [batch, len, heads, width]}
  k: {axes: [batch, keys, heads, width]}
  at: {shape: [], dtype: i64, init: {randint: {low: 1, high: 2}}}
modules:
  loss:
    inputs: [q, k, at]
    graph:
      - o: {attention: [q, k, k, at], causal: true, window: 5, soft_cap: 3}
      - o: {mul: [o, o]}
      - l: {reduce_sum: o}
    outputs: [l]
graph:
  - o: {attention: [q, k, k], causal: true}
  - l, dq, dk: {value_and_grad: loss, in: [q, k, at], wrt: [q, k]}
outputs: [o, l, dq, dk]
)";
    check_lowered(model, "mesh: {a: 2, b: 2}\nrules: [{len: a}, {keys: b}]\n");
}

TEST_CASE("attention drops the same weights by its program, which says where a device's own begin") {
    const std::string model = R"(model: drops
axes: {batch: 4, length: 16, embed: 4, heads: 8, kv: 4}
inputs: {x: {axes: [batch, length, embed]}}
modules:
  block:
    inputs: [x]
    params: {w: {axes: [embed, heads, kv], init: {normal: {stddev: 0.5}}}, o: {axes: [heads, kv, embed]}}
    graph:
      - q: {einsum: "bld,dhk->blhk", in: [x, w]}
      - a: {attention: [q, q, q], causal: true, dropout: 0.25}
      - x: {add: [x, {einsum: "blhk,hkd->bld", in: [a, o]}]}
    outputs: [x]
graph:
  - y: {repeat: block, times: 2, in: x, axis: layers, scan: true}
outputs: [y]
train:
  targets: {t: {axes: [batch, length, embed], init: normal}}
  loss: {mse: [y, t]}
  optimizer: {sgd: {learning_rate: 1.0e-2}}
)";
    for (const char* layout :
         {"mesh: {data: 1}\nrules: []\n", "mesh: {data: 2, model: 2}\nrules: [{batch: data}, {heads: model}]\n",
          "mesh: {seq: 4}\nrules: [{length: seq}]\nattention: gather\n",
          "mesh: {seq: 8}\nrules: [{length: seq}]\nattention: ring\n",
          "mesh: {seq: 4}\nrules: [{length: seq}]\nattention: all_to_all\n"}) {
        CAPTURE(layout);
        const std::string text = check_lowered(model, layout, "train");
        CHECK(text.find("dropout: 0.25") != std::string::npos);
        CHECK((text.find("loops_alike: 1") != std::string::npos) ==
              (std::string(layout).find("ring") != std::string::npos));
    }
}

TEST_CASE("attention that drops weights by a key that is computed says the key's words") {
    for (const char* alike : {"", ", broadcast_dropout: true"}) {
        const std::string model = std::string(R"(model: drops
axes: {batch: 4, length: 16, heads: 4, kv: 4}
inputs:
  q: {axes: [batch, length, heads, kv]}
  key: {shape: [2], dtype: u32, init: {randint: {low: 0, high: 9}}}
modules:
  loss:
    inputs: [q, key]
    graph:
      - a: {attention: [q, q, q, key], causal: true, dropout: 0.25)") +
                                  alike + R"(}
      - l: {reduce_sum: {mul: [a, a]}}
    outputs: [l]
graph:
  - l, dq: {value_and_grad: loss, in: [q, key], wrt: [q]}
outputs: [l, dq]
)";
        for (const char* layout : {"mesh: {data: 2, model: 2}\nrules: [{batch: data}, {heads: model}]\n",
                                   "mesh: {seq: 4}\nrules: [{length: seq}]\nattention: gather\n",
                                   "mesh: {seq: 4}\nrules: [{length: seq}]\nattention: ring\n",
                                   "mesh: {seq: 4}\nrules: [{length: seq}]\nattention: all_to_all\n"}) {
            CAPTURE(layout);
            CAPTURE(alike);
            CHECK(check_lowered(model, layout, "forward").find("dropout: 0.25") != std::string::npos);
        }
    }
}

} // namespace shard
