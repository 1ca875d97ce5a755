"""Llama's train step as one writes it in JAX: bf16 parameters with f32 master copies, blocks recomputed, AdamW, FSDP.

The same model as examples/llama3 with the layout that bench/measures/models.py makes for it: parameters are split over
`data` along their largest dim, activations along the batch. Only its compilation is timed; nothing is allocated.
"""

import time

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

BATCH, LENGTH = 64, 8192
LEARNING_RATE, DECAY, B1, B2, EPS = 3e-4, 0.1, 0.9, 0.999, 1e-8
BLOCK_SPECS = {
    "attention_norm": P(),
    "wq": P("data", None, None),
    "wk": P("data", None, None),
    "wv": P("data", None, None),
    "wo": P(None, None, "data"),
    "mlp_norm": P(),
    "w_gate": P(None, "data"),
    "w_up": P(None, "data"),
    "w_down": P("data", None),
}
SPECS = {"wte": P("data", None), "norm": P(), "unembed": P(None, "data")}


def block_shapes(w):
    return {
        "attention_norm": (w["embed"],),
        "wq": (w["embed"], w["heads"], w["kv"]),
        "wk": (w["embed"], w["kv_heads"], w["kv"]),
        "wv": (w["embed"], w["kv_heads"], w["kv"]),
        "wo": (w["heads"], w["kv"], w["embed"]),
        "mlp_norm": (w["embed"],),
        "w_gate": (w["embed"], w["mlp"]),
        "w_up": (w["embed"], w["mlp"]),
        "w_down": (w["mlp"], w["embed"]),
    }


def rms_norm(x, scale):
    wide = x.astype(jnp.float32)
    return (wide * jax.lax.rsqrt(jnp.mean(wide * wide, -1, keepdims=True) + 1e-5)).astype(x.dtype) * scale


def rope(x):
    half = x.shape[-1] // 2
    frequencies = jnp.exp(jnp.arange(half, dtype=jnp.float32) * (-jnp.log(500000.0) / half))
    angles = jnp.arange(x.shape[1], dtype=jnp.float32)[:, None, None] * frequencies
    sin, cos = jnp.sin(angles), jnp.cos(angles)
    low, high = jnp.split(x.astype(jnp.float32), 2, -1)
    return jnp.concatenate([low * cos - high * sin, high * cos + low * sin], -1).astype(x.dtype)


def make_step(layers, scan, mesh):
    """(state, tokens, next) -> (state, loss); new functions each time, so that JAX remembers nothing of them."""
    activations = NamedSharding(mesh, P("data", None, None))

    def block(x, p):
        n = rms_norm(x, p["attention_norm"])
        q, k, v = (jnp.einsum("bld,dhk->blhk", n, p[name]) for name in ("wq", "wk", "wv"))
        o = jax.nn.dot_product_attention(rope(q), rope(k), v, is_causal=True)
        x = x + jnp.einsum("blhk,hkd->bld", o, p["wo"])
        n = rms_norm(x, p["mlp_norm"])
        x = x + (jax.nn.silu(n @ p["w_gate"]) * (n @ p["w_up"])) @ p["w_down"]
        return jax.lax.with_sharding_constraint(x, activations)

    block = jax.checkpoint(block)

    def loss_of(params, tokens, labels):
        x = jax.lax.with_sharding_constraint(params["wte"][tokens], activations)
        if scan:
            x, _ = jax.lax.scan(lambda x, p: (block(x, p), None), x, params["blocks"])
        else:
            for p in params["blocks"]:
                x = block(x, p)
        logits = (rms_norm(x, params["norm"]) @ params["unembed"]).astype(jnp.float32)
        chosen = jnp.take_along_axis(logits, labels[..., None], -1)[..., 0]
        return jnp.mean(jax.nn.logsumexp(logits, -1) - chosen)

    def step(state, tokens, labels):
        loss, grads = jax.value_and_grad(loss_of)(state["params"], tokens, labels)
        count = state["count"] + 1
        c1, c2 = 1 - B1 ** count.astype(jnp.float32), 1 - B2 ** count.astype(jnp.float32)
        grads = jax.tree.map(lambda g: g.astype(jnp.float32), grads)
        mu = jax.tree.map(lambda m, g: B1 * m + (1 - B1) * g, state["mu"], grads)
        nu = jax.tree.map(lambda n, g: B2 * n + (1 - B2) * g * g, state["nu"], grads)
        master = jax.tree.map(
            lambda p, m, n: p - LEARNING_RATE * ((m / c1) / (jnp.sqrt(n / c2) + EPS) + DECAY * p),
            state["master"],
            mu,
            nu,
        )
        params = jax.tree.map(lambda p: p.astype(jnp.bfloat16), master)
        return {"params": params, "master": master, "mu": mu, "nu": nu, "count": count}, loss

    return step


def described(layers, scan, widths, mesh):
    """State and data as shapes with shardings."""

    def array(shape, spec, dtype):
        return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, spec))

    def params(dtype):
        shapes = block_shapes(widths)
        if scan:
            blocks = {
                name: array((layers, *shape), P(None, *BLOCK_SPECS[name]), dtype) for name, shape in shapes.items()
            }
        else:
            blocks = [
                {name: array(shape, BLOCK_SPECS[name], dtype) for name, shape in shapes.items()} for _ in range(layers)
            ]
        outer = {
            "wte": (widths["vocab"], widths["embed"]),
            "norm": (widths["embed"],),
            "unembed": (widths["embed"], widths["vocab"]),
        }
        return {"blocks": blocks, **{name: array(shape, SPECS[name], dtype) for name, shape in outer.items()}}

    state = {name: params(jnp.float32) for name in ("master", "mu", "nu")}
    state |= {"params": params(jnp.bfloat16), "count": array((), P(), jnp.int32)}
    tokens = array((BATCH, LENGTH), P("data", None), jnp.int32)
    return state, tokens


def compile_seconds(layers, scan, widths):
    mesh = Mesh(jax.devices(), ("data",))
    state, tokens = described(layers, scan, widths, mesh)
    step = make_step(layers, scan, mesh)
    shardings = jax.tree.map(lambda one: one.sharding, state)
    begin = time.perf_counter()
    jitted = jax.jit(step, out_shardings=(shardings, NamedSharding(mesh, P())), donate_argnums=0)
    jitted.lower(state, tokens, tokens).compile()
    return time.perf_counter() - begin
