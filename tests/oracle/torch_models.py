"""Models of PyTorch for torch_check.py, written as one writes them there, and made functions of JAX by torchax."""

import importlib.util

import jax
import jax.numpy as jnp
import numpy as np
import torch
import torch.nn.functional as F
import torchax
from torch import nn
from torchax.interop import jax_view, torch_view


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.qkv, self.out, self.heads = nn.Linear(width, 3 * width), nn.Linear(width, width), heads

    def forward(self, x):
        batch, length, width = x.shape
        split = lambda t: t.view(batch, length, self.heads, width // self.heads).transpose(1, 2)
        q, k, v = (split(t) for t in self.qkv(x).split(width, -1))
        made = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(made.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width=32, heads=4):
        super().__init__()
        self.norm, self.attention, self.mlp_norm = nn.LayerNorm(width), Attention(width, heads), nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.attention(self.norm(x))
        return x + self.mlp(self.mlp_norm(x))


class Gpt(nn.Module):
    def __init__(self, layers=4, words=64, width=32, length=16):
        super().__init__()
        self.embedding, self.positions = nn.Embedding(words, width), nn.Parameter(torch.zeros(length, width))
        self.blocks = nn.ModuleList(Block(width) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, tokens):
        x = self.embedding(tokens) + self.positions
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight


class LlamaBlock(nn.Module):
    """As Meta wrote it: rotary positions as complex numbers, heads of keys that are repeated."""

    def __init__(self, width=32, heads=4, kv_heads=2):
        super().__init__()
        self.heads, self.kv_heads, self.kv = heads, kv_heads, width // heads
        self.wq, self.wo = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
        self.wk, self.wv = (nn.Linear(width, kv_heads * self.kv, bias=False) for _ in range(2))
        self.norm, self.mlp_norm = RmsNorm(width), RmsNorm(width)
        self.w1, self.w3, self.w2 = (nn.Linear(*sizes, bias=False) for sizes in ((width, 64), (width, 64), (64, width)))

    def turned(self, x):
        frequencies = 1.0 / 10000.0 ** (torch.arange(0, self.kv, 2, device=x.device).float() / self.kv)
        angles = torch.outer(torch.arange(x.shape[1], device=x.device).float(), frequencies)
        turns = torch.complex(torch.cos(angles), torch.sin(angles))[None, :, None]
        pairs = x.float().reshape(*x.shape[:-1], -1, 2)
        made = torch.complex(pairs[..., 0], pairs[..., 1]) * turns
        return torch.stack((made.real, made.imag), -1).flatten(3)

    def forward(self, x):
        batch, length, width = x.shape
        n = self.norm(x)
        q = self.turned(self.wq(n).view(batch, length, self.heads, self.kv))
        k = self.turned(self.wk(n).view(batch, length, self.kv_heads, self.kv))
        v = self.wv(n).view(batch, length, self.kv_heads, self.kv)
        k, v = (t.repeat_interleave(self.heads // self.kv_heads, 2) for t in (k, v))
        made = F.scaled_dot_product_attention(*(t.transpose(1, 2) for t in (q, k, v)), is_causal=True)
        x = x + self.wo(made.transpose(1, 2).reshape(batch, length, width))
        n = self.mlp_norm(x)
        return x + self.w2(F.silu(self.w1(n)) * self.w3(n))


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm = nn.Conv2d(3, 8, 3, padding=1, stride=2), nn.BatchNorm2d(8)
        self.second, self.head = nn.Conv2d(8, 16, 3, padding=1), nn.Linear(16, 8)

    def forward(self, image):
        x = F.max_pool2d(F.relu(self.norm(self.first(image))), 2)
        return self.head(F.relu(self.second(x)).mean((2, 3)))


class Fourier(nn.Module):
    """FNet's block: what attention does in others is a Fourier transform."""

    def __init__(self, width=32):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, 64), nn.Linear(64, width)

    def forward(self, x):
        x = self.norm(x + torch.fft.fft2(x).real)
        return x + self.down(F.gelu(self.up(x)))


def encoder():
    layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, dropout=0.0)
    return nn.TransformerEncoder(layer, 2)


def mlp():
    return nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 8))


def wave(shape, number):
    return (0.4 * np.sin(0.7 * np.arange(int(np.prod(shape))) + number)).astype(np.float32).reshape(shape)


TOKENS = (np.arange(64).reshape(4, 16) * 7 % 61).astype(np.int32)
MODELS = {
    "MLP": (mlp, wave((8, 16), 1)),
    "GPT": (Gpt, TOKENS),
    "Llama block": (LlamaBlock, wave((4, 16, 32), 1)),
    "TransformerEncoder": (encoder, wave((4, 16, 32), 1)),
    "ConvNet": (ConvNet, wave((4, 3, 16, 16), 1)),
    "FNet block": (Fourier, wave((4, 16, 32), 1)),
}
if importlib.util.find_spec("transformers"):
    import transformers_models

    MODELS |= transformers_models.MODELS


def program(name, gradients):
    """A function of parameters and an input, and both; what the model holds besides is part of the function."""
    make, given = MODELS[name]
    model, env = make().eval(), torchax.default_env()
    arrays = {key: value.detach().numpy() for key, value in [*model.named_parameters(), *model.named_buffers()]}
    params = {key: np.abs(wave(value.shape, n)) + 0.5 if value.ndim == 1 and "norm" in key else wave(value.shape, n)
              for n, (key, value) in enumerate(arrays.items()) if value.dtype == np.float32}
    rest = {key: jnp.asarray(value) for key, value in arrays.items() if key not in params}

    def forward(params, given):
        with env:
            return jax_view(torch.func.functional_call(model, torch_view({**params, **rest}), torch_view((given,))))

    def loss(params, given):
        made = forward(params, given)
        return jnp.mean((made - jnp.sin(jnp.arange(made.size)).reshape(made.shape)) ** 2)

    return jax.value_and_grad(loss) if gradients else forward, (params, given)
