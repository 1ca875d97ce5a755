"""Models of Flax, small, as import_check.py traces them: a GPT, its loss over scanned and rematerialised blocks, a Llama of
nnx, a ViT, a mixture of experts, a network of convolutions with batch norm, a whole step of AdamW, and a decoding step."""

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax import nnx

EMBED, HEADS, LENGTH, WORDS = 8, 2, 4, 16


class Block(nn.Module):
    dropout: float = 0.0

    @nn.compact
    def __call__(self, x):
        h = nn.LayerNorm()(x)
        q, k, v = (nn.DenseGeneral((HEADS, EMBED // HEADS), name=name)(h) for name in ("query", "key", "value"))
        scores = jnp.einsum("blhk,bmhk->bhlm", q, k) / jnp.sqrt(EMBED // HEADS)
        scores = jnp.where(jnp.tril(jnp.ones((LENGTH, LENGTH), bool)), scores, -jnp.inf)
        mixed = jnp.einsum("bhlm,bmhk->blhk", jax.nn.softmax(scores, -1), v)
        drop = nn.Dropout(self.dropout, deterministic=self.dropout == 0)
        x = x + drop(nn.DenseGeneral(EMBED, axis=(-2, -1), name="out")(mixed))
        h = nn.Dense(4 * EMBED, name="up")(nn.LayerNorm()(x))
        return x + drop(nn.Dense(EMBED, name="down")(nn.gelu(h)))


class Gpt(nn.Module):
    layers: int = 2
    scanned: bool = False
    dropout: float = 0.0

    @nn.compact
    def __call__(self, tokens):
        embed = nn.Embed(WORDS, EMBED)
        x = embed(tokens) + self.param("positions", nn.initializers.normal(0.02), (LENGTH, EMBED))
        if self.scanned:
            body = nn.remat(lambda block, carry, _: (block(carry), None), prevent_cse=False)
            x, _ = nn.scan(body, variable_axes={"params": 0}, split_rngs={"params": True, "dropout": True},
                           length=self.layers)(Block(self.dropout, name="blocks"), x, None)
        else:
            for _ in range(self.layers):
                x = Block(self.dropout)(x)
        return embed.attend(nn.LayerNorm()(x))


def gpt_loss(model, params, batch):
    drawn = {"dropout": jax.random.fold_in(jax.random.key(1), batch["step"])} if "step" in batch else None
    logits = model.apply(params, batch["tokens"], rngs=drawn)
    return optax.softmax_cross_entropy_with_integer_labels(logits, batch["labels"]).mean()


class Experts(nn.Module):
    count: int = 4
    chosen: int = 2

    @nn.compact
    def __call__(self, x):
        gates = jax.nn.softmax(nn.Dense(self.count, name="router")(x))
        weights, places = jax.lax.top_k(gates, self.chosen)
        weights = weights / jnp.sum(weights, -1, keepdims=True)
        mixed = jnp.sum(jax.nn.one_hot(places, self.count) * weights[..., None], -2)
        up = self.param("up", nn.initializers.lecun_normal(), (self.count, EMBED, 2 * EMBED))
        down = self.param("down", nn.initializers.lecun_normal(), (self.count, 2 * EMBED, EMBED))
        h = nn.silu(jnp.einsum("te,xef->txf", x, up))
        return jnp.einsum("txf,xfe,tx->te", h, down, mixed), jnp.mean(gates, 0)


def experts_loss(params, x, y):
    out, use = Experts().apply(params, x)
    return jnp.mean((out - y) ** 2) + 0.01 * jnp.sum(use**2), use


class Convnet(nn.Module):
    @nn.compact
    def __call__(self, images):
        x = nn.Conv(8, (3, 3), use_bias=False)(images)
        x = nn.relu(nn.BatchNorm(use_running_average=False, momentum=0.9)(x))
        x = nn.avg_pool(x, (2, 2), strides=(2, 2))
        x = nn.relu(nn.Conv(8, (3, 3), strides=(2, 2))(x))
        return nn.Dense(8)(jnp.mean(x, (1, 2)))


class Attending(nn.Module):
    """Flax's own attention, causal; of two layers, the second with words that are not seen."""

    @nn.compact
    def __call__(self, x, tokens):
        causal, seen = nn.make_causal_mask(tokens), nn.make_attention_mask(tokens > 0, tokens > 0)
        x = x + nn.MultiHeadDotProductAttention(HEADS)(nn.LayerNorm()(x), mask=causal)
        return x + nn.MultiHeadDotProductAttention(HEADS)(nn.LayerNorm()(x), mask=nn.combine_masks(causal, seen))


class Dropping(nn.Module):
    """Flax's own attention with dropout: of every weight by itself, of the same ones in all heads, and by nn.Dropout."""

    @nn.compact
    def __call__(self, x, tokens):
        causal = nn.make_causal_mask(tokens)
        for rate, is_broadcast in ((0.5, False), (0.25, True)):
            x = x + nn.MultiHeadDotProductAttention(HEADS, dropout_rate=rate, broadcast_dropout=is_broadcast,
                                                    deterministic=False)(nn.LayerNorm()(x), mask=causal)
        q, k, v = (nn.DenseGeneral((heads, 4), name=name)(x) for name, heads in (("q", 4), ("k", 2), ("v", 2)))
        scores = jnp.einsum("blhgk,bmhk->bhglm", q.reshape(*q.shape[:2], 2, 2, 4), k) / 2
        kept = nn.Dropout(0.1, deterministic=False)(jax.nn.softmax(scores, -1))
        return x + nn.Dense(EMBED)(jnp.einsum("bhglm,bmhk->blhgk", kept, v).reshape(*x.shape[:2], -1))


def nnx_dropping():
    module = nnx.eval_shape(lambda: nnx.MultiHeadAttention(HEADS, EMBED, decode=False, dropout_rate=0.3,
                                                           broadcast_dropout=False, rngs=nnx.Rngs(0)))
    graph, params, rest = nnx.split(module, nnx.Param, ...)
    rest = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), rest)

    def run(params, x, step):
        drawn = nnx.Rngs(dropout=jax.random.fold_in(jax.random.key(2), step))
        return nnx.merge(graph, params, rest)(x, mask=nnx.make_causal_mask(x[..., 0]), deterministic=False, rngs=drawn)

    return run, params


class Llama(nnx.Module):
    """Of nnx: heads that share keys, rotary positions, norms by the root, gated layers."""

    class Layer(nnx.Module):
        def __init__(self, rngs):
            width, linear = EMBED // HEADS, functools.partial(nnx.Linear, use_bias=False, rngs=rngs)
            self.before, self.behind = (nnx.RMSNorm(EMBED, rngs=rngs) for _ in range(2))
            self.query, self.key, self.value = (linear(EMBED, count * width) for count in (HEADS, 1, 1))
            self.out = linear(EMBED, EMBED)
            self.gate, self.up, self.down = linear(EMBED, 3 * EMBED), linear(EMBED, 3 * EMBED), linear(3 * EMBED, EMBED)

        def turned(self, x):
            half = x.shape[-1] // 2
            angles = jnp.arange(x.shape[1])[:, None, None] * 10000.0 ** (-jnp.arange(half) / half)
            first, second = jnp.split(x, 2, -1)
            return jnp.concatenate([first * jnp.cos(angles) - second * jnp.sin(angles),
                                    second * jnp.cos(angles) + first * jnp.sin(angles)], -1)

        def __call__(self, x):
            h = self.before(x)
            q, k, v = (linear(h).reshape(*x.shape[:2], -1, EMBED // HEADS) for linear in (self.query, self.key, self.value))
            mixed = jax.nn.dot_product_attention(self.turned(q), self.turned(k), v, is_causal=True)
            x = x + self.out(mixed.reshape(x.shape))
            h = self.behind(x)
            return x + self.down(nnx.silu(self.gate(h)) * self.up(h))

    def __init__(self, layers, rngs):
        self.embed = nnx.Embed(WORDS, EMBED, rngs=rngs)
        self.layers = nnx.List([Llama.Layer(rngs) for _ in range(layers)])
        self.norm = nnx.RMSNorm(EMBED, rngs=rngs)
        self.head = nnx.Linear(EMBED, WORDS, use_bias=False, rngs=rngs)

    def __call__(self, tokens):
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


def llama_loss():
    """As a function of its parameters, and these."""
    graph, params, rest = nnx.split(nnx.eval_shape(lambda: Llama(3, nnx.Rngs(0))), nnx.Param, ...)

    def loss(params, batch):
        logits = nnx.merge(graph, nnx.State(params), rest)(batch["tokens"])
        return optax.softmax_cross_entropy_with_integer_labels(logits, batch["labels"]).mean()

    return loss, nnx.to_pure_dict(params)


class Vit(nn.Module):
    """Patches, a token for the class, and what Flax has for the rest."""

    @nn.compact
    def __call__(self, images):
        x = nn.Conv(EMBED, (4, 4), (4, 4), name="patches")(images)
        x = x.reshape(x.shape[0], -1, EMBED)
        first = self.param("class", nn.initializers.normal(0.02), (1, 1, EMBED))
        x = jnp.concatenate([jnp.tile(first, (x.shape[0], 1, 1)), x], 1)
        x = x + self.param("positions", nn.initializers.normal(0.02), (1, x.shape[1], EMBED))
        for layer in range(2):
            h = nn.LayerNorm(name=f"norm_a_{layer}")(x)
            x = x + nn.MultiHeadDotProductAttention(HEADS, name=f"attention_{layer}")(h)
            h = nn.Dense(4 * EMBED, name=f"up_{layer}")(nn.LayerNorm(name=f"norm_b_{layer}")(x))
            x = x + nn.Dense(EMBED, name=f"down_{layer}")(nn.gelu(h, approximate=False))
        return nn.Dense(10, name="head")(nn.LayerNorm(name="norm")(x)[:, 0])


def vit_loss(params, images, labels):
    return optax.softmax_cross_entropy_with_integer_labels(Vit().apply(params, images), labels).mean()


def nnx_attention():
    """The newer one, as a function of its state."""
    module = nnx.eval_shape(lambda: nnx.MultiHeadAttention(HEADS, EMBED, decode=False, rngs=nnx.Rngs(0)))
    graph, state = nnx.split(module)
    return lambda state, x: nnx.merge(graph, state)(x, mask=nnx.make_causal_mask(x[..., 0])), state


def convnet_loss(params, stats, images, labels):
    variables = {"params": params, "batch_stats": stats}
    logits, changed = Convnet().apply(variables, images, mutable=["batch_stats"])
    loss = optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()
    return loss, changed["batch_stats"]


def adamw_step(params, state, batch):
    loss, gradients = jax.value_and_grad(functools.partial(gpt_loss, Gpt(layers=1)))(params, batch)
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(optax.linear_schedule(1e-2, 1e-3, 10)))
    updates, state = optimizer.update(gradients, state, params)
    return optax.apply_updates(params, updates), state, loss


def decode(cache, params, token, index):
    """One token: its key and value join the cache, and its query looks back."""
    x = params["embed"][token]
    cache = {name: jax.lax.dynamic_update_slice(cache[name], (x @ params[name])[:, None], (0, index, 0))
             for name in ("key", "value")}
    scores = jnp.einsum("be,ble->bl", x @ params["query"], cache["key"]) / jnp.sqrt(EMBED)
    seen = jnp.arange(LENGTH) <= index
    mixed = jnp.einsum("bl,ble->be", jax.nn.softmax(jnp.where(seen, scores, -jnp.inf)), cache["value"])
    return cache, (x + mixed) @ params["embed"].T


def specs_of(tree):
    """What import_check.py gives to arrays of these shapes: variances are positive."""
    def spec(path, leaf):
        last = jax.tree_util.keystr(path[-1:])
        within = jax.tree_util.keystr(path)
        if jnp.issubdtype(leaf.dtype, jnp.integer):
            return ("i", 5, leaf.shape)
        return ("+", leaf.shape) if ".nu" in within or "var" in last else leaf.shape

    return jax.tree_util.tree_map_with_path(spec, tree)


def programs():
    """name: function, specs of its arguments; the first DONATED[name] of them are donated."""
    tokens = jax.ShapeDtypeStruct((4, LENGTH), jnp.int32)
    batch = {"tokens": ("i", WORDS, (4, LENGTH)), "labels": ("i", WORDS, (4, LENGTH))}
    key, floats = jax.random.key(0), functools.partial(jax.ShapeDtypeStruct, dtype=jnp.float32)

    def init(model, *inputs):
        return jax.eval_shape(model.init, {"params": key, "dropout": key}, *inputs)

    gpt, scanned, one = Gpt(), Gpt(layers=3, scanned=True, dropout=0.2), Gpt(layers=1)
    dropped, drawn = Gpt(layers=3, dropout=0.2), batch | {"step": ("i", 5, ())}
    step_state = jax.eval_shape(optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(
        optax.linear_schedule(1e-2, 1e-3, 10))).init, init(one, tokens))
    convnet = init(Convnet(), floats((2, 8, 8, 4)))
    cache = {name: (4, LENGTH, EMBED) for name in ("key", "value")}
    heads = {name: (EMBED, EMBED) for name in ("query", "key", "value")} | {"embed": (WORDS, EMBED)}
    attending, words = Attending(), ("i", 3, (4, LENGTH))
    of_nnx, state = nnx_attention()
    dropping, (drop_of_nnx, drop_state) = Dropping(), nnx_dropping()
    groups = nn.GroupNorm(4)
    of_llama, llama = llama_loss()
    return {
        "flax_attention": (attending.apply, (specs_of(init(attending, floats((4, LENGTH, EMBED)), tokens)),
                                             (4, LENGTH, EMBED), words)),
        "flax_dropping": (lambda params, x, tokens, step: dropping.apply(
            params, x, tokens, rngs={"dropout": jax.random.fold_in(jax.random.key(1), step)}),
            (specs_of(init(dropping, floats((4, LENGTH, EMBED)), tokens)), (4, LENGTH, EMBED), words, ("i", 5, ()))),
        "nnx_dropping": (drop_of_nnx, (specs_of(drop_state), (4, LENGTH, EMBED), ("i", 5, ()))),
        "nnx_attention": (of_nnx, (specs_of(state), (4, LENGTH, EMBED))),
        "flax_gpt": (functools.partial(gpt_loss, gpt), (specs_of(init(gpt, tokens)), batch)),
        "flax_scanned_gpt": (functools.partial(gpt_loss, scanned), (specs_of(init(scanned, tokens)), drawn)),
        "flax_dropout_gpt": (functools.partial(gpt_loss, dropped), (specs_of(init(dropped, tokens)), drawn)),
        "nnx_llama": (of_llama, (specs_of(llama), batch)),
        "flax_vit": (vit_loss, (specs_of(init(Vit(), floats((2, 8, 8, 3)))), (2, 8, 8, 3), ("i", 10, (2,)))),
        "flax_experts": (experts_loss, (specs_of(init(Experts(), floats((8, EMBED)))), (8, EMBED), (8, EMBED))),
        "flax_convnet": (convnet_loss, (specs_of(convnet["params"]), specs_of(convnet["batch_stats"]), (2, 8, 8, 4),
                                        ("i", 8, (2,)))),
        "flax_group_norm": (groups.apply, (specs_of(init(groups, floats((2, 4, 4, 16)))), (2, 4, 4, 16))),
        "flax_step": (adamw_step, (specs_of(init(one, tokens)), specs_of(step_state), batch)),
        "decode_step": (decode, (cache, heads, ("i", WORDS, (4,)), ("i", LENGTH, ()))),
    }


DONATED = {"flax_step": 2, "decode_step": 1}


def adam_losses(arguments, steps):
    """Of the flax_gpt, trained by optax: what shardc's own steps are compared with."""
    params, batch = arguments
    optimizer = optax.adam(0.01)
    state, losses = optimizer.init(params), []

    @jax.jit
    def step(params, state):
        loss, gradients = jax.value_and_grad(functools.partial(gpt_loss, Gpt()))(params, batch)
        updates, state = optimizer.update(gradients, state, params)
        return optax.apply_updates(params, updates), state, loss

    for _ in range(steps):
        params, state, loss = step(params, state)
        losses.append(float(loss))
    return losses
