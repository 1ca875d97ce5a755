"""The models of the examples in plain JAX, from their publications: what `examples_check.py` holds shardc against.

Each makes the outputs of a model of its parameters and inputs, which have the names that shardc gives them. Layers come one
above the other and are taken in turn; nothing is scanned, split or computed again.
"""

import math

import jax
import jax.numpy as jnp
import numpy as np


def rms_norm(x, scale, eps=1e-5):
    return x / jnp.sqrt(jnp.mean(x * x, -1, keepdims=True) + eps) * scale


def layer_norm(x, scale, bias, eps):
    mean = jnp.mean(x, -1, keepdims=True)
    return (x - mean) / jnp.sqrt(jnp.mean((x - mean) ** 2, -1, keepdims=True) + eps) * scale + bias


def rope(x, theta):
    half = x.shape[-1] // 2
    angle = jnp.arange(x.shape[1])[:, None] * theta ** (-jnp.arange(half) / half)
    cos, sin = jnp.cos(angle)[:, None].astype(x.dtype), jnp.sin(angle)[:, None].astype(x.dtype)
    first, second = x[..., :half], x[..., half:]
    return jnp.concatenate([first * cos - second * sin, second * cos + first * sin], -1)


def attend(n, p, theta, causal):
    q, k, v = (jnp.einsum("bld,dhk->blhk", n, p[w]) for w in ("wq", "wk", "wv"))
    if "bq" in p:
        q, k, v = q + p["bq"], k + p["bk"], v + p["bv"]
    if theta:
        q, k = rope(q, theta), rope(k, theta)
    k, v = (jnp.repeat(t, q.shape[2] // t.shape[2], 2) for t in (k, v))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(q.shape[-1])
    if causal:
        scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -jnp.inf)
    out = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)
    return jnp.einsum("blhk,hkd->bld", out, p["wo"])


def layers_of(params, block):
    stack = {name.removeprefix(block + "."): w for name, w in params.items() if name.startswith(block + ".")}
    for layer in range(next(iter(stack.values())).shape[0]):
        yield {name: w[layer] for name, w in stack.items()}


def language_model(params, inputs, block, mlp, theta):
    x = params["wte"][inputs["tokens"]]
    for p in layers_of(params, block):
        x = x + attend(rms_norm(x, p["attention_norm"]), p, theta, True)
        x = x + mlp(rms_norm(x, p["mlp_norm"]), p)
    return rms_norm(x, params["norm"]) @ params["unembed"]


def llama(params, inputs):
    gated = lambda n, p: (jax.nn.silu(n @ p["w_gate"]) * (n @ p["w_up"])) @ p["w_down"]
    return language_model(params, inputs, "llama_block", gated, 500000)


def mixtral(params, inputs):
    def experts(n, p):
        best, chosen = jax.lax.top_k(jax.nn.softmax(n @ p["moe.router"]), 2)
        share = jnp.einsum("blk,blke->ble", best / best.sum(-1, keepdims=True), jax.nn.one_hot(chosen, 8))
        made = jax.nn.silu(jnp.einsum("bld,edf->blef", n, p["moe.w_gate"]))
        made = made * jnp.einsum("bld,edf->blef", n, p["moe.w_up"])
        return jnp.einsum("blef,efd,ble->bld", made, p["moe.w_down"], share)

    return language_model(params, inputs, "moe_block", experts, 1000000)


def vit(params, inputs):
    image = inputs["image"]
    batch, channels, height, width = image.shape
    patches = image.reshape(batch, channels, height // 16, 16, width // 16, 16)
    x = jnp.einsum("bcrpsq,cpqd->brsd", patches, params["w_patch"]) + params["b_patch"]
    x = x.reshape(batch, -1, x.shape[-1])
    first = jnp.broadcast_to(params["cls"], (batch, 1, x.shape[-1]))
    x = jnp.concatenate([first, x], 1) + params["wpe"]
    for p in layers_of(params, "vit_block"):
        x = x + attend(layer_norm(x, p["ln1_scale"], p["ln1_bias"], 1e-6), p, None, False) + p["bo"]
        n = layer_norm(x, p["ln2_scale"], p["ln2_bias"], 1e-6)
        x = x + jax.nn.gelu(n @ p["w_up"] + p["b_up"], approximate=False) @ p["w_down"] + p["b_down"]
    x = layer_norm(x, params["ln_scale"], params["ln_bias"], 1e-6)
    return x[:, 0] @ params["w_head"] + params["b_head"]


def resnet50(params, inputs):
    def conv_norm(x, path, stride, relu=True):
        w = params[path + ".w"]
        pad = (w.shape[0] - 1) // 2
        x = jax.lax.conv_general_dilated(
            x, w, (stride, stride), [(pad, pad)] * 2, dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        x = x - jnp.mean(x, (0, 1, 2))
        x = x * jax.lax.rsqrt(jnp.mean(x * x, (0, 1, 2)) + 1e-5) * params[path + ".batch_norm.scale"]
        x = x + params[path + ".batch_norm.bias"]
        return jax.nn.relu(x) if relu else x

    def bottleneck(x, path, stride, project):
        y = conv_norm(x, path + ".conv_norm", 1)
        y = conv_norm(y, path + ".conv_norm_2", stride)
        y = conv_norm(y, path + ".conv_norm_3", 1, False)
        return jax.nn.relu((conv_norm(x, path + ".shortcut", stride, False) if project else x) + y)

    x = conv_norm(inputs["images"], "conv_norm", 2)
    x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), [(0, 0), (1, 1), (1, 1), (0, 0)])
    for n, more in enumerate([2, 3, 5, 2]):
        path = "stage" if n == 0 else f"stage_{n + 1}"
        x = bottleneck(x, path + ".first", 1 if n == 0 else 2, True)
        for block in range(more):
            x = bottleneck(x, f"{path}.bottleneck.{block}", 1, False)
    return jnp.mean(x, (1, 2)) @ params["head"] + params["head_bias"]


def gemma2(params, inputs, window, cap, query_scale):
    def gemma_norm(x, scale):
        return rms_norm(x, 1 + scale, 1e-6)

    def block(x, p, is_local):
        n = gemma_norm(x, p["attention_norm"])
        q, k, v = (jnp.einsum("bld,dhk->blhk", n, p[w]) for w in ("wq", "wk", "wv"))
        q, k = rope(q, 10000), rope(k, 10000)
        shared_by = q.shape[2] // k.shape[2]
        q = q.reshape(*q.shape[:2], k.shape[2], shared_by, q.shape[3])
        scores = jnp.einsum("bqgsd,bkgd->bgsqk", q, k) * query_scale
        scores = cap * jnp.tanh(scores / cap)
        back = jnp.arange(x.shape[1])[:, None] - jnp.arange(x.shape[1])
        seen = (back >= 0) & (back < window) if is_local else back >= 0
        weights = jax.nn.softmax(jnp.where(seen, scores, -jnp.inf))
        out = jnp.einsum("bgsqk,bkgd->bqgsd", weights, v).reshape(*x.shape[:2], -1)
        out = out @ p["wo"].reshape(-1, x.shape[-1])
        x = x + gemma_norm(out, p["attention_post_norm"])
        n = gemma_norm(x, p["mlp_norm"])
        out = (jax.nn.gelu(n @ p["w_gate"], approximate=True) * (n @ p["w_up"])) @ p["w_down"]
        return x + gemma_norm(out, p["mlp_post_norm"])

    x = params["wte"][inputs["tokens"]] * math.sqrt(params["wte"].shape[1])
    for local, everywhere in zip(layers_of(params, "gemma2_pair.local"), layers_of(params, "gemma2_pair.global")):
        x = block(block(x, local, True), everywhere, False)
    return 30 * jnp.tanh(gemma_norm(x, params["norm"]) @ params["wte"].T / 30)


def t5_buckets(queries, keys, both_ways):
    """Of 32 buckets up to a distance of 128, in whole numbers: bucket near + k from near (128 / near)^(k / rest) on."""
    buckets = np.zeros((queries, keys), np.int32)
    for query in range(queries):
        for key in range(keys):
            half = 16 if both_ways else 32
            near = rest = half // 2
            apart = abs(key - query) if both_ways else max(query - key, 0)
            bucket = apart
            if apart >= near:
                bucket = near + max(k for k in range(rest) if apart**rest >= near ** (rest - k) * 128**k)
            buckets[query, key] = bucket + (half if both_ways and key > query else 0)
    return buckets


def t5(params, inputs):
    def attention(x, y, p, path, bias):
        q = jnp.einsum("bqd,dhk->bhqk", x, p[path + ".wq"])
        k, v = (jnp.einsum("bsd,dhk->bhsk", y, p[path + w]) for w in (".wk", ".wv"))
        weights = jax.nn.softmax(q @ k.swapaxes(-1, -2) + bias)
        return jnp.einsum("bhqk,hkd->bqd", weights @ v, p[path + ".wo"])

    def bias_of(table, size, both_ways):
        return table[t5_buckets(size, size, both_ways)].transpose(2, 0, 1)

    def mlp(n, p):
        return jax.nn.relu(n @ p["mlp.w_up"]) @ p["mlp.w_down"]

    tokens, decoded = inputs["tokens"], inputs["decoder_tokens"]
    x, bias = params["wte"][tokens], bias_of(params["encoder_table"], tokens.shape[1], True)
    for p in layers_of(params, "t5_encoder_block"):
        n = rms_norm(x, p["attention_norm"], 1e-6)
        x = x + attention(n, n, p, "attention", bias)
        x = x + mlp(rms_norm(x, p["mlp_norm"], 1e-6), p)
    encoded = rms_norm(x, params["encoder_norm"], 1e-6)
    y, bias = params["wte"][decoded], bias_of(params["decoder_table"], decoded.shape[1], False)
    bias = jnp.where(jnp.tril(jnp.ones(bias.shape[1:], bool)), bias, -jnp.inf)
    for p in layers_of(params, "t5_decoder_block"):
        n = rms_norm(y, p["attention_norm"], 1e-6)
        y = y + attention(n, n, p, "attention", bias)
        y = y + attention(rms_norm(y, p["cross_norm"], 1e-6), encoded, p, "cross", 0)
        y = y + mlp(rms_norm(y, p["mlp_norm"], 1e-6), p)
    y = rms_norm(y, params["decoder_norm"], 1e-6) / math.sqrt(y.shape[-1])
    return y @ params["wte"].T


def deepseek_v3(params, inputs, groups, chosen_groups, chosen):
    """Queries and keys are halves that are multiplied apart; those that turn are complex numbers, (2, pairs)."""

    def turned(x):
        pairs = x.shape[-1]
        angle = jnp.arange(x.shape[1])[:, None] * 10000.0 ** (-jnp.arange(pairs) / pairs)
        turn = jnp.exp(1j * angle).reshape(x.shape[1], *[1] * (x.ndim - 4), pairs)
        real, imaginary = x[..., 0, :], x[..., 1, :]
        return jax.lax.complex(real, imaginary) * turn.astype(jnp.result_type(x, 1j))

    def latent_attention(n, p):
        low = rms_norm(n @ p["wq_a"], p["q_norm"], 1e-6)
        latent = rms_norm(n @ p["wkv_a"], p["kv_norm"], 1e-6)
        q = jnp.einsum("blr,rhk->blhk", low, p["wq"])
        k = jnp.einsum("blr,rhk->blhk", latent, p["wk"])
        v = jnp.einsum("blr,rhv->blhv", latent, p["wv"])
        q_turned = turned(jnp.einsum("blr,rhtp->blhtp", low, p["wq_turned"]))
        k_turned = turned(jnp.einsum("bld,dtp->bltp", n, p["wk_turned"]))
        scores = jnp.einsum("bqhk,bshk->bhqs", q, k)
        scores = scores + jnp.real(jnp.einsum("bqhp,bsp->bhqs", q_turned, jnp.conj(k_turned)))
        scores = scores / math.sqrt(q.shape[-1] + 2 * k_turned.shape[-1])
        scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -jnp.inf)
        return jnp.einsum("bhqs,bshv,hvd->bqd", jax.nn.softmax(scores), v, p["wo"])

    def gated(n, gate, up, down):
        return (jax.nn.silu(n @ gate) * (n @ up)) @ down

    def experts(n, p):
        affinity = jax.nn.sigmoid(n @ p["moe.router"])
        count = affinity.shape[-1]
        moved = affinity + p["moe.balance"]
        best_two = jnp.sort(moved.reshape(*moved.shape[:-1], groups, -1), -1)[..., -2:].sum(-1)
        _, best_groups = jax.lax.top_k(best_two, chosen_groups)
        is_open = jax.nn.one_hot(best_groups, groups).sum(-2).repeat(count // groups, -1)
        _, best = jax.lax.top_k(jnp.where(is_open > 0, moved, -jnp.inf), chosen)
        gate = affinity * jax.nn.one_hot(best, count, dtype=n.dtype).sum(-2)
        gate = 2.5 * gate / gate.sum(-1, keepdims=True)
        each = jax.vmap(gated, (None, 0, 0, 0), -1)(n, p["moe.w_gate"], p["moe.w_up"], p["moe.w_down"])
        return jnp.einsum("blde,ble->bld", each, gate)

    x = params["wte"][inputs["tokens"]]
    for p in layers_of(params, "deepseek_block"):
        x = x + latent_attention(rms_norm(x, p["attention_norm"], 1e-6), p)
        x = x + gated(rms_norm(x, p["mlp_norm"], 1e-6), p["w_gate"], p["w_up"], p["w_down"])
    for p in layers_of({**params, **inputs}, "deepseek_block_2"):
        x = x + latent_attention(rms_norm(x, p["attention_norm"], 1e-6), p)
        n = rms_norm(x, p["mlp_norm"], 1e-6)
        x = x + gated(n, p["shared_gate"], p["shared_up"], p["shared_down"]) + experts(n, p)
    return rms_norm(x, params["norm"], 1e-6) @ params["unembed"]


def mamba(params, inputs):
    def mixer(n, p):
        u, gate = n @ p["w_x"], n @ p["w_gate"]
        taps = p["conv"].shape[0]
        before = jnp.pad(u, ((0, 0), (taps - 1, 0), (0, 0)))
        u = sum(before[:, tap : tap + u.shape[1]] * p["conv"][tap, 0] for tap in range(taps)) + p["conv_bias"]
        u = jax.nn.silu(u)
        step = jax.nn.softplus(u @ p["w_step"] @ p["w_rank"] + p["step_bias"])
        b, c = u @ p["w_in"], u @ p["w_out"]
        rate = -jnp.exp(p["decay"])

        state, out = jnp.zeros((u.shape[0], *rate.shape), u.dtype), []
        for t in range(u.shape[1]):
            state = state * jnp.exp(step[:, t, :, None] * rate)
            state = state + (step[:, t] * u[:, t])[..., None] * b[:, t, None]
            out.append((state * c[:, t, None]).sum(-1))
        return ((jnp.stack(out, 1) + p["skip"] * u) * jax.nn.silu(gate)) @ p["w_back"]

    x = params["wte"][inputs["tokens"]]
    for p in layers_of(params, "mamba_block"):
        x = x + mixer(rms_norm(x, p["norm"]), p)
    return rms_norm(x, params["norm"]) @ params["wte"].T


def decode(params, inputs):
    """A token at `at` of its sequence; the places of the cache behind it hold what nobody may see."""
    at = int(inputs["at"])

    def turned(x, theta):
        half = x.shape[-1] // 2
        angle = at * theta ** (-jnp.arange(half) / half)
        turn = jnp.exp(1j * angle).astype(jnp.result_type(x, 1j))
        made = jax.lax.complex(x[..., :half], x[..., half:]) * turn
        return jnp.concatenate([made.real, made.imag], -1)

    x, caches = params["wte"][inputs["token"]], []
    for layer in range(sum(name.endswith(".wq") for name in params)):
        p = {name.split(".")[-1]: w for name, w in params.items() if name.startswith(f"block.{layer}.")}
        keys, values = (inputs[f"block.{layer}.{name}"] for name in ("keys", "values"))
        n = rms_norm(x, p["attention_norm"])
        q, k, v = (jnp.einsum("bd,dhk->bhk", n, p[w]) for w in ("wq", "wk", "wv"))
        keys = jnp.concatenate([keys[:, :at], turned(k, 500000)[:, None], keys[:, at + 1 :]], 1)
        values = jnp.concatenate([values[:, :at], v[:, None], values[:, at + 1 :]], 1)
        caches += [keys, values]
        shared_by = q.shape[1] // k.shape[1]
        q = turned(q, 500000).reshape(q.shape[0], k.shape[1], shared_by, -1) / math.sqrt(q.shape[-1])
        weights = jax.nn.softmax(jnp.einsum("bgsk,bpgk->bgsp", q, keys[:, : at + 1]))
        out = jnp.einsum("bgsp,bpgk->bgsk", weights, values[:, : at + 1]).reshape(x.shape[0], -1)
        x = x + out @ p["wo"].reshape(out.shape[-1], -1)
        n = rms_norm(x, p["mlp_norm"])
        x = x + (jax.nn.silu(n @ p["w_gate"]) * (n @ p["w_up"])) @ p["w_down"]
    logits = (rms_norm(x, params["norm"]) @ params["unembed"])[:, None]
    return logits, *caches
