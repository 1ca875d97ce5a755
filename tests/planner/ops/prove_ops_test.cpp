// Every op and the hard composites, split over a mesh: run, compared with one device and with the interpreter, bytes
// and peak as predicted.
#include "tests/support/prove.h"

#include <doctest/doctest.h>

namespace shard {

namespace {

const std::string moving_ops = R"(model: many
axes: {a: 8, b: 16, c: 4}
inputs:
  x: {axes: [a, b]}
  n: {axes: [a], dtype: i32, init: {randint: {low: 0, high: 16}}}
graph:
  - s: {slice: x, dim: b, start: 2, limit: 14, stride: 3}
  - p: {pad: s, dim: 1, low: 4, high: 8, value: 1.5}
  - cut: {pad: x, low: [-1, 3], high: [1, -5], interior: [0, 1], value: -.inf}
  - t: {transpose: p}
  - r: {reshape: t, shape: [4, 32]}
  - g: {gather: [x, n], dim: b}
  - c: {concatenate: [x, p], dim: 0}
  - m: {reduce_max: c, dims: [1], keepdims: true}
  - m: {reduce_prod: m, dims: [0]}
  - i: {iota: [a, b], dim: b, dtype: f32}
  - y: {mul: [i, x]}
  - y: {clamp: y, min: -3, max: 3}
  - y: {clamp: y, max: 2.5}
  - y: {clamp: y, min: -2.5}
  - k: {gt: [x, 0.25]}
  - y: {select: [k, y, 0]}
  - h: {cast: y, dtype: bf16}
  - h: {add: [h, 1]}
  - d: {einsum: "ij,kj,ij->ik", in: [x, y, x]}
  - z: {broadcast: m, shape: [3, 1]}
  - e: {scatter_add: [n, x], size: b}
  - f: {scatter_add: [x, n, y]}
  - at: {reduce_sum: n}
  - at: {rem: [at, 7]}
  - v: {dynamic_slice: [x, at], dim: a, size: 3}
  - u: {dynamic_update_slice: [x, v, at], dim: a}
  - o: {one_hot: n, size: b}
outputs: [r, g, c, cut, m, y, h, d, z, t, e, f, v, u, o]
)";

const std::string two_by_two = R"(mesh: {d: 2, m: 2}
rules:
  - {a: d}
  - {b: m}
)";

const std::string llama_block = R"(model: llama_block
axes: {batch: 4, length: 16, embed: 64, heads: 8, kv_heads: 4, head_dim: 8, mlp: 128, vocab: 100}
inputs:
  tokens: {axes: [batch, length], dtype: i32, init: {randint: {low: 0, high: 100}}}
params:
  table: {axes: [vocab, embed]}
modules:
  block:
    inputs: [x]
    params:
      s1: {axes: [embed], init: ones}
      wq: {axes: [embed, heads, head_dim]}
      wk: {axes: [embed, kv_heads, head_dim]}
      wv: {axes: [embed, kv_heads, head_dim]}
      wo: {axes: [heads, head_dim, embed]}
      s2: {axes: [embed], init: ones}
      wg: {axes: [embed, mlp]}
      wu: {axes: [embed, mlp]}
      wd: {axes: [mlp, embed]}
    graph:
      - n: {rms_norm: [x, s1]}
      - q: {einsum: "bld,dhk->blhk", in: [n, wq]}
      - k: {einsum: "bld,dhk->blhk", in: [n, wk]}
      - v: {einsum: "bld,dhk->blhk", in: [n, wv]}
      - q: {rope: q, theta: 500000}
      - k: {rope: k, theta: 500000}
      - o: {attention: [q, k, v], causal: true}
      - o: {einsum: "blhk,hkd->bld", in: [o, wo]}
      - x: {add: [x, o]}
      - n: {rms_norm: [x, s2]}
      - g: {dot: [n, wg]}
      - g: {silu: g}
      - u: {dot: [n, wu]}
      - h: {mul: [g, u]}
      - h: {dot: [h, wd]}
      - x: {add: [x, h]}
    outputs: [x]
graph:
  - x: {gather: [table, tokens]}
  - x: {repeat: block, times: 2, in: x}
  - logits: {einsum: "bld,vd->blv", in: [x, table]}
outputs: [logits]
)";

const std::string data_and_model = R"(mesh: {data: 2, model: 4}
rules:
  - {batch: data}
  - {heads: model}
  - {kv_heads: model}
  - {mlp: model}
  - {vocab: model}
  - {embed: ~}
)";

} // namespace

TEST_CASE("moving ops, reductions, lookups and bf16 give the same on four devices") {
    CHECK(prove(moving_ops, two_by_two) == std::vector<std::string>{});
}

TEST_CASE("a llama block with grouped heads and rope gives the same on eight devices") {
    CHECK(prove(llama_block, data_and_model) == std::vector<std::string>{});
}

} // namespace shard
