"""PyTorch's models of Hugging Face's transformers, small, for torch_check.py. Those that torchax does not trace are not here: it asks for
the value of a mask (BERT without one), for how many tokens an expert has (Mixtral), or makes a window of a number (Mistral, Gemma 2 and 3).
"""

import numpy as np
import transformers as hf
from torch import nn

SIZES = {"vocab_size": 64, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64,
         "max_position_embeddings": 32}
GROUPED = SIZES | {"num_key_value_heads": 2}
PICTURES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "image_size": 32, "patch_size": 8}
STACKED = {"vocab_size": 64, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
TOKENS = (np.arange(64).reshape(4, 16) * 7 % 61 + 1).astype(np.int32)
IMAGE = np.sin(np.arange(4 * 3 * 32 * 32)).astype(np.float32).reshape(4, 3, 32, 32)
SOUND = np.sin(np.arange(4 * 16 * 32)).astype(np.float32).reshape(4, 16, 32)


class First(nn.Module):
    """The logits of a model, or what it returns first."""

    def __init__(self, model, argument, with_mask=False):
        super().__init__()
        self.model, self.argument, self.with_mask = model, argument, with_mask
        model.config.use_cache = False

    def forward(self, given):
        # A mask of ones, where the model would otherwise look for padding among the tokens.
        more = {"attention_mask": given * 0 + 1} if self.with_mask else {}
        made = self.model(**{self.argument: given}, **more)
        return made.logits if hasattr(made, "logits") else made[0]


def tokens(kind, config, **sizes):
    return lambda: First(getattr(hf, kind)(getattr(hf, config)(**sizes, attn_implementation="eager")), "input_ids")


def masked(kind, config, **sizes):
    return lambda: First(getattr(hf, kind)(getattr(hf, config)(**sizes, attn_implementation="eager")), "input_ids", True)


def pictures(kind, config, **sizes):
    return lambda: First(getattr(hf, kind)(getattr(hf, config)(**sizes)), "pixel_values")


def whisper():
    config = hf.WhisperConfig(vocab_size=64, d_model=32, encoder_layers=2, encoder_attention_heads=4, encoder_ffn_dim=64,
                              num_mel_bins=16, max_source_positions=16)
    return First(hf.models.whisper.modeling_whisper.WhisperEncoder(config), "input_features")


MODELS = {
    "hf GPT-2": (tokens("GPT2LMHeadModel", "GPT2Config", vocab_size=64, n_embd=32, n_layer=2, n_head=4, n_positions=32), TOKENS),
    "hf Llama": (tokens("LlamaForCausalLM", "LlamaConfig", **GROUPED), TOKENS),
    "hf Qwen2": (tokens("Qwen2ForCausalLM", "Qwen2Config", **GROUPED), TOKENS),
    "hf Qwen3": (tokens("Qwen3ForCausalLM", "Qwen3Config", **GROUPED, head_dim=8), TOKENS),
    "hf Phi-3": (tokens("Phi3ForCausalLM", "Phi3Config", **GROUPED, pad_token_id=0), TOKENS),
    "hf OLMo 2": (tokens("Olmo2ForCausalLM", "Olmo2Config", **GROUPED), TOKENS),
    "hf GPT-NeoX": (tokens("GPTNeoXForCausalLM", "GPTNeoXConfig", **SIZES), TOKENS),
    "hf OPT": (tokens("OPTForCausalLM", "OPTConfig", **STACKED, ffn_dim=64, max_position_embeddings=32, word_embed_proj_dim=32),
               TOKENS),
    "hf BLOOM": (tokens("BloomForCausalLM", "BloomConfig", vocab_size=64, hidden_size=32, n_layer=2, n_head=4), TOKENS),
    "hf Falcon": (tokens("FalconForCausalLM", "FalconConfig", **STACKED), TOKENS),
    "hf T5 encoder": (tokens("T5EncoderModel", "T5Config", vocab_size=64, d_model=32, num_layers=2, num_heads=4, d_kv=8, d_ff=64),
                      TOKENS),
    "hf Mamba": (tokens("MambaForCausalLM", "MambaConfig", vocab_size=64, hidden_size=32, num_hidden_layers=2, state_size=8),
                 TOKENS),
    "hf BERT": (masked("BertForMaskedLM", "BertConfig", **SIZES), TOKENS),
    "hf RoBERTa": (masked("RobertaForMaskedLM", "RobertaConfig", **SIZES | {"max_position_embeddings": 34}), TOKENS),
    "hf DistilBERT": (masked("DistilBertForMaskedLM", "DistilBertConfig", vocab_size=64, dim=32, n_layers=2, n_heads=4,
                             hidden_dim=64), TOKENS),
    "hf ViT": (pictures("ViTForImageClassification", "ViTConfig", **PICTURES, intermediate_size=64), IMAGE),
    "hf DINOv2": (pictures("Dinov2Model", "Dinov2Config", **PICTURES), IMAGE),
    "hf CLIP vision": (pictures("CLIPVisionModel", "CLIPVisionConfig", **PICTURES, intermediate_size=64), IMAGE),
    "hf Swin": (pictures("SwinForImageClassification", "SwinConfig", image_size=32, patch_size=4, embed_dim=16, depths=[1, 1],
                         num_heads=[2, 4], window_size=4), IMAGE),
    "hf ResNet": (pictures("ResNetForImageClassification", "ResNetConfig", embedding_size=16, hidden_sizes=[16, 32],
                           depths=[1, 1]), IMAGE),
    "hf Whisper encoder": (whisper, SOUND),
}
