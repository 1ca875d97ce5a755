"""Models of keras-hub that are put together of others, or made for a task: detectors, segmenters, encoders beside encoders, decoders of images."""

import importlib

from keras_models import BATCH, BERT, GEMMA, LAYERS, LENGTH, WORDS, both_sides, image, segments, text  # before keras: it says which backend
import keras_hub
import numpy as np

MODELS = {}


def model(function):
    """`function` gives a model and its inputs."""
    MODELS[function.__name__] = function
    return function


def inner(module, name):
    """What keras-hub does not export."""
    return getattr(importlib.import_module(f"keras_hub.src.models.{module}"), name)


def hub(name, **arguments):
    return getattr(keras_hub.models, name)(**arguments)


def wave(*shape):
    return (0.4 * np.sin(0.7 * np.arange(np.prod(shape)))).astype(np.float32).reshape(shape)


def resnet(size):
    return hub("ResNetBackbone", input_conv_filters=[64], stackwise_num_filters=[64, 16, 16, 16], stackwise_num_blocks=[1] * 4,
               stackwise_num_strides=[1, 2, 2, 2], block_type="basic_block", use_pre_activation=False,
               input_conv_kernel_sizes=[3], image_shape=(size, size, 3))


def mix_transformer(size):
    return hub("MiTBackbone", max_drop_path_rate=0.1, layerwise_depths=[1] * 4, hidden_dims=[8, 16, 24, 32], num_layers=4,
               layerwise_num_heads=[1, 2, 3, 4], layerwise_sr_ratios=[2, 1, 1, 1], layerwise_patch_sizes=[7, 3, 3, 3],
               layerwise_strides=[4, 2, 2, 1], image_shape=(size, size, 3))


def windows(channels):
    return hub("ViTDetBackbone", image_shape=(16, 16, 3), patch_size=2, hidden_size=8, num_layers=2, global_attention_layer_indices=[1],
               intermediate_dim=16, num_heads=2, num_output_channels=channels, window_size=2)


VISION = LAYERS | {"patch_size": 4, "num_heads": 4, "image_shape": (16, 16, 3)}
WORDING = LAYERS | {"vocabulary_size": WORDS, "embedding_dim": 16, "num_heads": 4, "max_sequence_length": LENGTH}


def image_and_text():
    return {"images": image(), "token_ids": text()["token_ids"]}


@model
def DINOv3():
    return hub("DINOV3Backbone", **(VISION | {"num_heads": 2}), use_mask_token=False), {"pixel_values": image()}


@model
def DepthAnything():
    encoder = hub("DINOV2Backbone", **(LAYERS | {"num_layers": 4}), patch_size=4, num_heads=4, image_shape=(32, 32, 3),
                  position_embedding_shape=(32, 32), use_mask_token=False)
    return hub("DepthAnythingBackbone", image_encoder=encoder, reassemble_factors=[4, 2, 1, 0.5], neck_hidden_dims=[8, 8, 16, 16],
               fusion_hidden_dim=16, head_hidden_dim=8, head_in_index=-1,
               feature_keys=["stage1", "stage2", "stage3", "stage4"]), {"images": image(32)}


@model
def SegFormer():
    return hub("SegFormerBackbone", image_encoder=mix_transformer(32), projection_filters=16), image(32)


@model
def DeepLabV3():
    return hub("DeepLabV3Backbone", image_encoder=resnet(64), low_level_feature_key="P2", spatial_pyramid_pooling_key="P5",
               upsampling_size=8, dilation_rates=[1, 2, 3], projection_filters=8, image_shape=(64, 64, 3)), image(64)


@model
def RetinaNet():
    return hub("RetinaNetBackbone", image_encoder=resnet(64), min_level=3, max_level=5, use_p5=False,
               image_shape=(64, 64, 3)), image(64)


@model
def MobileNet():
    return hub("MobileNetBackbone", stackwise_expansion=[[16, 24], [24, 32]], stackwise_num_blocks=[2, 2],
               stackwise_num_filters=[[8, 8], [16, 16]], stackwise_kernel_size=[[3, 3], [5, 5]],
               stackwise_num_strides=[[2, 1], [2, 1]], stackwise_se_ratio=[[None, None], [0.25, 0.25]],
               stackwise_activation=[["relu"] * 2, ["hard_swish"] * 2], stackwise_padding=[[1, 1], [2, 2]], output_num_filters=32,
               input_activation="hard_swish", output_activation="hard_swish", input_num_filters=8, image_shape=(32, 32, 3),
               depthwise_filters=8, depthwise_stride=2, depthwise_residual=False, squeeze_and_excite=0.5, last_layer_filter=32), image(32)


@model
def MobileNetV5():
    per_block = {"act_layers": ["relu"] * 3, "exp_ratios": [4.0] * 3, "se_ratios": [0.0] * 3, "dw_kernel_sizes": [0, 3, 0],
                 "dw_start_kernel_sizes": [0, 3, 0], "dw_end_kernel_sizes": [0] * 3, "exp_kernel_sizes": [3, 0, 0],
                 "pw_kernel_sizes": [1, 0, 0], "num_heads": [0, 0, 2], "key_dims": [0, 0, 8], "value_dims": [0, 0, 8],
                 "kv_strides": [0, 0, 1], "use_cpe": [False] * 3, "block_types": ["er", "uir", "mqa"], "num_filters": [16] * 3,
                 "strides": [2, 2, 1]}
    return hub("MobileNetV5Backbone", stackwise_num_blocks=[1, 2], use_msfa=False, image_shape=(32, 32, 3),
               **{f"stackwise_{key}": [blocks[:1], blocks[1:]] for key, blocks in per_block.items()}), image(32)


@model
def HGNetV2():
    return hub("HGNetV2Backbone", depths=[1, 1], embedding_size=8, hidden_sizes=[8, 16], stem_channels=[3, 8, 8], hidden_act="relu",
               use_learnable_affine_block=True, stackwise_stage_filters=[[8, 8, 8, 1, 2, 3], [8, 8, 16, 1, 2, 3]],
               apply_downsample=[False, True], use_lightweight_conv_block=[False, True], image_shape=(32, 32, 3)), image(32)


@model
def ViTDet():
    return windows(4), image()


@model
def SAM():
    prompts = inner("sam.sam_prompt_encoder", "SAMPromptEncoder")(
        hidden_size=8, image_embedding_size=(8, 8), input_image_size=(16, 16), mask_in_channels=16)
    masks = inner("sam.sam_mask_decoder", "SAMMaskDecoder")(
        num_layers=2, hidden_size=8, intermediate_dim=32, num_heads=2, embedding_dim=8, num_multimask_outputs=3, iou_head_depth=3,
        iou_head_hidden_dim=8)
    return hub("SAMBackbone", image_encoder=windows(8), prompt_encoder=prompts, mask_decoder=masks), {
        "images": image(), "points": np.full((BATCH, 1, 2), 5, np.float32), "labels": np.ones((BATCH, 1), np.float32),
        "boxes": np.full((BATCH, 1, 2, 2), 4, np.float32), "masks": np.full((BATCH, 1, 32, 32, 1), 0.3, np.float32)}


@model
def CLIP():
    return hub("CLIPBackbone", vision_encoder=hub("CLIPVisionEncoder", **VISION), text_encoder=hub("CLIPTextEncoder", **WORDING),
               projection_dim=16), image_and_text()


@model
def MetaCLIP2():
    vision = inner("metaclip_2.metaclip_2_vision_encoder", "MetaCLIP2VisionEncoder")(**VISION)
    words = inner("metaclip_2.metaclip_2_text_encoder", "MetaCLIP2TextEncoder")(**WORDING)
    return hub("MetaCLIP2Backbone", vision_encoder=vision, text_encoder=words, projection_dim=16), image_and_text()


@model
def SigLIPBoth():
    return hub("SigLIPBackbone", vision_encoder=hub("SigLIPVisionEncoder", **VISION),
               text_encoder=hub("SigLIPTextEncoder", **WORDING)), image_and_text()


@model
def PaliGemma():
    response = np.repeat(np.arange(LENGTH)[None] < 4, BATCH, 0).astype(np.int32)
    return hub("PaliGemmaBackbone", vocabulary_size=WORDS, image_size=16, num_layers=2, num_query_heads=4, num_key_value_heads=1,
               hidden_dim=8, intermediate_dim=16, head_dim=4, vit_patch_size=4, vit_num_heads=4, vit_hidden_dim=8, vit_num_layers=2,
               vit_intermediate_dim=16), {"images": image(), **text(response_mask=response)}


@model
def VAE():
    return inner("vae.vae_backbone", "VAEBackbone")([32] * 4, [1] * 4, [32] * 4, [1] * 4, sampler_method="mode",
                                                    sample_channels=4), image(32)


@model
def MMDiT():
    return inner("stable_diffusion_3.mmdit", "MMDiT")(
        patch_size=2, hidden_dim=16, num_layers=2, num_heads=2, position_size=8, qk_norm="rms_norm", dual_attention_indices=(0,),
        latent_shape=(8, 8, 4), context_shape=(6, 16), pooled_projection_shape=(12,)), {
            "latent": image(8, 4), "context": wave(BATCH, 6, 16), "pooled_projection": wave(BATCH, 12),
            "timestep": np.arange(BATCH, dtype=np.float32).reshape(BATCH, 1)}


@model
def Flux():
    places = np.stack(np.meshgrid(np.arange(1), np.arange(4), np.arange(4), indexing="ij"), -1).reshape(1, 16, 3)
    return hub("FluxBackbone", input_channels=8, hidden_size=16, mlp_ratio=2.0, num_heads=2, depth=2, depth_single_blocks=2,
               axes_dim=[2, 2, 4], theta=100, use_bias=True, guidance_embed=True, image_shape=(16, 8), text_shape=(6, 12),
               image_ids_shape=(16, 3), text_ids_shape=(6, 3), y_shape=(5,)), {
                   "image": wave(BATCH, 16, 8), "image_ids": np.repeat(places, BATCH, 0).astype(np.float32),
                   "text": wave(BATCH, 6, 12), "text_ids": np.zeros((BATCH, 6, 3), np.float32), "y": wave(BATCH, 5),
                   "timesteps": np.arange(BATCH, dtype=np.float32) / 4, "guidance": np.ones(BATCH, np.float32)}


@model
def Moonshine():
    return hub("MoonshineBackbone", vocabulary_size=WORDS, filter_dim=16, encoder_num_layers=2, decoder_num_layers=2, hidden_dim=16,
               intermediate_dim=32, encoder_num_heads=2, decoder_num_heads=2, decoder_use_swiglu_activation=True), {
                   "encoder_input_values": wave(BATCH, 2048, 1), "encoder_padding_mask": np.ones((BATCH, 2048), bool),
                   **{f"decoder_{name}": value for name, value in text().items()}}


@model
def PARSeq():
    encoder = hub("ViTBackbone", image_shape=(16, 16, 3), patch_size=4, num_layers=2, num_heads=4, hidden_dim=16, mlp_dim=32,
                  use_class_token=False)
    return inner("parseq.parseq_backbone", "PARSeqBackbone")(
        image_encoder=encoder, vocabulary_size=WORDS, max_label_length=LENGTH, decoder_hidden_dim=16, num_decoder_layers=1,
        num_decoder_heads=2, decoder_mlp_dim=32), {"images": image(), **text()}


def two_sided_gemma(name, **more):
    side = {"hidden_dim": 16, "intermediate_dim": 32, "num_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
            "head_dim": 8, "layer_types": ["full_attention", "sliding_attention"]}
    sides = {f"{which}_{key}": value for which in ("encoder", "decoder") for key, value in side.items()}
    return hub(name, vocabulary_size=WORDS, **sides, sliding_window=4, query_pre_attn_scalar=8.0, cross_attention_hidden_size=16,
               **more), both_sides()


@model
def T5Gemma():
    return two_sided_gemma("T5GemmaBackbone", attn_logit_softcapping=50.0, final_logit_softcapping=30.0)


@model
def T5Gemma2():
    return two_sided_gemma("T5Gemma2Backbone")


def fourth_gemma(**more):
    positions = np.repeat(np.arange(LENGTH, dtype=np.int32)[None], BATCH, 0)
    return hub("Gemma4Backbone", **GEMMA, image_size=16, vision_encoder=None, sliding_window_size=4, **more), text(position_ids=positions)


@model
def Gemma4():
    return fourth_gemma()


@model
def Gemma4MoE():
    return fourth_gemma(enable_moe_block=True, num_experts=4, expert_intermediate_dim=16, num_experts_per_token=2)


@model
def Qwen35Moe():
    return hub("Qwen3_5MoeBackbone", vocabulary_size=WORDS, num_layers=2, num_query_heads=4, num_key_value_heads=2, head_dim=8,
               hidden_dim=16, moe_intermediate_dim=16, shared_expert_intermediate_size=16, num_experts=4, top_k=2,
               layer_types=["linear_attention", "full_attention"], partial_rotary_factor=0.5, linear_num_key_heads=2,
               linear_num_value_heads=4, linear_key_head_dim=8, linear_value_head_dim=8), text()


@model
def VideoPrism():
    return hub("VideoPrismBackbone", num_frames=4, patch_size=4, hidden_dim=16, intermediate_dim=32, num_heads=4, num_spatial_layers=2,
               num_temporal_layers=2, num_auxiliary_layers=0, image_shape=(8, 8, 3)), {"pixel_values": wave(BATCH, 4, 8, 8, 3)}


@model
def RQVAE():
    return inner("rqvae.rqvae_backbone", "RQVAEBackbone")(input_dim=16, encoder_layer_dims=[16, 8], output_dim=4,
                                                         decoder_layer_dims=[8, 16], num_embeddings=8, num_quantizers=2), wave(BATCH, 16)


@model
def EdRec():
    return hub("EdRecBackbone", vocab_size=WORDS, num_layers_enc=1, num_layers_dec=1, hidden_dim=16, intermediate_dim=32,
               num_heads=2), both_sides()


@model
def BertMaskedLM():
    places = (np.arange(BATCH * 2, dtype=np.int32) % LENGTH).reshape(BATCH, 2)
    return hub("BertMaskedLM", backbone=hub("BertBackbone", **BERT), preprocessor=None), segments() | {"mask_positions": places}


@model
def BertTextClassifier():
    return hub("BertTextClassifier", backbone=hub("BertBackbone", **BERT), num_classes=4, preprocessor=None), segments()


@model
def ResNetImageClassifier():
    return hub("ResNetImageClassifier", backbone=resnet(32), num_classes=4, preprocessor=None), image(32)


@model
def BASNet():
    encoder = hub("ResNetBackbone", input_conv_filters=[64], input_conv_kernel_sizes=[7], stackwise_num_filters=[64, 128, 256, 512],
                  stackwise_num_blocks=[1] * 4, stackwise_num_strides=[1, 2, 2, 2], block_type="basic_block", use_pre_activation=False)
    return hub("BASNetBackbone", image_encoder=encoder, num_classes=1, image_shape=(64, 64, 3)), image(64)
