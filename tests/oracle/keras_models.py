"""Models of keras-hub, as small as they go, as functions of their variables and inputs: what keras_check.py tries.

Variables have waves for values (no zeros, which would hide what they are multiplied with), variances and scales are positive.
A loss is the mean square distance of every floating-point output from a wave.
"""

import os

os.environ["KERAS_BACKEND"] = "jax"

import jax
import jax.numpy as jnp
import keras_hub
import numpy as np

BATCH, LENGTH, WORDS = 4, 8, 64


def text(**more):
    tokens = (np.arange(BATCH * LENGTH, dtype=np.int32) * 7 % (WORDS - 1) + 1).reshape(BATCH, LENGTH)
    mask = np.ones((BATCH, LENGTH), np.int32)
    mask[0, -2:] = 0
    return {"token_ids": tokens, "padding_mask": mask} | more


def segments():
    return text(segment_ids=(np.arange(BATCH * LENGTH, dtype=np.int32) // 4 % 2).reshape(BATCH, LENGTH))


def both_sides():
    one = text()
    return {f"{side}_{name}": value for side in ("encoder", "decoder") for name, value in one.items()}


def image(size=16, channels=3):
    wave = np.sin(0.7 * np.arange(BATCH * size * size * channels))
    return (0.4 * wave).astype(np.float32).reshape(BATCH, size, size, channels)


def backbone(name, inputs, **arguments):
    return lambda **more: (getattr(keras_hub.models, name)(**(arguments | more)), inputs())


LAYERS = {"num_layers": 2, "hidden_dim": 16, "intermediate_dim": 32}
BERT = LAYERS | {"vocabulary_size": WORDS, "num_heads": 4, "max_sequence_length": LENGTH}
LLAMA = LAYERS | {"vocabulary_size": WORDS, "num_query_heads": 4, "num_key_value_heads": 2}
GEMMA = {"vocabulary_size": WORDS, "num_layers": 2, "num_query_heads": 4, "num_key_value_heads": 2, "hidden_dim": 16,
         "intermediate_dim": 32, "head_dim": 8}
MODELS = {
    "GPT2": backbone("GPT2Backbone", text, **BERT),
    "Llama": backbone("LlamaBackbone", text, **LLAMA),
    "Llama3": backbone("Llama3Backbone", text, **LLAMA),
    "Mistral": backbone("MistralBackbone", text, **LLAMA, sliding_window=4),
    "Gemma": backbone("GemmaBackbone", text, **GEMMA),
    "Gemma2": backbone("GemmaBackbone", text, **GEMMA, query_head_dim_normalize=False, use_post_ffw_norm=True,
                       use_post_attention_norm=True, attention_logit_soft_cap=50, final_logit_soft_cap=30,
                       use_sliding_window_attention=True, sliding_window_size=4),
    "Gemma3": backbone("Gemma3Backbone", text, **GEMMA, image_size=16, query_head_dim_normalize=True,
                       use_query_key_norm=True, use_post_ffw_norm=True, use_post_attention_norm=True,
                       use_sliding_window_attention=True, sliding_window_size=4, vision_encoder=None),
    "BERT": backbone("BertBackbone", segments, **BERT),
    "RoBERTa": backbone("RobertaBackbone", text, **BERT),
    "DistilBERT": backbone("DistilBertBackbone", text, **BERT),
    "ALBERT": backbone("AlbertBackbone", segments, **BERT, embedding_dim=8, num_groups=1, num_inner_repetitions=1),
    "ELECTRA": backbone("ElectraBackbone", segments, **LAYERS, vocab_size=WORDS, num_heads=4, embedding_dim=8,
                        max_sequence_length=LENGTH),
    "XLM-RoBERTa": backbone("XLMRobertaBackbone", text, **BERT),
    "RoFormerV2": backbone("RoformerV2Backbone", lambda: {k: v for k, v in segments().items() if k != "padding_mask"},
                           **{k: v for k, v in BERT.items() if k != "max_sequence_length"}, head_size=4),
    "ESM2": backbone("ESM2Backbone", lambda: {"token_ids": text()["token_ids"]}, **BERT),
    "DeBERTaV3": backbone("DebertaV3Backbone", text, **BERT, bucket_size=8),
    "FNet": backbone("FNetBackbone", lambda: {k: v for k, v in segments().items() if k != "padding_mask"},
                     **{k: v for k, v in BERT.items() if k != "num_heads"}),
    "XLNet": backbone("XLNetBackbone", segments, **{k: v for k, v in BERT.items() if k != "max_sequence_length"},
                      head_dim=4),
    "T5": backbone("T5Backbone", both_sides, **LAYERS, vocabulary_size=WORDS, num_heads=4),
    "BART": backbone("BartBackbone", both_sides, **BERT),
    "OPT": backbone("OPTBackbone", text, **BERT),
    "BLOOM": backbone("BloomBackbone", text, **{k: v for k, v in BERT.items() if k != "max_sequence_length"}),
    "GPTNeoX": backbone("GPTNeoXBackbone", text, **BERT, rotary_percentage=0.5),
    "Falcon": backbone("FalconBackbone", text, vocabulary_size=WORDS, num_layers=2, num_attention_heads=4,
                       hidden_dim=16, intermediate_dim=32),
    "Phi3": backbone("Phi3Backbone", text, **LLAMA),
    "Qwen": backbone("QwenBackbone", text, **LLAMA),
    "Qwen3": backbone("Qwen3Backbone", text, **LLAMA, head_dim=8),
    "QwenMoe": backbone("QwenMoeBackbone", text, **LLAMA, moe_intermediate_dim=16,
                        shared_expert_intermediate_dim=16, num_experts=4, top_k=2),
    "Qwen3Moe": backbone("Qwen3MoeBackbone", text, **LLAMA, head_dim=8, moe_intermediate_dim=16, num_experts=4, top_k=2),
    "Qwen3.5": backbone("Qwen3_5Backbone", text, **LLAMA, head_dim=8, partial_rotary_factor=0.5, linear_num_key_heads=2,
                        linear_num_value_heads=4, linear_key_head_dim=8, linear_value_head_dim=8),
    "GptOss": backbone("GptOssBackbone", text, **LLAMA, num_experts=4, top_k=2, sliding_window=4, head_dim=8),
    "SmolLM3": backbone("SmolLM3Backbone", lambda: text(), vocabulary_size=WORDS, hidden_dim=16, intermediate_dim=32,
                        num_layers=2, num_attention_heads=4, num_key_value_heads=2, attention_bias=False,
                        attention_dropout=0.0, rope_layer_enabled_list=[True, False],
                        layer_types=["full_attention"] * 2, mlp_bias=False, layer_norm_epsilon=1e-6,
                        max_position_embeddings=16, rope_theta=10000.0, partial_rotary_factor=1.0),
    "RWKV7": backbone("RWKV7Backbone", text, hidden_size=16, head_size=8, num_layers=2, vocabulary_size=WORDS,
                      intermediate_dim=32, gate_lora=8, mv_lora=8, aaa_lora=8, decay_lora=8),
    "Mixtral": backbone("MixtralBackbone", text, **LLAMA, num_experts=4, top_k=2),
    "Whisper": backbone("WhisperBackbone", lambda: {
        "encoder_features": image(16, 8).reshape(BATCH, -1, 8)[:, : 2 * LENGTH],
        **{f"decoder_{k}": v for k, v in text().items()}}, vocabulary_size=WORDS, num_layers=2, num_heads=4,
        hidden_dim=16, intermediate_dim=32, num_mels=8, max_encoder_sequence_length=2 * LENGTH,
        max_decoder_sequence_length=LENGTH),
    "ViT": backbone("ViTBackbone", image, image_shape=(16, 16, 3), patch_size=4, num_layers=2, num_heads=4,
                    hidden_dim=16, mlp_dim=32),
    "DeiT": backbone("DeiTBackbone", image, image_shape=(16, 16, 3), patch_size=4, num_layers=2, num_heads=4,
                     hidden_dim=16, intermediate_dim=32),
    "SigLIP": backbone("SigLIPVisionEncoder", lambda: {"images": image()}, patch_size=4, hidden_dim=16, num_layers=2,
                       num_heads=4, intermediate_dim=32, image_shape=(16, 16, 3)),
    "ResNet": backbone("ResNetBackbone", lambda: image(32), input_conv_filters=[64], input_conv_kernel_sizes=[3],
                       stackwise_num_filters=[64, 128], stackwise_num_blocks=[1, 1],
                       stackwise_num_strides=[1, 2], block_type="basic_block", image_shape=(32, 32, 3)),
    "VGG": backbone("VGGBackbone", lambda: image(32), stackwise_num_repeats=[1, 1], stackwise_num_filters=[8, 16],
                    image_shape=(32, 32, 3)),
    "DenseNet": backbone("DenseNetBackbone", lambda: image(32), stackwise_num_repeats=[2, 2], compression_ratio=0.5,
                         growth_rate=8, image_shape=(32, 32, 3)),
    "MiT": backbone("MiTBackbone", lambda: image(32), max_drop_path_rate=0.1, layerwise_depths=[1, 1],
                    hidden_dims=[8, 16], num_layers=2, layerwise_num_heads=[1, 2], layerwise_sr_ratios=[2, 1],
                    layerwise_patch_sizes=[7, 3], layerwise_strides=[4, 2], image_shape=(32, 32, 3)),
    "Swin": backbone("SwinTransformerBackbone", lambda: image(32), image_shape=(32, 32, 3), embed_dim=8, depths=[2, 2],
                     num_heads=[2, 4], window_size=4),
    "DINOv2": backbone("DINOV2Backbone", lambda: {"images": image()}, patch_size=4, num_layers=2, hidden_dim=16,
                       num_heads=4, intermediate_dim=32, image_shape=(16, 16, 3), position_embedding_shape=(16, 16, 3),
                       use_mask_token=False),
    "CLIP vision": backbone("CLIPVisionEncoder", lambda: {"images": image()}, patch_size=4, hidden_dim=16, num_layers=2,
                            num_heads=4, intermediate_dim=32, image_shape=(16, 16, 3)),
    "CLIP text": backbone("CLIPTextEncoder", lambda: {"token_ids": text()["token_ids"]}, **LAYERS,
                          vocabulary_size=WORDS, num_heads=4, embedding_dim=16, max_sequence_length=LENGTH),
    "EfficientNet": backbone("EfficientNetBackbone", lambda: image(32), stackwise_width_coefficients=[1.0] * 2,
                             stackwise_depth_coefficients=[1.0] * 2, stackwise_kernel_sizes=[3, 3],
                             stackwise_num_repeats=[1, 1], stackwise_input_filters=[8, 8],
                             stackwise_output_filters=[8, 16], stackwise_expansion_ratios=[1, 4],
                             stackwise_squeeze_and_excite_ratios=[0.25, 0.25], stackwise_strides=[1, 2],
                             stackwise_block_types=["v1", "v1"], input_shape=(32, 32, 3), num_features=16),
    "Xception": backbone("XceptionBackbone", lambda: image(32), stackwise_conv_filters=[[8, 8], [16, 16]],
                         stackwise_pooling=[True, False], image_shape=(32, 32, 3)),
    "CSPNet": backbone("CSPNetBackbone", lambda: image(32), stem_filters=8, stem_kernel_size=3, stem_strides=1,
                       stackwise_depth=[1, 1], stackwise_strides=[1, 2], stackwise_num_filters=[8, 16],
                       block_type="dark_block", stage_type="dark", image_shape=(32, 32, 3)),
}


# T5 does not scale its scores: with larger weights a softmax is at its ends, and one rounding of a weight moves JAX's own
# results by 1e-5.
SMALLER = {"T5": 0.1}


def wave(shape, number, size, positive=False):
    value = size * np.sin(0.7 * np.arange(int(np.prod(shape))) + number)
    return (np.abs(value) + 0.1 if positive else value).astype(np.float32).reshape(shape)


def named(variables):
    """By path: backbone/layer_1/kernel; the paths of a model's parts may be alike: those that come later are numbered."""
    by_path = {}
    for variable in variables:
        path, number = variable.path, 2
        while path in by_path:
            path, number = f"{variable.path}_{number}", number + 1
        by_path[path] = variable
    return by_path


def values(variables, size=0.4):
    given = {}
    for number, (path, variable) in enumerate(variables.items()):
        value = np.asarray(variable.value)
        last = variable.path.rsplit("/")[-1]
        if value.dtype == np.float32 and value.size:
            value = wave(value.shape, number, size, last in ("gamma", "scale", "moving_variance", "layer_scalar"))
        given[path] = value
    return given


# Those that drop a share of attention's weights: MODELS["GPT2"] with dropout=0.2, say.
DROPPING = ("GPT2", "GPTNeoX", "Mistral")


def program(name, build, gradients, dropping=False):
    """A function and its arguments, of what gives a model and its inputs; `dropping`: as in training, by the keys of the model's seeds."""
    model, inputs = build(dropout=0.2) if dropping else build()
    trained, other = named(model.trainable_variables), named(model.non_trainable_variables)
    params, state = (values(variables, SMALLER.get(name, 0.4)) for variables in (trained, other))

    def forward(params, state, batch):
        outputs, _ = model.stateless_call([params[path] for path in trained], [state[path] for path in other], batch,
                                          training=dropping)
        return outputs

    def loss(params, state, batch):
        parts = [leaf for leaf in jax.tree.leaves(forward(params, state, batch)) if jnp.issubdtype(leaf.dtype, jnp.floating)]
        return sum(jnp.mean((leaf - jnp.sin(jnp.arange(leaf.size)).reshape(leaf.shape)) ** 2) for leaf in parts)

    return jax.value_and_grad(loss) if gradients else forward, (params, state, inputs)
