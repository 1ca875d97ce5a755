#!/usr/bin/env python3
"""DeepMind's own models of Gemma (package gemma: Gemma 2, Gemma 3, with images, with LoRA, a step of decoding, Gemma 3n), small,
imported: forward, and a loss with all gradients, on two layouts of 2 x 4, beside JAX, and their bytes beside XLA's.

    pip install gemma
    tests/oracle/gemma_check.py build/dev/shardc [WORD...]     only cases whose names hold a word

Exits 1 if a number differs; without the package it says so and exits 77 (skipped). Not part of ctest.
"""

import dataclasses
import sys

import imported  # before jax: it forces the devices
import jax
import jax.numpy as jnp
import numpy as np

BATCH, LENGTH, VOCAB, CACHE = 8, 16, 64, 16
ALLOWED = 5e-6
SIZES = {"num_embed": VOCAB, "embed_dim": 32, "hidden_dim": 64, "num_heads": 4, "head_dim": 8, "num_kv_heads": 2,
         "sliding_window_size": 8}
CASES = {  # name: class, layers, what differs from SIZES
    "gemma2": ("Gemma2_9B", 2, {}),
    "gemma3": ("Gemma3_4B", 6, {"vision_encoder": None}),
    "gemma3_270m": ("Gemma3_270M", 6, {"num_kv_heads": 1}),
    "gemma3_lora": ("Gemma3_4B", 2, {"vision_encoder": None}),
    "gemma3_decode": ("Gemma3_4B", 6, {"vision_encoder": None}),
    "gemma3n": ("Gemma3n_E2B", 6, {"vision_encoder": None, "per_layer_input_dim": 8, "laurel_rank": 4,
                                    "activation_sparsity_pattern": (0.95,) * 2 + (0.0,) * 4}),
}


def find_models():
    try:
        from kauldron import checkpoints

        # Of checkpoints, which nothing here reads: gemma 3.3 derives from a class that kauldron 1.4 no longer has.
        if not hasattr(checkpoints, "AbstractPartialLoader"):
            checkpoints.AbstractPartialLoader = object
        from gemma import gm
    except ImportError:
        return None
    return gm


def made(name, gm):
    class_name, layers, changes = CASES[name]
    model = getattr(gm.nn, class_name)
    config = model.config
    kinds = (config.attention_types * layers)[:layers]
    config = dataclasses.replace(config, attention_types=kinds, **(SIZES | changes))
    model = model(config=config, dtype=jnp.float32)
    return gm.nn.LoRA(rank=4, model=model) if name.endswith("_lora") else model


def forward_of(name, model):
    if name.endswith("_decode"):

        def step(params, cache, token, mask):
            out = model.apply({"params": params}, token, cache=cache, positions=jnp.full((BATCH, 1), 5),
                              attention_mask=mask, return_last_only=True)
            return out.logits, out.cache

        return step
    return lambda params, tokens: model.apply({"params": params}, tokens).logits


def cases_of(name, gm):
    """Functions with their arguments, and whether they make gradients."""
    model = made(name, gm)
    noise = np.random.default_rng(0)
    tokens = noise.integers(1, VOCAB, (BATCH, LENGTH)).astype(np.int32)
    params = jax.jit(model.init)(jax.random.key(0), tokens)["params"]
    params = jax.tree.map(lambda v: (np.asarray(v) + 0.1 * noise.standard_normal(v.shape)).astype(np.float32), params)
    forward = forward_of(name, model)
    if name.endswith("_decode"):
        cache = model.config.init_cache(BATCH, jnp.float32, cache_length=CACHE)
        cache = jax.tree.map(lambda v: noise.standard_normal(v.shape).astype(v.dtype)
                             if v.dtype == jnp.float32 else np.full(v.shape, 5, v.dtype), cache)
        mask = np.broadcast_to(np.arange(CACHE) <= 5, (BATCH, 1, CACHE))
        yield forward, (params, cache, tokens[:, :1], mask), False
        return

    def loss(params, tokens):
        scores = jax.nn.log_softmax(forward(params, tokens)[:, :-1])
        return -jnp.mean(jnp.take_along_axis(scores, tokens[:, 1:, None], -1))

    yield forward, (params, tokens), False
    yield jax.value_and_grad(loss), (params, tokens), True


def programs(gm):
    for name in CASES:
        if sys.argv[2:] and not any(word in name for word in sys.argv[2:]):
            continue
        for function, arguments, is_gradient in cases_of(name, gm):
            yield name, is_gradient, function, arguments


if __name__ == "__main__":
    models = find_models()
    if not models:
        print("gemma is not installed: skipped")
        sys.exit(77)
    sys.exit(imported.check(programs(models), ALLOWED, True))
