#!/usr/bin/env python3
"""The models of google-tunix (Llama 3, Qwen 2 and 3, Gemma to Gemma 4, experts among them), small, imported: forward, and a
loss with all gradients, on two layouts of 2 x 4, beside JAX, and their bytes beside XLA's.

    pip install --no-deps google-tunix einops
    tests/oracle/tunix_check.py build/dev/shardc [WORD...]     only cases whose names hold a word

Exits 1 if a number differs; without the package it says so and exits 77 (skipped). Not part of ctest.
"""

import dataclasses
import importlib
import importlib.util
import pathlib
import sys
import types

import imported  # before jax: it forces the devices
import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

BATCH, LENGTH, VOCAB = 8, 16, 64
ALLOWED = 5e-6
SIZES = {"num_layers": 2, "vocab_size": VOCAB, "num_embed": VOCAB, "embed_dim": 32, "hidden_dim": 64, "num_heads": 4,
         "head_dim": 8, "num_kv_heads": 2, "rope_theta": 10000, "norm_eps": 1e-6, "param_dtype": jnp.float32,
         "dtype": jnp.float32}
GEMMA = {"final_logit_softcap": 30.0, "use_post_attn_norm": False, "use_post_ffw_norm": False, "num_kv_heads": 1,
         "attention_types": ("GLOBAL", "GLOBAL")}
GEMMA2 = GEMMA | {"use_post_attn_norm": True, "use_post_ffw_norm": True, "num_kv_heads": 2, "attn_logits_soft_cap": 50.0,
                  "attention_types": ("LOCAL_SLIDING", "GLOBAL"), "sliding_window_size": 8}
GEMMA4 = {"num_layers": 6, "sliding_window_size": 8, "global_key_size": 16}
CASES = {  # name: module, class, what differs from SIZES
    "llama3": ("llama3", "Llama3", {}),
    "llama3_tied": ("llama3", "Llama3", {"weight_tying": True}),
    "llama3_remat": ("llama3", "Llama3", {"remat_config": "BLOCK"}),
    "qwen2": ("qwen2", "Qwen2", {"use_tied_embedding": True}),
    "qwen3": ("qwen3", "Qwen3", {}),
    "qwen3_moe": ("qwen3", "Qwen3", {"num_experts": 4, "num_experts_per_tok": 2}),
    "gemma": ("gemma", "Gemma", GEMMA),
    "gemma2": ("gemma", "Gemma", GEMMA2),
    "gemma3": ("gemma3", "Gemma3", {"num_layers": 6, "sliding_window_size": 8}),
    "gemma4": ("gemma4", "Gemma4", GEMMA4),
    "gemma4_moe": ("gemma4", "Gemma4", GEMMA4 | {"enable_moe": True, "num_experts": 4, "num_experts_per_tok": 2,
                                                 "expert_dim": 16, "moe_dense_hidden_dim": 32}),
}


def find_models():
    """The models alone: what their package imports for training and serving stays away."""
    spec = importlib.util.find_spec("tunix")
    if spec is None:
        return False
    folder = pathlib.Path(next(iter(spec.submodule_search_locations)))
    kinds = {f"models/{module}" for module, _, _ in CASES.values()}
    for name in ("", "generate", "models", "utils", *sorted(kinds)):
        package = types.ModuleType(f"tunix.{name.replace('/', '.')}".rstrip("."))
        package.__path__ = [str(folder / name)]
        sys.modules[package.__name__] = package
    mappings = types.ModuleType("tunix.generate.mappings")
    mappings.BackendMappingMixin = type("BackendMappingMixin", (), {})
    sys.modules[mappings.__name__] = mappings
    return True


def made(module_name, class_name, changes):
    module = importlib.import_module(f"tunix.models.{module_name}.model")
    fields = {field.name for field in dataclasses.fields(module.ModelConfig)}
    sizes = {key: value for key, value in (SIZES | changes).items() if key in fields}
    if "attention_types" in sizes:
        sizes["attention_types"] = tuple(module.AttentionType[kind] for kind in sizes["attention_types"])
    if "remat_config" in sizes:
        sizes["remat_config"] = module.RematConfig[sizes["remat_config"]]
    with jax.set_mesh(jax.make_mesh((1, 1), ("fsdp", "tp"))):
        model = getattr(module, class_name)(module.ModelConfig(**sizes), rngs=nnx.Rngs(0))
    definition, state = nnx.split(model)
    return definition, jax.tree.map(np.asarray, nnx.to_pure_dict(state))


def programs():
    tokens = np.random.default_rng(0).integers(0, VOCAB, (BATCH, LENGTH)).astype(np.int32)
    for name, case in CASES.items():
        if sys.argv[2:] and not any(word in name for word in sys.argv[2:]):
            continue
        definition, params = made(*case)

        def forward(params, tokens):
            positions = jnp.broadcast_to(jnp.arange(LENGTH), (BATCH, LENGTH))
            mask = jnp.broadcast_to(jnp.tril(jnp.ones((LENGTH, LENGTH), bool)), (BATCH, LENGTH, LENGTH))
            return nnx.merge(definition, nnx.State(params))(tokens, positions, None, mask)[0]

        def loss(params, tokens):
            scores = jax.nn.log_softmax(forward(params, tokens)[:, :-1])
            return -jnp.mean(jnp.take_along_axis(scores, tokens[:, 1:, None], -1))

        yield name, False, forward, (params, tokens)
        yield name, True, jax.value_and_grad(loss), (params, tokens)


if __name__ == "__main__":
    if not find_models():
        print("google-tunix is not installed: skipped")
        sys.exit(77)
    sys.exit(imported.check(programs(), ALLOWED, True))
