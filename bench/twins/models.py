"""The examples' models, as one writes them in JAX; arrays by the names that they have in shardc."""

import dataclasses
import math
from collections.abc import Callable

import jax
import jax.numpy as jnp


@dataclasses.dataclass
class Twin:
    output: Callable  # (params, inputs, constrain) -> array
    loss: Callable | None = None  # likewise -> a number
    rate: float | Callable = 1e-3  # of Adam; of the count of steps if a function
    decay: float = 0.0
    clip: float | None = None
    output_name: str = "logits"


def nnx_guide(p, inputs, constrain):
    y = constrain(jax.nn.relu(inputs["input"] @ p["w1"]), "model")
    return y @ p["w2"]


def nnx_loss(p, inputs, constrain):
    return jnp.mean((nnx_guide(p, inputs, constrain) - inputs["label"]) ** 2)


def linen_guide(p, inputs, constrain):
    x = inputs["x"]
    for layer in range(4):
        y = constrain(jax.nn.relu(x @ p[f"DotReluDot.{layer}.Dense_0.kernel"]), "model")
        x = constrain(y @ p[f"DotReluDot.{layer}.W2"], None)
    return x


def layer_norm(x, scale, bias, eps=1e-5):
    x = x - jnp.mean(x, -1, keepdims=True)
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + eps) * scale + bias


def gpt_block(x, p, constrain):
    n = layer_norm(x, p["ln1_scale"], p["ln1_bias"])
    q, k, v = (jnp.einsum("bld,dhk->blhk", n, p[f"w{name}"]) + p[f"b{name}"] for name in "qkv")
    o = jax.nn.dot_product_attention(q, k, v, is_causal=True)
    x = x + jnp.einsum("blhk,hkd->bld", o, p["wo"]) + p["bo"]
    n = layer_norm(x, p["ln2_scale"], p["ln2_bias"])
    x = x + jax.nn.gelu(n @ p["w_up"] + p["b_up"]) @ p["w_down"] + p["b_down"]
    return constrain(x, None, None)


def gpt(p, inputs, constrain):
    """Blocks under `block.`, stacked, or under `block.0.` and so on."""
    tokens = inputs["tokens"]
    x = constrain(p["wte"][tokens] + p["wpe"][: tokens.shape[1]], None, None)
    if "block.wq" in p:
        stack = {name.removeprefix("block."): value for name, value in p.items() if name.startswith("block.")}
        x, _ = jax.lax.scan(lambda x, entry: (gpt_block(x, entry, constrain), None), x, stack)
    else:
        for layer in range(sum(name.endswith(".wq") for name in p)):
            prefix = f"block.{layer}."
            x = gpt_block(
                x, {name.removeprefix(prefix): value for name, value in p.items() if name.startswith(prefix)}, constrain
            )
    x = layer_norm(x, p["lnf_scale"], p["lnf_bias"])
    return jnp.einsum("bld,vd->blv", x, p["wte"])


def gpt_loss(p, inputs, constrain):
    logits = gpt(p, inputs, constrain)
    chosen = jnp.take_along_axis(logits, inputs["next"][..., None], -1)[..., 0]
    return jnp.mean(jax.nn.logsumexp(logits, -1) - chosen)


def warmup_cosine(count, peak=3e-3, warmup=5, steps=40):
    fall = peak * 0.5 * (1 + jnp.cos(math.pi * jnp.minimum(count - warmup, steps - warmup) / (steps - warmup)))
    return jnp.where(count < warmup, peak * count / warmup, fall)


TWINS = {
    "nnx_guide": Twin(nnx_guide, nnx_loss, output_name="z"),
    "linen_guide": Twin(
        linen_guide, lambda p, inputs, constrain: jnp.sum(linen_guide(p, inputs, constrain)), output_name="y"
    ),
    "tiny_gpt": Twin(gpt, gpt_loss, rate=warmup_cosine, decay=1e-4, clip=1.0),
    "gpt2": Twin(gpt, gpt_loss, rate=6e-4, decay=0.1, clip=1.0),
}
