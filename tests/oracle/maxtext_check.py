#!/usr/bin/env python3
"""MaxText's models (Llama, Mistral, Mixtral, DeepSeek, Gemma, Qwen, GPT-OSS, OLMo ...), small, imported: forward, and MaxText's
own loss with all gradients, on two layouts of 2 x 4, beside JAX, and their bytes beside XLA's.

    python3.12 -m venv venv && venv/bin/pip install --no-deps maxtext
    venv/bin/python tests/oracle/maxtext_check.py build/dev/shardc [WORD...]     only cases whose names hold a word

Exits 1 if a number differs, or a model is not made; without the package it says so and exits 77 (skipped). Not part of ctest.
"""

import contextlib
import functools
import importlib.util
import io
import pathlib
import sys

import imported  # before jax: it forces the devices
import jax
import jax.numpy as jnp
import numpy as np

# Constraints name the mesh of one device that the models are made on; XLA is to have the layout's.
jax.lax.with_sharding_constraint = lambda value, *_, **__: value

BATCH, LENGTH, VOCAB = 8, 16, 64
ALLOWED = 5e-6
SMALL = {
    "base_emb_dim": 32, "base_num_query_heads": 4, "base_num_kv_heads": 2, "base_mlp_dim": 64, "base_moe_mlp_dim": 64,
    "base_num_decoder_layers": 2, "head_dim": 8, "vocab_size": VOCAB, "max_target_length": LENGTH,
    "per_device_batch_size": BATCH, "dtype": "float32", "weight_dtype": "float32", "attention": "dot_product",
    "run_name": "small", "enable_checkpointing": False, "override_model_config": True, "dataset_type": "synthetic",
    "log_config": False, "skip_jax_distributed_system": True, "matmul_precision": "highest",
}
EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "sparse_matmul": False, "megablox": False, "capacity_factor": -1.0}
CASES = {  # name: model, what differs from SMALL
    "llama2": ("llama2-7b", {}),
    "llama3.1": ("llama3.1-8b", {"base_num_decoder_layers": 4, "head_dim": 64}),
    "llama3.1 unrolled": ("llama3.1-8b", {"scan_layers": False}),
    "llama3.1 remat": ("llama3.1-8b", {"remat_policy": "save_qkv_proj"}),
    "mistral": ("mistral-7b", {}),
    "mixtral": ("mixtral-8x7b", EXPERTS),
    "mixtral dropping": ("mixtral-8x7b", EXPERTS | {"capacity_factor": 1.5}),
    "mixtral ragged": ("mixtral-8x7b", EXPERTS | {"sparse_matmul": True}),
    "gemma": ("gemma-2b", {}),
    "gemma2": ("gemma2-2b", {}),
    "gemma3": ("gemma3-4b", {"base_num_decoder_layers": 6}),
    "gemma4": ("gemma4-26b", EXPERTS | {"base_num_decoder_layers": 6}),
    "qwen2": ("qwen2.5-1.5b", {}),
    "qwen3": ("qwen3-0.6b", {}),
    "qwen3_moe": ("qwen3-30b-a3b", EXPERTS),
    "qwen3_next": ("qwen3-next-80b-a3b", EXPERTS | {"base_num_decoder_layers": 4}),
    "olmo3": ("olmo3-7b", {"base_num_decoder_layers": 4}),
    "gpt3": ("gpt3-52k", {"base_num_kv_heads": 4}),
    "gpt_oss": ("gpt-oss-20b", EXPERTS),
    "deepseek2": ("deepseek2-16b", EXPERTS | {"base_num_kv_heads": 4, "first_num_dense_layers": 1, "kv_lora_rank": 16, "qk_nope_head_dim": 8,
                                              "qk_rope_head_dim": 8, "v_head_dim": 8}),
    "deepseek3": ("deepseek3-671b", EXPERTS | {"base_num_kv_heads": 4, "first_num_dense_layers": 1, "q_lora_rank": 16, "kv_lora_rank": 16,
                                               "qk_nope_head_dim": 8, "qk_rope_head_dim": 8, "v_head_dim": 8}),
    "llama4": ("llama4-17b-16e", EXPERTS | {"num_experts_per_tok": 1, "base_num_decoder_layers": 4}),
}


def config_of(model, changes):
    from maxtext.configs import pyconfig

    base = pathlib.Path(importlib.util.find_spec("maxtext.configs").submodule_search_locations[0]) / "base.yml"
    with contextlib.redirect_stdout(io.StringIO()):
        return pyconfig.initialize(["", str(base)], model_name=model, **(SMALL | changes))


IN_SHARD_MAP = ("mixtral ragged", "qwen3_next")
not_made = []


def programs(in_shard_map):
    from flax import nnx, linen
    from maxtext.trainers.pre_train import train
    from maxtext.utils import maxtext_utils, model_creation_utils

    draw = np.random.default_rng(0)
    inputs = draw.integers(0, VOCAB, (BATCH, LENGTH)).astype(np.int32)
    data = {
        "inputs": inputs,
        "targets": np.roll(inputs, -1, axis=1),
        "inputs_position": np.tile(np.arange(LENGTH, dtype=np.int32), (BATCH, 1)),
        "inputs_segmentation": np.ones((BATCH, LENGTH), np.int32),
        "targets_segmentation": np.ones((BATCH, LENGTH), np.int32),
    }
    for name, (model_name, changes) in CASES.items():
        if (name in IN_SHARD_MAP) != in_shard_map or (sys.argv[2:] and not any(word in name for word in sys.argv[2:])):
            continue
        try:
            config = config_of(model_name, changes)
            mesh = jax.sharding.Mesh(
                maxtext_utils.create_device_mesh(config, jax.devices()[:1]), config.mesh_axes)
            with mesh, linen.logical_axis_rules(config.logical_axis_rules):
                model = model_creation_utils.from_config(config, mesh=mesh, rngs=nnx.Rngs(0))
            definition, params, rest = nnx.split(model, nnx.Param, ...)
            rest = nnx.to_pure_dict(rest)
            params = jax.tree.map(np.asarray, nnx.to_pure_dict(params))
        except Exception as problem:
            print(f"{name:32} NOT MADE {type(problem).__name__}: {str(problem)[-600:]}", flush=True)
            not_made.append(name)
            continue

        def merged(params, definition=definition, rest=rest):
            return nnx.merge(definition, nnx.State(params), nnx.State(rest))

        def forward(params, data, merged=merged, mesh=mesh, config=config):
            with mesh, linen.logical_axis_rules(config.logical_axis_rules):
                return merged(params)(data["inputs"], data["inputs_position"], data["inputs_segmentation"], enable_dropout=False)

        def loss(params, data, merged=merged, mesh=mesh, config=config):
            with mesh, linen.logical_axis_rules(config.logical_axis_rules):
                return train.loss_fn(merged(params), config, dict(data), None, None)[0]

        yield name, False, forward, (params, {key: data[key] for key in ("inputs", "inputs_position", "inputs_segmentation")})
        yield name, True, jax.value_and_grad(loss), (params, data)


if __name__ == "__main__":
    if importlib.util.find_spec("maxtext") is None:
        print("maxtext is not installed: skipped")
        sys.exit(77)
    # A shard_map names its devices too: XLA is not asked.
    failed = imported.check(programs(False), ALLOWED, True) | imported.check(programs(True), ALLOWED)
    sys.exit(1 if failed or not_made else 0)
