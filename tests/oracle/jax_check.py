#!/usr/bin/env python3
"""Compares outputs of `shardc run` on eight emulated devices with the same models in JAX on one.

    tests/oracle/jax_check.py build/dev/shardc

Prints one line a case and exits 1 if one differs by more than rounding; without JAX it says so and exits 77 (skipped).
Not part of ctest. Last run with JAX 0.10.2: the largest difference was 7.5e-07 of the largest element (README.md beside this file).
"""
import pathlib
import subprocess
import sys
import tempfile

try:
    import jax
    import jax.numpy as jnp
    import numpy as np
except ImportError as problem:
    print(f"SKIPPED: {problem}")
    sys.exit(77)

SHARDC = sys.argv[1] if len(sys.argv) > 1 else "shardc"
TOLERANCE = 2e-5  # of the largest element

DOT_RELU_DOT = """model: m
axes: {batch: 8, embed: 1024, hidden: 1024}
rng: {seed: 0, keys: nnx, partitionable: PARTITIONABLE}
inputs:
  x: {axes: [batch, embed], init: {normal: {stddev: 1.0}, key: 7}}
params:
  w1: {axes: [embed, hidden], init: lecun_normal}
  w2: {axes: [hidden, embed], init: lecun_normal}
graph:
  - h: {dot: [x, w1]}
  - a: {relu: h}
  - z: {dot: [a, w2]}
outputs: [z]
"""
MATMUL_BIAS = """model: m
rng: {keys: explicit, partitionable: PARTITIONABLE}
inputs:
  x: {shape: [192, 64], mesh: [data, ~], init: {normal: {stddev: 1.0}, key: 0}}
params:
  w: {shape: [64, 128], mesh: [~, model], init: {normal: {stddev: 1.0}, key: 1}}
  b: {shape: [128], mesh: [model], init: {normal: {stddev: 1.0}, key: 2}}
graph:
  - z: {linear: [x, w, b]}
outputs: [z]
"""
BLOCK = """model: m
axes: {batch: 2, length: 16, embed: 64, heads: 4, kv: 16, mlp: 256}
rng: {keys: explicit, partitionable: PARTITIONABLE}
inputs:
  x: {axes: [batch, length, embed], init: {normal: {stddev: 1.0}, key: 0}}
params:
  s: {axes: [embed], init: {normal: {stddev: 1.0}, key: 1}}
  wq: {axes: [embed, heads, kv], init: {normal: {stddev: 0.1}, key: 2}}
  wk: {axes: [embed, heads, kv], init: {normal: {stddev: 0.1}, key: 3}}
  wv: {axes: [embed, heads, kv], init: {normal: {stddev: 0.1}, key: 4}}
  wo: {axes: [heads, kv, embed], init: {normal: {stddev: 0.1}, key: 5}}
  wu: {axes: [embed, mlp], init: {normal: {stddev: 0.1}, key: 6}}
  wd: {axes: [mlp, embed], init: {normal: {stddev: 0.1}, key: 8}}
graph:
  - n: {layer_norm: [x, s], eps: 1.0e-5}
  - q: {einsum: "bld,dhk->blhk", in: [n, wq]}
  - k: {einsum: "bld,dhk->blhk", in: [n, wk]}
  - v: {einsum: "bld,dhk->blhk", in: [n, wv]}
  - o: {attention: [q, k, v], causal: true}
  - o: {einsum: "blhk,hkd->bld", in: [o, wo]}
  - x: {add: [x, o]}
  - h: {dot: [x, wu]}
  - h: {gelu: h}
  - h: {dot: [h, wd]}
  - z: {add: [x, h]}
outputs: [z]
"""
LAYOUT = """mesh: {data: 2, model: 4}
rules: [{batch: data}, {hidden: model}, {heads: model}, {mlp: model}]
missing_axes: error
"""


def normal(key, shape, stddev=1.0):
    return jax.random.normal(jax.random.PRNGKey(key), shape) * jnp.float32(stddev)


def dot_relu_dot():
    draw = jax.nn.initializers.lecun_normal()
    w1, w2 = (draw(jax.random.fold_in(jax.random.PRNGKey(0), n), (1024, 1024)) for n in (0, 1))
    return jax.nn.relu(normal(7, (8, 1024)) @ w1) @ w2


def matmul_bias():
    return normal(0, (192, 64)) @ normal(1, (64, 128)) + normal(2, (128,))


def block():
    x, s = normal(0, (2, 16, 64)), normal(1, (64,))
    wq, wk, wv = (normal(key, (64, 4, 16), 0.1) for key in (2, 3, 4))
    n = (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5) * s
    q, k, v = (jnp.einsum("bld,dhk->blhk", n, w) for w in (wq, wk, wv))
    scores = jnp.einsum("blhk,bmhk->bhlm", q, k) / 4
    scores = jnp.where(jnp.tril(jnp.ones((16, 16), bool)), scores, -jnp.inf)
    o = jnp.einsum("bhlm,bmhk->blhk", jax.nn.softmax(scores), v)
    x = x + jnp.einsum("blhk,hkd->bld", o, normal(5, (4, 16, 64), 0.1))
    return x + jax.nn.gelu(x @ normal(6, (64, 256), 0.1)) @ normal(8, (256, 64), 0.1)


def run_shardc(model):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "model.yaml").write_text(model)
        (folder / "layout.yaml").write_text(LAYOUT)
        subprocess.run([SHARDC, "run", folder / "model.yaml", folder / "layout.yaml", "--output", f"z={folder / 'z.npy'}"],
                       check=True, capture_output=True)
        return np.load(folder / "z.npy")


def main():
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_default_matmul_precision", "highest")
    failed = False
    for partitionable in (True, False):
        jax.config.update("jax_threefry_partitionable", partitionable)
        for name, model, oracle in (("dot_relu_dot", DOT_RELU_DOT, dot_relu_dot),
                                    ("matmul_bias", MATMUL_BIAS, matmul_bias), ("gpt2_block", BLOCK, block)):
            got = run_shardc(model.replace("PARTITIONABLE", str(partitionable).lower()))
            want = np.asarray(oracle())
            difference = float(np.abs(got - want).max() / np.abs(want).max())
            good = difference <= TOLERANCE
            failed = failed or not good
            print(f"{'ok  ' if good else 'FAIL'} {name} partitionable={partitionable}: largest difference {difference:.2e} of the largest element")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
