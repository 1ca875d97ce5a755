"""A decoder as MaxText has its own: parameters of all layers stacked along their second dim, each layer rematerialised in a scan, norms
that scale by an einsum, neighbours turned by what is rolled and scaled by a switch, attention of segments that divides by its sums at last."""

import jax
import jax.numpy as jnp

HEADS, SHARED, WIDTH, LENGTH = 4, 2, 32, 256


def scaled(inverse):
    """A frequency as Llama 3.1 has it: kept, an eighth of it, or between."""
    waves = 2 * jnp.pi / inverse
    part = (LENGTH / waves - 1) / 3
    between = lambda: (1 - part) * inverse / 8 + part * inverse
    return jax.lax.cond(waves < LENGTH / 4, lambda: inverse, lambda: jax.lax.cond(waves > LENGTH, lambda: inverse / 8, between))


def turned(x, positions):
    both = jnp.repeat(2 * jnp.arange(WIDTH // 2) / WIDTH, 2)
    angles = positions[:, :, None, None] / (1 / jax.vmap(scaled)(1 / 10000.0**both))
    beside = jnp.where(jnp.arange(WIDTH) % 2 < 1, jnp.roll(x, -1, -1), jnp.roll(x, 1, -1))
    return x * jnp.cos(angles) + beside * jnp.sin(angles) * jnp.tile(jnp.array([-1, 1]), WIDTH // 2)


def norm(x, scale):
    return jnp.einsum("btd,d->btd", x * jax.lax.rsqrt(jnp.mean(jnp.square(x), -1, keepdims=True) + 1e-5), scale)


def attention(q, k, v, segments):
    batch, length = segments.shape
    scores = jnp.einsum("btkgd,bskd->bkgts", q.reshape(batch, length, SHARED, -1, WIDTH), k)
    seen = ((segments[:, :, None] == segments[:, None]) & (segments[:, None] >= 0))[:, None, None]
    seen &= (jnp.arange(length)[:, None] >= jnp.arange(length))[None, None, None]
    mask = jnp.where(seen, 0.0, -2e38)
    scores = jnp.where(mask >= -1e38, scores, -2e38).reshape(batch, HEADS, length, length)
    weights = jnp.exp(scores - jnp.max(scores, -1, keepdims=True))
    sums = jnp.moveaxis(jnp.sum(weights, -1, keepdims=True), 2, 1)
    of_values = jnp.einsum("bkgts,bskd->btkgd", weights.reshape(batch, SHARED, -1, length, length), v)
    return of_values.reshape(batch, length, HEADS, WIDTH) / sums


def layer(x, params, positions, segments):
    y = norm(x, params["attention_norm"])
    q, k, v = (jnp.einsum("btd,dhw->bthw", y, params[name]) for name in ("query", "key", "value"))
    y = attention(turned(q, positions) / WIDTH, turned(k, positions), v, segments)
    x = x + jnp.einsum("bthw,hwd->btd", y, params["out"])
    y = norm(x, params["mlp_norm"])
    return x + (jax.nn.silu(y @ params["gate"]) * (y @ params["up"])) @ params["down"]


def stacked(params, tokens, positions, segments):
    x = params["embedding"][tokens]
    layers = jax.tree.map(lambda array: jnp.moveaxis(array, 1, 0), params["layers"])
    one = jax.checkpoint(lambda x, own: (layer(x, own, positions, segments), None))
    return norm(jax.lax.scan(one, x, layers)[0], params["norm"]) @ params["embedding"].T


EMBED, LAYERS, MLP = 16, 4, 32
STACKED = (stacked, ({"embedding": (24, EMBED), "norm": (EMBED,), "layers": {
    "attention_norm": (EMBED, LAYERS), "mlp_norm": (EMBED, LAYERS), "query": (EMBED, LAYERS, HEADS, WIDTH),
    "key": (EMBED, LAYERS, SHARED, WIDTH), "value": (EMBED, LAYERS, SHARED, WIDTH), "out": (HEADS, LAYERS, WIDTH, EMBED),
    "gate": (EMBED, LAYERS, MLP), "up": (EMBED, LAYERS, MLP), "down": (MLP, LAYERS, EMBED)}},
    ("i", 24, (2, 8)), ("i", 8, (2, 8)), ("i", 3, (2, 8))))
