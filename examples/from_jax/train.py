"""A GPT in Flax, trained with optax. `python train.py` writes what shardc reads: loss.mlir and step.mlir."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx

BATCH, LENGTH, WIDTH, HEADS, LAYERS, VOCAB = 16, 64, 256, 8, 4, 1024


class Block(nnx.Module):
    def __init__(self, rngs):
        self.norm1 = nnx.LayerNorm(WIDTH, rngs=rngs)
        self.attention = nnx.MultiHeadAttention(HEADS, WIDTH, decode=False, rngs=rngs)
        self.norm2 = nnx.LayerNorm(WIDTH, rngs=rngs)
        self.up = nnx.Linear(WIDTH, 4 * WIDTH, rngs=rngs)
        self.down = nnx.Linear(4 * WIDTH, WIDTH, rngs=rngs)

    def __call__(self, x, mask):
        x = x + self.attention(self.norm1(x), mask=mask)
        return x + self.down(jax.nn.gelu(self.up(self.norm2(x))))


class GPT(nnx.Module):
    def __init__(self, rngs):
        self.tokens = nnx.Embed(VOCAB, WIDTH, rngs=rngs)
        self.positions = nnx.Embed(LENGTH, WIDTH, rngs=rngs)
        self.blocks = nnx.List([Block(rngs) for _ in range(LAYERS)])
        self.norm = nnx.LayerNorm(WIDTH, rngs=rngs)

    def __call__(self, tokens):
        x = self.tokens(tokens) + self.positions(jnp.arange(LENGTH))
        mask = nnx.make_causal_mask(tokens)
        for block in self.blocks:
            x = block(x, mask)
        return self.tokens.attend(self.norm(x))


graph, params, rest = nnx.split(GPT(nnx.Rngs(0)), nnx.Param, ...)
optimizer = optax.adamw(1e-3)


def loss(params, batch):
    logits = nnx.merge(graph, params, rest)(batch["tokens"])
    return optax.softmax_cross_entropy_with_integer_labels(logits, batch["next"]).mean()


def step(params, state, batch):
    value, gradients = jax.value_and_grad(loss)(params, batch)
    updates, state = optimizer.update(gradients, state, params)
    return optax.apply_updates(params, updates), state, value


if __name__ == "__main__":
    batch = {name: jax.ShapeDtypeStruct((BATCH, LENGTH), jnp.int32) for name in ("tokens", "next")}
    for name, lowered in {
        "loss": jax.jit(loss).lower(params, batch),
        "step": jax.jit(step, donate_argnums=(0, 1)).lower(params, optimizer.init(params), batch),
    }.items():
        with open(f"{name}.mlir", "w") as file:
            file.write(lowered.as_text(debug_info=True))
