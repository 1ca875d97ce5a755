#!/usr/bin/env python3
"""Checkpoints of Hugging Face's transformers, restored and run by shardc on one device and on 2 x 2, beside transformers.

    tests/oracle/huggingface_check.py build/dev/shardc [FAMILY...]      small models of every family, and parameter counts
    tests/oracle/huggingface_check.py build/dev/shardc --record DIR     writes the checkpoints that tests/cli/run/ restores

A model is made of its config.json by `shardc init`, and its weights by a fixed seed. Logits may differ by 1e-4. Without
torch and transformers it says so and exits 77 (skipped).
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import torch
    import transformers as T
except ImportError as problem:
    print(f"SKIPPED: {problem}")
    sys.exit(77)

SHARDC = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else "shardc"
BATCH, LENGTH, VOCAB = 2, 6, 32

DENSE = dict(hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
             vocab_size=VOCAB, max_position_embeddings=32, bos_token_id=1, eos_token_id=2, pad_token_id=None)
LLAMA3 = dict(rope_type="llama3", rope_theta=100.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
              original_max_position_embeddings=8)


def families():
    """name, class, config, type of the stored weights, size of a file"""
    f32 = torch.float32
    yield "llama", T.LlamaForCausalLM, T.LlamaConfig(**DENSE, rope_parameters=LLAMA3), f32, "6KB"
    yield ("llama_biased", T.LlamaForCausalLM,
           T.LlamaConfig(**DENSE, attention_bias=True, mlp_bias=True, tie_word_embeddings=True), f32, "1GB")
    yield "mistral", T.MistralForCausalLM, T.MistralConfig(**DENSE, sliding_window=3, head_dim=8), torch.float16, "1GB"
    yield "qwen2", T.Qwen2ForCausalLM, T.Qwen2Config(**DENSE), torch.bfloat16, "1GB"
    yield "qwen3", T.Qwen3ForCausalLM, T.Qwen3Config(**DENSE, head_dim=8, tie_word_embeddings=True), f32, "1GB"
    yield ("gpt2", T.GPT2LMHeadModel,
           T.GPT2Config(n_embd=16, n_layer=2, n_head=4, vocab_size=VOCAB, n_positions=32, bos_token_id=1, eos_token_id=2),
           f32, "1GB")
    yield "mixtral", T.MixtralForCausalLM, T.MixtralConfig(**DENSE, num_local_experts=4), f32, "1GB"
    moe = dict(DENSE, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=8)
    yield ("qwen2_moe", T.Qwen2MoeForCausalLM,
           T.Qwen2MoeConfig(**moe, shared_expert_intermediate_size=12), f32, "1GB")
    yield "qwen3_moe", T.Qwen3MoeForCausalLM, T.Qwen3MoeConfig(**moe, head_dim=8, norm_topk_prob=True), f32, "1GB"
    gemma = dict(DENSE, head_dim=8, query_pre_attn_scalar=12, sliding_window=3)
    yield "gemma2", T.Gemma2ForCausalLM, T.Gemma2Config(**gemma), f32, "1GB"
    scaled = {"full_attention": dict(rope_type="linear", factor=4.0, rope_theta=1000.0),
              "sliding_attention": dict(rope_type="default", rope_theta=100.0)}
    gemma.update(num_hidden_layers=8, rope_parameters=scaled)
    yield "gemma3_text", T.Gemma3ForCausalLM, T.Gemma3TextConfig(**gemma), torch.bfloat16, "1GB"
    small = dict(hidden_size=16, intermediate_size=24, num_hidden_layers=2, vocab_size=VOCAB, max_position_embeddings=32)
    yield ("gpt_neox", T.GPTNeoXForCausalLM,
           T.GPTNeoXConfig(**small, num_attention_heads=2, rotary_pct=0.5, bos_token_id=1, eos_token_id=2), f32, "1GB")
    yield "bert", T.BertForMaskedLM, T.BertConfig(**small, num_attention_heads=4), f32, "1GB"
    yield ("vit", T.ViTForImageClassification,
           T.ViTConfig(hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=4, image_size=8,
                       patch_size=4, num_labels=5), f32, "1GB")
    yarn = dict(rope_type="yarn", rope_theta=100.0, factor=4.0, beta_fast=2.0, beta_slow=0.1, mscale=1.0, mscale_all_dim=1.0,
                original_max_position_embeddings=8)
    yield ("deepseek_v3", T.DeepseekV3ForCausalLM,
           T.DeepseekV3Config(**dict(DENSE, num_hidden_layers=3, num_key_value_heads=4), moe_intermediate_size=8,
                              first_k_dense_replace=1, n_routed_experts=8, num_experts_per_tok=2, n_group=4, topk_group=2,
                              kv_lora_rank=12, q_lora_rank=8, qk_rope_head_dim=8, qk_nope_head_dim=4, v_head_dim=6,
                              rope_parameters=yarn), f32, "1GB")
    yield ("t5", T.T5ForConditionalGeneration,
           T.T5Config(d_model=16, d_kv=6, d_ff=24, num_layers=2, num_decoder_layers=3, num_heads=4, vocab_size=VOCAB,
                      relative_attention_num_buckets=8, relative_attention_max_distance=12, n_positions=32,
                      tie_word_embeddings=True), f32, "1GB")
    yield ("t5_gated", T.T5ForConditionalGeneration,
           T.T5Config(d_model=16, d_kv=4, d_ff=24, num_layers=2, num_heads=4, vocab_size=VOCAB, feed_forward_proj="gated-gelu",
                      relative_attention_num_buckets=8, relative_attention_max_distance=5, n_positions=32,
                      tie_word_embeddings=False), f32, "1GB")


def make(folder, cls, config, dtype, shard):
    torch.manual_seed(0)
    config._attn_implementation = "eager"
    model = cls(config).eval()
    with torch.no_grad():
        for name, value in list(model.named_parameters()) + list(model.named_buffers()):
            if name in dict(model.named_buffers()) and "correction_bias" not in name:
                continue
            drawn = torch.randn(value.shape) * (0.3 if value.dim() > 1 else 0.2)
            centre = 1.0 if "norm" in name.lower() and name.endswith("weight") and "gemma" not in config.model_type else 0.0
            value.copy_((drawn + centre).to(dtype).float())
        given = {"tokens": torch.randint(0, VOCAB, (BATCH, LENGTH))}
        if config.model_type == "t5":
            given["decoder_tokens"] = torch.randint(0, VOCAB, (BATCH, LENGTH))
        if config.model_type == "vit":
            given = {"image": torch.randn(BATCH, 3, 8, 8)}
        called = {"tokens": "input_ids", "decoder_tokens": "decoder_input_ids", "image": "pixel_values"}
        logits = model(**{called[name]: value for name, value in given.items()}).logits
    model.to(dtype).save_pretrained(folder, max_shard_size=shard)
    config_file = pathlib.Path(folder, "config.json")  # computed with in f32, whatever is stored
    text = json.loads(config_file.read_text())
    text["dtype"] = "float32"
    config_file.write_text(json.dumps(text, indent=2) + "\n")
    pathlib.Path(folder, "generation_config.json").unlink(missing_ok=True)
    for name, value in given.items():
        np.save(f"{folder}/{name}.npy", value.numpy() if value.is_floating_point() else value.numpy().astype(np.int32))
    np.save(f"{folder}/logits.npy", logits.numpy())


LAYOUTS = {"one": "mesh: {}\n",
           "two": "mesh: {data: 2, model: 2}\nrules: [{batch: data}, {heads: model}, {mlp: model}, {experts: model}]\n"}


def difference(folder, layout):
    made = f"{folder}/made"
    subprocess.run([SHARDC, "init", "--from", f"{folder}/config.json", "-o", made, "--devices", "4", "--force"], check=True,
                   capture_output=True)
    pathlib.Path(made, "split.yaml").write_text(LAYOUTS[layout])
    given = []
    for name in ("tokens", "decoder_tokens", "image"):
        if os.path.exists(f"{folder}/{name}.npy"):
            given += ["--input", f"{name}={folder}/{name}.npy"]
    if not os.path.exists(f"{folder}/image.npy"):
        given += ["--set", f"length={LENGTH}"]
    subprocess.run([SHARDC, "run", f"{made}/model.yaml", f"{made}/split.yaml", "--restore", folder, "--quiet",
                    "--set", f"batch={BATCH}", "--output", f"logits={made}/logits.npy"] + given, check=True,
                   capture_output=True)
    return float(np.abs(np.load(f"{made}/logits.npy") - np.load(f"{folder}/logits.npy")).max())


def main():
    if sys.argv[2:3] == ["--record"]:
        for name, *what in families():
            make(f"{sys.argv[3]}/{name}", *what)
        return 0
    failed = False
    for name, *what in families():
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        with tempfile.TemporaryDirectory() as folder:
            make(folder, *what)
            for layout in LAYOUTS:
                off = difference(folder, layout)
                failed = failed or not off < 1e-4
                print(f"{name:14} {layout}  {off:.2e}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
