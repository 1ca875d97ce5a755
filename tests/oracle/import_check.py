#!/usr/bin/env python3
"""Programs traced by JAX, imported, planned and run by shardc on 2 x 4 emulated devices, beside JAX itself.

    tests/oracle/import_check.py build/dev/shardc [WORD...]       only programs whose names hold a word
    tests/oracle/import_check.py build/dev/shardc --record DIR [WORD...]    writes the programs that tests/importer/ runs

Inputs are 0.4 sin(0.7 i + k), its magnitude, or whole numbers, so that tests make them again. The layout splits the
last dim that 4 divides over one axis and the first other one that 2 divides over the other, of every array. Models of
Flax are in import_models.py, and left out where pip has no flax and optax. Per program: the largest
difference, of the largest value of its output, or of all gradients. Exits 1 above 1e-5; without JAX it says so and
exits 77 (skipped).
"""

import functools
import json
import pathlib
import re
import sys

import imported  # before jax: it forces the devices
import jax
import jax.numpy as jnp
import numpy as np

from import_ropes import ROPES
from import_stacked import STACKED
from import_complex import COMPLEX
from import_updates import UPDATES

try:
    import import_models
except ImportError as problem:
    import_models = None
    print(f"without models of Flax: {problem}")

ALLOWED = 1e-5
ALLOWED_BF16 = 8e-3  # XLA on CPU leaves out roundings to bf16 between ops


def layer_norm(x, scale, bias):
    mean = jnp.mean(x, -1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(jnp.var(x, -1, keepdims=True) + 1e-6) * scale + bias


def attention(x, wq, wk, wv, wo):
    q, k, v = (jnp.einsum("bld,dhk->blhk", x, w) for w in (wq, wk, wv))
    scores = jnp.einsum("blhk,bmhk->bhlm", q, k) / np.sqrt(q.shape[-1])
    mask = jnp.tril(jnp.ones((x.shape[1], x.shape[1]), bool))
    weights = jax.nn.softmax(jnp.where(mask, scores, -jnp.inf), -1)
    return jnp.einsum("bhlm,bmhk,hkd->bld", weights, v, wo)


def cross_entropy(logits, labels):
    picked = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], -1)
    return -jnp.mean(picked)


def lookups(table, x, labels):
    """Rows of a table, and losses of labels: what is outside gives NaN, and where it gives something else it is kept."""
    picked = jax.nn.log_softmax(x)
    own = jax.nn.logsumexp(x, -1) - jnp.take_along_axis(x, labels[..., None], -1)[..., 0]
    seen = labels > 1
    clipped = jnp.take(table, labels + 3, axis=0, mode="clip")
    return (jnp.take(table, labels, axis=0), jnp.take(x, 2, axis=1), jnp.mean(own),
            jnp.sum((jax.nn.logsumexp(x, -1) - jnp.take_along_axis(x, labels[..., None], -1)[..., 0]) * seen) / jnp.sum(seen),
            -jnp.mean(jnp.take_along_axis(picked, labels[..., None], -1)), cross_entropy(x * 2, labels),
            -jnp.take_along_axis(jax.nn.log_softmax(x[0]), labels[0][:, None], -1)[:, 0],
            -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(x), labels[..., None] + 3, -1, mode="clip")),
            jnp.nansum(jnp.where(seen[..., None], clipped, jnp.nan), (0, 1)))


def norms(x, scale, bias):
    """As keras writes it, with its factor put together first; and one whose bias is another's."""
    mean, variance = jnp.mean(x, -1, keepdims=True), jnp.var(x, -1, keepdims=True)
    factor = jax.lax.rsqrt(variance + 1e-5) * scale
    other = jax.lax.rsqrt(jnp.var(x, -1, keepdims=True) + 1e-5) * scale
    return x * factor + (-mean * factor + bias), x * other + (-jnp.mean(bias) * other + bias)


def mlp(params, x, y):
    h = jax.nn.relu(x @ params["w1"] + params["b1"])
    return jnp.mean((h @ params["w2"] + params["b2"] - y) ** 2)


def windows(x, u, i):
    """Of places that are looked up, slices: of a batch, along two dims, and their gradients; rows that are combined."""
    row = jax.vmap(lambda r, k: jax.lax.dynamic_slice(r, (k,), (4,)))
    put = jax.vmap(lambda r, v, k: jax.lax.dynamic_update_slice(r, v, (k,)))
    block = jax.vmap(lambda k: jax.lax.dynamic_slice(x, (k, k), (2, 3)))
    column = x.at[:, 1].add(3.0).at[1:3, 2:4].set(0.5).at[-1].multiply(2.0).at[0, 2:6].max(0.1)
    back = jax.grad(lambda x: jnp.sum(row(x, i) ** 2) + jnp.sum(jax.vmap(
        lambda k: jax.lax.dynamic_slice(x, (k, k), (2, 3)))(i) ** 3))(x)
    taken = x.at[i].max(u[:, :1]).at[i].min(0.2), x.at[i].multiply(u[:, :1]), jnp.searchsorted(jnp.sort(x[0]), u[0])
    return row(x, i), put(x, u, i), block(i), column, back, taken


def special_functions(x):
    """What CHLO has beyond StableHLO, of small and large numbers."""
    within, above = 0.9 * jnp.sin(x), jnp.abs(x) + 1
    lax = jax.lax
    return (jnp.sinh(9 * x), jnp.cosh(9 * x), lax.sinh(x), jnp.arcsinh(1e4 * x), jnp.arcsinh(x), jnp.arccosh(above),
            jnp.arctanh(within), jnp.arcsin(within), jnp.arccos(within), lax.lgamma(8 * x), lax.lgamma(above),
            lax.digamma(8 * x), lax.digamma(above), lax.reduce_precision(x, 5, 10), lax.reduce_precision(x, 8, 7),
            jax.random.truncated_normal(jax.random.key(3), -2.0, 2.0, (4, 8)), lax.cumlogsumexp(x, 1),
            jax.random.uniform(jax.random.key(3), (4, 8), jnp.bfloat16).astype(jnp.float32), jnp.isinf(1 / (x - x[0])),
            jnp.arccos(jnp.sign(x)), jnp.arcsin(jnp.sign(x)))


def whole_functions(x):
    """Of whole numbers, bits that are counted and products that are summed."""
    n = x * 123456789
    small = x.astype(jnp.int8)
    return (jax.lax.population_count(n), jax.lax.clz(n), jax.lax.population_count(n.astype(jnp.uint8)), jax.lax.clz(x),
            jax.lax.dot_general(small, small, (((1,), (1,)), ((), ())), preferred_element_type=jnp.int32),
            jax.lax.shift_right_arithmetic(n.astype(jnp.uint32), jnp.uint32(4)), -n.astype(jnp.uint32))


def stopping_loop(params, token):
    """Words are made until the last one comes, or eight of them."""
    def step(carry):
        token, i, out = carry
        token = jnp.argmax(params["e"][token] @ params["w"] @ params["e"].T, -1).astype(jnp.int32)
        return token, i + 1, out.at[:, i].set(token)

    going = lambda carry: (carry[1] < 8) & jnp.any(carry[0] != 5)
    return jax.lax.while_loop(going, step, (token, 0, jnp.zeros((4, 8), jnp.int32)))


def manual_region(params, x):
    """The program of one device, with every collective."""
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    lax = jax.lax

    def body(x, w):
        h = lax.psum_scatter(jnp.tanh(x @ w), "model", scatter_dimension=1, tiled=True)
        h = h * (1 + lax.axis_index("model")) + lax.ppermute(h, "model", [(0, 1), (1, 2), (2, 3), (3, 0)])
        turned = lax.all_to_all(h, "model", 0, 1, tiled=True)
        top = lax.pmax(jnp.max(h), ("data", "model")) + lax.pmin(jnp.min(h), "model")
        return h, turned, lax.pmax(top, "data"), lax.psum(lax.all_gather(h, "model", axis=1, tiled=True), ("data",))

    P = jax.sharding.PartitionSpec
    specs = (P("data", "model"), P("data", "model"), P(), P(None, None))
    region = jax.shard_map(body, mesh=mesh, in_specs=(P("data", "model"), P("model")), out_specs=specs, check_vma=False)
    sums = jax.shard_map(lambda w: lax.psum(w, "data"), mesh=mesh, axis_names={"data"}, in_specs=P("data"), out_specs=P())
    return region(x, params["w"]), jax.jit(sums)(params["w"] * 2) + 1


def manual_gradients(params, x):
    """A loss with a layer that is the program of one device, and a bias that begins where |b| has its kink."""
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    P = jax.sharding.PartitionSpec
    layer = jax.shard_map(lambda x, w: jax.lax.psum(jnp.tanh(x @ w), "model"), mesh=mesh,
                          in_specs=(P("data", "model"), P("model")), out_specs=P("data"), check_vma=False)
    return jnp.mean(layer(x, params["w"]) ** 2) + jnp.mean(jnp.abs(params["b"]) * jnp.arange(8.0))


def on_devices(body, axes, given, made):
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    return jax.shard_map(body, mesh=mesh, axis_names=set(axes), in_specs=given, out_specs=made, check_vma=False)


def region_of_layers(params, x):
    """Layers in the program of one device, as loops over their weights and written out, with their gradients."""
    P = jax.sharding.PartitionSpec

    def layer(h, w):
        h = h + 0.1 * jax.lax.psum(jnp.tanh(h @ w[:, 0]) @ w[:, 1].T, "model")
        return h, jnp.sum(h, -1)

    def body(x, stack, rows):
        h, sums = jax.lax.scan(layer, x, stack)
        for row in rows:
            h = jax.nn.silu(layer(h, row)[0]) * jax.lax.psum(jnp.sum(row), "model")
        return jax.lax.pmean(jnp.mean(h), "data"), sums

    run = on_devices(body, ("data", "model"), (P("data"), P(None, None, None, "model"), [P(None, None, "model")] * 4),
                     (P(), P(None, "data")))
    loss, sums = run(x, params["stack"], params["rows"])
    return loss + 0.01 * jnp.mean(sums)


def layers_of_regions(params, x):
    """Layers that each hold the program of one device, in a loop and written out."""
    P = jax.sharding.PartitionSpec

    def layer(h, w):
        body = lambda h, w: jnp.tanh(h + jax.lax.psum(jax.nn.relu(h[..., :4] @ w[:4]) @ w[4:].T, ("model",)))
        return on_devices(body, ("data", "model"), (P("data"), P(None, "model")), P("data"))(h, w) * 1.5, None

    h, _ = jax.lax.scan(layer, x, params["stack"])
    for row in params["rows"]:
        h = layer(h, row)[0]
    return jnp.mean(h * h)


def regions_of_constants(params, x):
    """Layers that each hold the same program of one device, which none of them is given anything for."""
    P = jax.sharding.PartitionSpec

    def layer(h, w):
        turns = on_devices(lambda c: jax.lax.psum(jnp.sin(c) * 2, ("model",)), ("data", "model"), (P("model"),), P())
        h = jnp.tanh(h @ w + turns(jnp.arange(8.0)).sum()) * 1.5
        return jnp.sin(h) * h + jnp.cos(h), None

    return jnp.mean(jax.lax.scan(layer, x, params["stack"])[0] ** 2)


def shared_sum(params, x):
    """Layers in the program of one device that all read what devices have made together once."""
    P = jax.sharding.PartitionSpec

    def body(x, rows):
        shift = jax.lax.psum(jnp.sin(jnp.arange(8.0)), "model")
        for row in rows:
            x = jnp.tanh(x @ row + shift) * 1.5 - jnp.cos(x)
        return x

    return jnp.mean(on_devices(body, ("data", "model"), (P("data"), [P()] * 4), P("data"))(x, params["rows"]))


def attentions(q, k, v, shared_k, shared_v, bias, lengths):
    """As jax.nn writes it; of lengths some are 0, whose queries see no key."""
    attend = jax.nn.dot_product_attention
    ends = jnp.arange(8)[None, None, None] < lengths[:, None, None, None]
    return (attend(q, k, v), attend(q, k, v, is_causal=True), attend(q, shared_k, shared_v),
            attend(q, shared_k, shared_v, is_causal=True, scale=0.3), attend(q, k, v, bias=bias),
            attend(q, k, v, bias=bias, mask=ends), attend(q, k, v, is_causal=True, local_window_size=(3, 0)),
            attend(q, k, v, local_window_size=(2, 2)), attend(q, k, v, local_window_size=(2, 0)),
            attend(q, k, v, is_causal=True, key_value_seq_lengths=lengths), attend(q[0], k[0], v[0], is_causal=True),
            attend(q[:, :4], k, v, is_causal=True))


def attentions_dropping(q, k, v, step, impl="threefry2x32"):
    """Weights that are dropped: three ways that attention has itself, and what only looks like them."""
    key, keep = jax.random.fold_in(jax.random.key(3, impl=impl), step), 0.75
    whole = (q.shape[0], q.shape[2], q.shape[1], k.shape[1])
    def weights(n):
        return jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q + n, k) / 2, -1)
    def mask(n, shape=whole):
        return jax.random.bernoulli(jax.random.fold_in(key, n), keep, shape)
    def values(dropped, of=v):
        return jnp.einsum("bhqk,bkhd->bqhd", dropped, of)
    one = jax.nn.softmax(q[0, :, 0] @ k[0, :, 0].T / 2, -1)
    first = mask(7)
    return (values(jnp.where(mask(0), weights(1) / keep, 0)), values(weights(2) * mask(1) / keep),
            jnp.where(mask(2, one.shape), one / keep, 0) @ v[0, :, 0],
            values(jnp.where(mask(3, (whole[0], 1, *whole[2:])), weights(3) / keep, 0)),  # alike in heads alone
            values(jnp.where(mask(4), weights(4), 0)), values(jnp.where(mask(5), 0, weights(5) / keep)),
            values(jnp.where(jnp.swapaxes(mask(6, (*whole[:2], whole[3], whole[2])), 2, 3), weights(6) / keep, 0)),
            values(jnp.where(mask(8), jnp.where(first, weights(7) / keep, 0) / keep, 0)),
            values(jnp.where(mask(9), weights(8) / keep, 1)), jnp.where(mask(9), 1.0, 0.0))


def attentions_by_hand(x, wqkv, few_k, few_v, parts):
    """As people write it: whatever the order of dims, the scale, and how what is hidden is said."""
    softmax, length = jax.nn.softmax, x.shape[1]
    causal = jnp.tril(jnp.ones((length, length)))
    place = jnp.arange(length)
    q, k, v = (part.reshape(2, length, 4, 4).transpose(0, 2, 1, 3) for part in jnp.split(x @ wqkv, 3, -1))
    scores = (q @ jnp.swapaxes(k, -1, -2)) * 0.4
    results = [(softmax(jnp.where(causal == 0, float("-inf"), scores), -1) @ v).transpose(0, 2, 1, 3).reshape(x.shape)]
    results += [softmax(jnp.where(place[:, None] >= place, q[0, 0] @ k[0, 0].T / 2, -1e9)) @ v[0, 0]]
    # Heads that share keys: repeated, or a dim of their own, or all of them.
    many_k, many_v = (jnp.repeat(few, 2, axis=2) for few in (few_k, few_v))
    many_q = q.transpose(0, 2, 1, 3)
    scores = jnp.einsum("btnh,bsnh->bnts", many_q, many_k) / jnp.sqrt(4)
    weights = softmax(scores + jnp.where(place[:, None] >= place, 0, -1e9))
    results += [jnp.einsum("bnts,bsnh->btnh", weights, many_v)]
    scores = jnp.einsum("btkgh,bskh->btkgs", many_q.reshape(2, length, 2, 2, 4) * 0.5, few_k).reshape(2, length, 4, -1)
    scores = jnp.where((causal > 0)[None, :, None], scores, -2.38e38)
    weights = softmax(scores, -1).reshape(2, length, 2, 2, -1)
    results += [jnp.einsum("btkgs,bskh->btkgh", weights, few_v).reshape(2, length, 16)]
    results += [jnp.einsum("bnts,bsh->btnh", softmax(jnp.einsum("btnh,bsh->bnts", many_q, few_k[:, :, 0])), few_v[:, :, 1])]
    # A soft cap, segments, and what is no mask of a kind: each query sees every other key.
    capped = lambda: jnp.tanh(jnp.einsum("btnh,bsnh->bnts", many_q, many_k) / 5) * 5
    mixed = lambda weights: jnp.einsum("bnts,bsnh->btnh", weights, many_v)
    own = (parts[:, None, :, None] == parts[:, None, None]) & (causal > 0)
    results += [mixed(softmax(jnp.where(own, capped(), -2.38e38)))]
    other = (place[:, None] + place) % 2 == 0
    results += [jnp.einsum("bnts,bsnh->bnth", softmax(jnp.where(other, capped(), -jnp.inf)), many_v)]
    # As keras writes it: hidden weights are 0, of queries that see nothing too.
    seen = (causal > 0) & (parts > 0)[:, None, None]
    results += [mixed(jnp.where(seen, softmax(jnp.where(seen, capped(), -1e9)), 0))]
    # Not attention: weights that are a result too; a softmax over the queries; another mask behind it; what
    # is added may hide as much as the mask.
    weights = softmax(capped())
    results += [mixed(weights), jnp.mean(weights, 1), mixed(softmax(capped(), 2))]
    results += [mixed(jnp.where(seen, softmax(jnp.where(own, capped(), -1e9)), 0))]
    results += [mixed(softmax(jnp.where(causal > 0, capped() + 1e9 * (parts[:, None, None] - 1.0), -1e9)))]
    return results


def triangular(a, b, odd, rows):
    """Every side, triangle, transpose and diagonal; sizes that are no powers of two; what is on the other side is no number; gradients."""
    solve = jax.lax.linalg.triangular_solve
    own = 2 * jnp.eye(a.shape[-1]) + 0.3 * a
    results = []
    for lower in (False, True):
        one = jnp.where(jnp.tril(jnp.ones_like(own)) > 0, own, jnp.nan) if lower else jnp.where(jnp.triu(jnp.ones_like(own)) > 0, own, jnp.nan)
        for turned in (False, True):
            for unit in (False, True):
                kind = dict(lower=lower, transpose_a=turned, unit_diagonal=unit)
                results += [solve(one, b, left_side=True, **kind), solve(one, jnp.swapaxes(b, -1, -2), left_side=False, **kind)]
    odd = jnp.eye(odd.shape[-1]) + 0.3 * odd
    results += [jax.scipy.linalg.solve_triangular(odd, rows, lower=True), solve(odd[:1, :1] + 1, rows[:1], left_side=True)]
    loss = lambda odd, rows: jnp.sum(jax.scipy.linalg.solve_triangular(odd, rows, lower=True) ** 2)
    return *results, *jax.grad(loss, (0, 1))(odd, rows)


MLP = ({"w1": (16, 32), "b1": (32,), "w2": (32, 8), "b2": (8,)}, (8, 16), (8, 8))


def linear_regression(params, x, y):
    return jnp.mean((x @ params["w"] + params["b"] - y) ** 2)


def gpt(params, tokens, labels):
    x = params["wte"][tokens] + params["wpe"]
    for block in params["blocks"]:
        x = x + attention(layer_norm(x, block["s1"], block["o1"]), *(block[w] for w in ("wq", "wk", "wv", "wo")))
        h = layer_norm(x, block["s2"], block["o2"])
        x = x + jax.nn.gelu(h @ block["up"]) @ block["down"]
    return cross_entropy(x @ params["wte"].T, labels)


BLOCK = {"wq": (8, 4, 2), "wk": (8, 4, 2), "wv": (8, 4, 2), "wo": (4, 2, 8), "up": (8, 16), "down": (16, 8),
         "s1": (8,), "o1": (8,), "s2": (8,), "o2": (8,)}
GPT = ({"wte": (16, 8), "wpe": (4, 8), "blocks": [BLOCK, BLOCK]}, ("i", 16, (4, 4)), ("i", 16, (4, 4)))


def scanned(params, x):
    def body(h, w):
        return jnp.tanh(h @ w), jnp.sum(h)

    h, sums = jax.lax.scan(body, x, params["w"])
    return jnp.sum(h), sums


def embedding(params, tokens):
    return params["table"][tokens], jnp.take(params["table"], tokens[0], axis=1, mode="clip")


def order(x):
    return (jnp.sort(x, -1), jnp.argsort(x, 0), jax.lax.top_k(x, 3), jnp.argmax(x, 0), jnp.argmin(x, 1),
            jnp.cumsum(x, 1), jnp.cumsum(x, 0, dtype=x.dtype)[::-1], jax.lax.cummax(x, 1, reverse=True))


def elementwise(x, y):
    return (jnp.exp(x) * jnp.log1p(jnp.abs(y)), jnp.where(x > y, jnp.sin(x), 0.5), jnp.clip(x, -0.2, 0.2),
            jax.nn.gelu(x, approximate=False), jax.nn.silu(y), jnp.arctan2(x, y), jnp.sign(x) * jnp.sqrt(jnp.abs(y)),
            jnp.maximum(x, y) / (1 + y * y), jnp.round(x * 7), jnp.isfinite(x) & (x < y), jax.nn.softplus(x),
            jnp.floor(x) + jnp.ceil(y), jax.nn.sigmoid(x), jnp.expm1(x), jnp.power(jnp.abs(x), 1.5),
            (x * 9).astype(int), jnp.logaddexp(x, y), jax.nn.log_sigmoid(9 * x))


def moves(x):
    return (jnp.pad(x, ((1, 1), (0, 2)), constant_values=2.0), x[1:3, ::2], jnp.concatenate([x, -x], 1), jnp.flip(x, 0),
            jnp.roll(x, 1, 1), jnp.tril(x), x.T.reshape(2, 4, 4), jax.nn.one_hot(jnp.arange(4), 8),
            jax.lax.dynamic_slice(x, (jnp.argmax(x[:, 0]), 0), (2, 8)), jnp.stack([x, x + 1]), jnp.repeat(x, 2, 0),
            jax.lax.dynamic_update_slice(x, x[:2] * 2, (jnp.argmax(x[:, 0]), 0)), jnp.squeeze(x[:1]), jnp.mean(x, 0))


def reductions(x):
    return (jnp.sum(x), jnp.max(x, 0), jnp.min(x, 1), jnp.prod(x, 0), jnp.any(x > 0.35, 1), jnp.all(x < 0.35, 0),
            jax.nn.logsumexp(x, -1), jnp.var(x), jnp.linalg.norm(x))


def accumulate(x, i):
    return jnp.zeros((8, 4)).at[i].add(x), x.at[i].add(1.0, mode="drop")


def branches(x, i):
    step = jax.lax.switch(i, [jnp.sin, lambda y: y * 2, lambda y: y @ y.T @ y], x)
    return jax.lax.cond(x[0, 0] > 0, lambda y: (y, y + 1), lambda y: (-y, y), step)


def randomness(x):
    key, other = jax.random.split(jax.random.PRNGKey(7))
    dropped = jnp.where(jax.random.bernoulli(key, 0.75, x.shape), x / 0.75, 0)
    return dropped, jax.random.uniform(other, (4, 8), minval=-1), jax.random.bits(other, (8,)).view(jnp.int32)


def loops_by_number(params, x, tokens):
    """Loops that compute with the number of the trip: places in an array, a step of time, a rate."""
    def greedy(i, tokens):
        mixed = jnp.tanh(jnp.cumsum(params["e"][tokens], 1) @ params["w"])
        return tokens.at[:, i].set(jnp.argmax(mixed[:, i - 1], -1))

    def step(x, t):
        return x + jnp.tanh(x @ params["w"] + jnp.sin(t * jnp.arange(8.0))), jnp.sum(x)

    def averaged(i, carry):
        y, total = carry
        rate = 1.0 / (i + 1.0)
        y = jnp.tanh(y @ params["w"]) * rate + y * (1 - rate)
        return y, total + jnp.sum(y) * i

    stepped = jax.lax.scan(step, x, jnp.arange(10.0))
    return jax.lax.fori_loop(4, 8, greedy, tokens), *stepped, *jax.lax.fori_loop(0, 12, averaged, (x, 0.0))


def draws(x, seed, impl="threefry2x32"):
    """Of a key that is computed: what each of jax.random's functions draws, and a loop over keys."""
    keys = jax.random.split(jax.random.fold_in(jax.random.key(3, impl=impl), seed), 7)
    scanned, _ = jax.lax.scan(lambda y, key: (y * jax.random.bernoulli(key, 0.75, x.shape), None), x, keys[4:])
    bits = jax.random.bits(keys[0], (8, 4)) >> 4
    return (scanned, bits.astype(jnp.int32), jax.random.uniform(keys[1], (4, 8)),
            jax.random.uniform(keys[1], (8,), minval=-2, maxval=3), jax.random.normal(keys[2], x.shape) + x,
            jax.random.truncated_normal(keys[3], -2, 1.5, x.shape), jax.random.randint(keys[0], (16,), -5, 1000))


def narrow_bits(x, key):
    """Under a key of rbg that is given: bits of other sizes, and a state that goes on."""
    state, first = jax.lax.rng_bit_generator(key.astype(jnp.uint32), (5,), dtype=jnp.uint8)
    state, second = jax.lax.rng_bit_generator(state, (4, 3), dtype=jnp.uint16)
    halves = jax.random.uniform(jax.random.wrap_key_data(state, impl="rbg"), (4, 8), jnp.bfloat16)
    return first.astype(jnp.int32), second.astype(jnp.int32), x * halves.astype(jnp.float32)


def norms_by_hand(x, scale, bias):
    """As they are written without jax.nn: over a root, by one over a root, and silu over 1 + exp(-x)."""
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    squares = (jnp.mean(y * y, -1) for y in (x, x, x))
    return (scale * (x - mean) / jnp.sqrt(variance + 1e-5) + bias, x / jnp.sqrt(next(squares) + 1e-6)[:, None] * scale,
            scale * (x * (1 / jnp.sqrt(next(squares) + 1e-6)[:, None])), (x * scale) / jnp.sqrt(next(squares) + 1e-6)[:, None],
            x / (1 + jnp.exp(-x)))


def pads(x, i):
    """By numbers that JAX puts together, and by what is computed."""
    spread = jax.lax.pad(x, x[0, 0], ((1, 0, 1), (0, 2, 0)))
    return (jnp.pad(x, ((0, 1), (2, 0)), constant_values=((3.5, 2), (-1, 0))), spread,
            jax.lax.pad(i, i[3, 1], ((-1, 2, 0), (0, 0, 3))), jax.lax.pad(x > 0, x[0, 1] > 0, ((1, 1, 0), (0, 0, 0))))


def placed(x, i, rows, n):
    return (x.at[i].set(rows), x.at[i // 2].set(rows), x.at[i, 2].set(rows[:, 0], mode="drop"), x.T.at[:, i].set(rows.T), x.at[1:3].set(2.0),
            x.at[n].set(x[0]), x.at[n + 3, 1].set(7.0), x.at[-1].set(rows[0]))


def sorted_by_several(x, i):
    return (*jax.lax.sort((i, x, -x), num_keys=2), *jax.lax.sort((jnp.round(x * 3), i, x), dimension=0, num_keys=2),
            jnp.lexsort((x[0], i[0])))


def bits(i):
    logical = jax.lax.shift_right_logical
    return i & 12, i | 3, i ^ 5, ~i, i << 2, -i >> 1, logical(-i, jnp.full_like(i, 28)), i.astype(jnp.uint32) << 29


def bits_of_floats(x):
    bits, floats = jax.lax.bitcast_convert_type, jax.lax.convert_element_type
    of_halves = bits(floats(x, jnp.bfloat16), jnp.uint16), bits(floats(x, jnp.float16), jnp.int16)
    exponent = (bits(x, jnp.uint32) >> 23) & 255
    return (bits(x, jnp.int32), *(half.astype(jnp.int32) for half in of_halves), exponent.astype(jnp.int32),
            bits((bits(x, jnp.uint32) & 0x7FFFFF) | 0x3F800000, jnp.float32), *jnp.frexp(x))


def best_places(x, i):
    x = jnp.where(x > 0.35, jnp.nan, x)
    return jnp.argmax(x, 1), jnp.argmin(x, 0), jnp.argmax(i, 0), jnp.argmin(-i, 1), jnp.argmax(i > 3, 1), jnp.min(i > 0)


def empty_parts(x):
    return jax.lax.associative_scan(jnp.add, x), jnp.pad(x, ((0, 1), (2, 0)), mode="edge"), jnp.pad(x, 1, mode="wrap")


def empty_gradients(params, x):
    """Where parts without elements are padded, added up, multiplied and written."""
    edges = jnp.pad(x @ params["w"], ((0, 1), (2, 0)), mode="edge")
    nothing = params["w"][:0]
    return jnp.sum(jnp.tanh(edges)) + jnp.sum(nothing) + jnp.sum(x[:, :0] @ nothing) + jnp.sum(edges.at[:0].set(nothing[:, :1]))


def coordinates(x, i, j):
    return x[i, j], x[i, :, j], x[i + 3, j - 9], x.at[i, j].add(1.0), x.transpose(1, 2, 0).at[:, j, i].add(x[0, 0, 0])


def windows_at_one_place(x, i):
    """The same of each example: of dynamic_slice vmap makes a gather of one window."""
    part = jax.vmap(lambda row: jax.lax.dynamic_slice_in_dim(row, i, 3))(x)
    box = jax.vmap(lambda row: jax.lax.dynamic_slice(row, (i, i - 1), (2, 4)))(x)
    moved = jax.vmap(lambda row: jax.lax.dynamic_slice(row, (5 * i, -3), (7, 7)))(x)
    rows = lambda row: jax.lax.fori_loop(0, 4, lambda n, s: s + jax.lax.dynamic_slice_in_dim(row, 2 * n, 2), jnp.zeros((2, 8)))
    return part, box, moved, jax.vmap(rows)(x), x.at[1].get(mode="clip")[2:5]


def composed(x):
    return (jnp.tan(x), jnp.arctan(x), jnp.cbrt(x), jax.lax.round(x * 5, jax.lax.RoundingMethod.AWAY_FROM_ZERO),
            jax.scipy.special.erfinv(x * 2.4999), jax.random.normal(jax.random.PRNGKey(1), (4, 8)))


def convolutions(x, w, each, up):
    conv, nhwc = jax.lax.conv_general_dilated, ("NHWC", "HWIO", "NHWC")
    return (conv(x, w, (2, 1), "SAME", dimension_numbers=nhwc),
            conv(x, each, (1, 1), ((1, 2), (-1, 1)), rhs_dilation=(2, 1), dimension_numbers=nhwc,
                 feature_group_count=4),
            jax.lax.conv_transpose(x, up, (2, 2), "SAME"),
            conv(jnp.moveaxis(x, -1, 1), jnp.transpose(w, (3, 2, 0, 1)), (1, 2), "VALID"))


def ragged(params, x, sizes):
    h = jax.nn.silu(jax.lax.ragged_dot(x, params["w"], sizes))
    return jnp.mean(jax.lax.ragged_dot(h, params["u"], sizes) ** 2)


def pool(x, start, combine, window, strides, padding):
    return jax.lax.reduce_window(x, start, combine, (1, *window, 1), (1, *strides, 1), padding)


def convnet(params, x):
    conv, nhwc = jax.lax.conv_general_dilated, ("NHWC", "HWIO", "NHWC")
    h = jnp.tanh(conv(x, params["w1"], (1, 1), "SAME", dimension_numbers=nhwc))
    h = pool(h, -jnp.inf, jax.lax.max, (3, 3), (2, 2), "SAME")
    h = conv(h, params["w2"], (2, 1), ((1, 1), (1, 0)), dimension_numbers=nhwc, feature_group_count=2)
    h = pool(h, 0.0, jax.lax.add, (2, 2), (1, 1), "SAME") - pool(h, jnp.inf, jax.lax.min, (2, 2), (1, 1), "SAME")
    return jnp.mean(h**2)


def scanned_tanh(params, x):
    """Each kind of op of its backward pass stands in a trip more than once."""
    x, _ = jax.lax.scan(lambda x, _: (x + jnp.tanh(x @ params["a"]) @ params["b"], None), x, None, length=12)
    return jnp.mean(x**2)


def lstm(params, xs):
    """A net over time that begins with nothing: what it is given in a step is an entry of a value, and so is its gradient."""
    def cell(carry, x):
        h, c = carry
        i, f, g, o = jnp.split(x @ params["w"] + h @ params["u"] + params["b"], 4, -1)
        c = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h
    _, ys = jax.lax.scan(cell, (jnp.zeros((4, 8)), jnp.zeros((4, 8))), xs)
    return jnp.mean((ys @ params["v"]) ** 2)


LSTM = ({"w": (8, 32), "u": (8, 32), "b": (32,), "v": (8, 4)}, (6, 4, 8))


def loops_over_values(x, y):
    """Loops that go backwards, that stack what they were given, that begin in the middle, and whose entries are read twice."""
    def advantage(carry, at):
        reward, value, after = at
        carry = reward + 0.9 * after - value + 0.8 * carry
        return carry, carry
    def before(carry, at):
        return jnp.tanh(carry * at + 0.5), (carry, carry * carry)
    first = jax.lax.scan(advantage, jnp.zeros(4), (x[:-1], y[:-1], y[1:]), reverse=True)[1]
    last, (given, squares) = jax.lax.scan(before, y[0], x[2:])
    mapped = jax.lax.map(lambda at: jnp.sin(at) * jnp.exp(at) + jnp.cos(at) * jnp.tanh(at - 1) + at * at, x)
    return first, last, given, squares, mapped, jnp.cumsum(x, 0) + mapped


CONVNET = ({"w1": (3, 3, 4, 8), "w2": (3, 2, 4, 8)}, (4, 8, 8, 4))
GRAD = jax.value_and_grad
# name: function, what it is given: shapes, ("i", bound, shape) of whole numbers, and trees of them
def tables(x, places):
    """What a program closes over: angles of positions, weights of several types, a mask, places; used by two layers."""
    angles = np.outer(np.arange(96), 1 / 100 ** (np.arange(0, 16, 2) / 16))
    turns = jnp.asarray(np.cos(angles), jnp.float32), jnp.asarray(np.sin(angles), jnp.float32)
    waves = np.sin(0.7 * np.arange(16 * 72)).reshape(16, 72)
    weights, narrow = jnp.asarray(waves, jnp.float32), jnp.asarray(waves, jnp.bfloat16)
    mask, order = jnp.asarray(waves > -0.5), jnp.asarray(np.arange(16 * 72)[::-1].reshape(16, 72) * 5 % 72)
    for _ in range(2):
        cos, sin = (part[places][:, :, None] for part in turns)
        first, second = jnp.split(x, 2, -1)
        x = x + jnp.concatenate([first * cos - second * sin, second * cos + first * sin], -1)
        hidden = jnp.where(mask, jnp.tanh(x @ weights)[..., None, :], 0).sum(-2)
        x = x + hidden @ narrow.astype(jnp.float32).T * 0.01
    return x, jnp.take_along_axis(weights, order, 1).sum(1)


PROGRAMS = {
    "mlp_loss": (mlp, MLP),
    "mlp_gradients": (GRAD(mlp), MLP),
    "linear_regression": (linear_regression, ({"w": (8, 4), "b": (4,)}, (8, 8), (8, 4))),
    "attention_block": (attention, ((4, 4, 8), (8, 4, 2), (8, 4, 2), (8, 4, 2), (4, 2, 8))),
    "attentions": (attentions, (*[(2, 8, 4, 4)] * 3, *[(2, 8, 2, 4)] * 2, (1, 4, 8, 8), ("i", 14, (2,)))),
    "attentions_by_hand": (attentions_by_hand, ((2, 8, 16), (16, 48), *[(2, 8, 2, 4)] * 2, ("i", 3, (2, 8)))),
    "attentions_dropping": (attentions_dropping, (*[(2, 8, 2, 4)] * 3, ("i", 5, ()))),
    "attentions_dropping_rbg": (functools.partial(attentions_dropping, impl="rbg"), (*[(2, 8, 2, 4)] * 3, ("i", 5, ()))),
    "ropes": ROPES,
    "triangular": (triangular, ((2, 8, 8), (2, 8, 4), (5, 5), (5, 3))),
    "stacked_layers": STACKED,
    "lookups": (lookups, ((8, 4), (4, 4, 8), ("i", 8, (4, 4)))),
    "norms": (norms, ((4, 8), (8,), (8,))),
    "layer_norm": (layer_norm, ((4, 8), (8,), (8,))),
    "softmax": (lambda x: jax.nn.softmax(x, -1), ((4, 8),)),
    "embedding": (embedding, ({"table": (8, 8)}, ("i", 8, (4, 4)))),
    "embedding_gradient": (GRAD(lambda params, i: jnp.sum(params["table"][i] ** 2)),
                           ({"table": (8, 8)}, ("i", 8, (4, 4)))),
    "scanned_layers": (scanned, ({"w": (3, 8, 8)}, (4, 8))),
    "gpt_loss": (gpt, GPT),
    "gpt_gradients": (GRAD(gpt), GPT),
    "order": (order, ((4, 8),)),
    "tables": (tables, ((2, 4, 2, 16), ("i", 96, (2, 4)))),
    "elementwise": (elementwise, ((4, 8), (4, 8))),
    "moves": (moves, ((4, 8),)),
    "reductions": (reductions, ((4, 8),)),
    "accumulate": (accumulate, ((4, 4), ("i", 4, (4,)))),
    "branches": (branches, ((4, 8), ("i", 3, ()))),
    "randomness": (randomness, ((4, 8),)),
    "loops_by_number": (loops_by_number, ({"e": (8, 8), "w": (8, 8)}, (4, 8), ("i", 8, (4, 8)))),
    "draws": (draws, ((4, 8), ("i", 9, ()))),
    "draws_as_before": (draws, ((4, 8), ("i", 9, ()))),
    "draws_rbg": (functools.partial(draws, impl="rbg"), ((4, 8), ("i", 9, ()))),
    "draws_unsafe_rbg": (functools.partial(draws, impl="unsafe_rbg"), ((4, 8), ("i", 9, ()))),
    "narrow_bits": (narrow_bits, ((4, 8), ("i", 9, (4,)))),
    "norms_by_hand": (norms_by_hand, ((4, 8), (8,), (8,))),
    "pads": (pads, ((4, 8), ("i", 9, (4, 8)))),
    "placed": (placed, ((8, 4), ("i", 8, (4,)), (4, 4), ("i", 8, ()))),
    "sorted_by_several": (sorted_by_several, ((4, 8), ("i", 3, (4, 8)))),
    "bits": (bits, (("i", 50, (4, 8)),)),
    "bits_of_floats": (bits_of_floats, ((4, 8),)),
    "best_places": (best_places, ((4, 8), ("i", 9, (4, 8)))),
    "empty_parts": (empty_parts, ((4, 8),)),
    "empty_gradients": (GRAD(empty_gradients), ({"w": (8, 8)}, (4, 8))),
    "coordinates": (coordinates, ((4, 2, 8), ("i", 4, (4,)), ("i", 8, (4,)))),
    "windows_at_one_place": (windows_at_one_place, ((4, 8, 8), ("i", 6, ()))),
    "composed": (composed, ((4, 8),)),
    "picked_loss": (GRAD(lambda params, x, y: -jnp.mean(jax.nn.log_softmax(x @ params["w"])[jnp.arange(4), y])),
                    ({"w": (8, 8)}, (4, 8), ("i", 8, (4,)))),
    "gelu_bf16": (lambda x: (jax.nn.gelu(x.astype(jnp.bfloat16)), jax.nn.gelu(4 * x.astype(jnp.bfloat16), approximate=False),
                             jax.nn.softplus(4 * x.astype(jnp.bfloat16))), ((4, 8),)),
    "matmul_bf16": (lambda x, w: (x.astype(jnp.bfloat16) @ w.astype(jnp.bfloat16)).astype(jnp.float32) * 1,
                       ((4, 8), (8, 4))),
    "convolutions": (convolutions, ((2, 4, 8, 4), (3, 2, 4, 8), (3, 3, 1, 8), (2, 3, 4, 8))),
    "convnet_gradients": (GRAD(convnet), CONVNET),
    "ragged_gradients": (GRAD(ragged), ({"w": (4, 8, 6), "u": (4, 6, 8)}, (12, 8), ("i", 5, (4,)))),
    "windows": (windows, ((4, 8), (4, 4), ("i", 3, (4,)))),
    "special_functions": (special_functions, ((4, 8),)),
    "whole_functions": (whole_functions, (("i", 50, (4, 8)),)),
    "stopping_loop": (stopping_loop, ({"e": (8, 4), "w": (4, 4)}, ("i", 8, (4,)))),
    "manual_region": (manual_region, ({"w": (16, 8)}, (8, 16))),
    "region_of_layers": (GRAD(region_of_layers), ({"stack": (3, 8, 2, 8), "rows": [(8, 2, 8)] * 4}, (8, 8))),
    "layers_of_regions": (GRAD(layers_of_regions), ({"stack": (3, 12, 16), "rows": [(12, 16)] * 3}, (8, 8))),
    "shared_sum": (shared_sum, ({"rows": [(8, 8)] * 4}, (8, 8))),
    "regions_of_constants": (regions_of_constants, ({"stack": (4, 8, 8)}, (8, 8))),
    "manual_gradients": (GRAD(manual_gradients), ({"w": (16, 8), "b": (8,)}, (8, 16))),
    "lstm_gradients": (GRAD(lstm), LSTM),
    "scanned_tanh": (GRAD(scanned_tanh), ({"a": (8, 8), "b": (8, 8)}, (4, 8))),
    "loops_over_values": (loops_over_values, ((8, 4), (8, 4))),
    "whole_product": (lambda x, w: jax.lax.dot_general(x.astype(jnp.int8), w.astype(jnp.int8), (((1,), (0,)), ((), ())),
                                                        preferred_element_type=jnp.int32),
                      (("i", 50, (4, 8)), ("i", 50, (8, 4)))),
    "same_result_twice": (lambda x: (x, x, jnp.tanh(x), jnp.zeros(4)), ((4, 8),)),
    **UPDATES,
    **COMPLEX,
}
RECORDED = ["mlp_loss", "mlp_gradients", "linear_regression", "attention_block", "attentions",
            "attentions_by_hand", "attentions_dropping", "attentions_dropping_rbg", "ropes", "stacked_layers", "triangular", "lookups", "norms", "layer_norm", "softmax", "embedding",
            "embedding_gradient", "scanned_layers", "gpt_loss", "order", "tables", "elementwise", "moves",
            "reductions", "accumulate", "branches", "randomness", "bits", "best_places", "empty_parts", "empty_gradients", "coordinates", "picked_loss",
            "composed", "convolutions", "convnet_gradients", "placed", "sorted_by_several", "ragged_gradients", "windows",
            "draws", "draws_as_before", "draws_rbg", "draws_unsafe_rbg", "narrow_bits", "norms_by_hand", "pads",
            "loops_by_number", "special_functions", "whole_functions", "stopping_loop", "manual_region",
            "manual_gradients", "region_of_layers", "layers_of_regions", "regions_of_constants", "shared_sum",
            "windows_at_one_place",
            "lstm_gradients", "scanned_tanh", "loops_over_values", "whole_product", *UPDATES, *COMPLEX]
LOWERED_FOR = {"ragged_gradients": "tpu"}  # elsewhere JAX writes a product over all groups
DONATED = {}
if import_models:
    models = import_models.programs()
    PROGRAMS |= models
    RECORDED += models
    DONATED = import_models.DONATED


def is_leaf(spec):
    return isinstance(spec, tuple) and all(isinstance(size, (int, str, tuple)) for size in spec) and (
        not spec or isinstance(spec[0], (int, str)))


def fill(spec, count):
    """The array of a spec; `count` holds how many there were."""
    count[0] += 1
    if spec and spec[0] == "i":
        size = int(np.prod(spec[2]))
        return ((np.arange(size, dtype=np.int64) * 7 + count[0]) % spec[1]).astype(np.int32).reshape(spec[2])
    shape = spec[1] if spec and spec[0] == "+" else spec
    wave = 0.4 * np.sin(0.7 * np.arange(int(np.prod(shape))) + count[0])
    return (np.abs(wave) if shape is not spec else wave).astype(np.float32).reshape(shape)


def argument_name(path):
    """What recorded values are called."""
    name = path.replace(".", "_")
    while name.startswith("params_"):
        name = name.removeprefix("params_")
    return name


def trace(name):
    function, specs = PROGRAMS[name]
    count = [0]
    arguments = jax.tree.map(lambda spec: fill(spec, count), specs, is_leaf=is_leaf)
    donated = tuple(range(DONATED.get(name, 0)))
    # The bits of jax.random were laid out otherwise before jax 0.5.
    with jax.threefry_partitionable(not name.endswith("as_before")):
        return imported.trace(function, arguments, donated, LOWERED_FOR.get(name, "cpu"))


def without_folders(text):
    """The program's places without the folders of this machine; those of packages are still seen to be theirs."""
    return re.sub(r'"/[^"]*/([^"/]*)"', r'"\1"', re.sub(r'"/[^"]*/(site-packages/[^"]*)"', r'"\1"', text))


def record(folder, words):
    """NAME.mlir and NAME.json: what is given to each argument, and what JAX returns, row-major."""
    for form in folder.glob("*"):
        if not words:
            form.unlink()
    for name in RECORDED:
        if words and not any(word in name for word in words):
            continue
        traced = trace(name)
        (folder / f"{name}.mlir").write_text(without_folders(traced.text))
        rounded = [[float(f"{x:.8g}") for x in result.ravel().tolist()] for result in traced.results]
        values = {"arguments": {}, "results": rounded}
        for path, spec in zip(traced.arrays, jax.tree.leaves(PROGRAMS[name][1], is_leaf=is_leaf), strict=True):
            kind = spec[0] if spec and isinstance(spec[0], str) else "sin"
            values["arguments"][argument_name(path)] = spec[1] if kind == "i" else {"+": "positive"}.get(kind, kind)
        if name == "flax_gpt":
            count = [0]
            arguments = jax.tree.map(lambda spec: fill(spec, count), PROGRAMS[name][1], is_leaf=is_leaf)
            values["adam_losses"] = import_models.adam_losses(arguments, 5)
        (folder / f"{name}.json").write_text(json.dumps(values) + "\n")
    for name in () if words else ("mlp_loss", "order"):
        function, specs = PROGRAMS[name]
        arguments = jax.tree.map(lambda spec: fill(spec, [0]), specs, is_leaf=is_leaf)
        module = jax.jit(function, keep_unused=True).lower(*arguments).compiler_ir().operation
        generic = module.get_asm(print_generic_op_form=True, enable_debug_info=True)
        (folder / f"{name}.generic.mlir").write_text(without_folders(generic))


def main():
    if len(sys.argv) >= 4 and sys.argv[2] == "--record":
        record(pathlib.Path(sys.argv[3]), sys.argv[4:])
        return 0
    failed = 0
    for name in PROGRAMS:
        if sys.argv[2:] and not any(word in name for word in sys.argv[2:]):
            continue
        outcome = imported.compare(trace(name), "gradient" in name)
        bad = outcome.problem or not outcome.difference <= (ALLOWED_BF16 if "bf16" in name else ALLOWED)
        failed += bool(bad)
        print(f"{name:20} {outcome.problem or f'{outcome.difference:.1e}'}{'  FAILED' if bad else ''}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
