#!/usr/bin/env python3
"""Models of PyTorch, which torchax traces as JAX's: forward, and a loss with all its gradients, as keras_check.py checks its own.

    python -m venv venv && venv/bin/pip install torch==2.8.0 torchax==0.0.13 jax==0.10.2 numpy pyyaml 'transformers<5'
    venv/bin/python tests/oracle/torch_check.py build/dev/shardc [--xla] [WORD...]     only models whose names hold a word

Hugging Face's models are among them where transformers is installed.
Exits 1 above 5e-6; without torchax it says so and exits 77 (skipped). Not part of ctest.
"""

import sys

import imported  # before jax: it forces the devices

try:
    import torch_models
except ImportError as problem:
    print(f"SKIPPED: {problem}")
    sys.exit(77)

ALLOWED = 5e-6


def programs():
    words = [word for word in sys.argv[2:] if word != "--xla"]
    for name in torch_models.MODELS:
        if words and not any(word in name for word in words):
            continue
        for is_gradient in (False, True):
            yield name, is_gradient, *torch_models.program(name, is_gradient)


if __name__ == "__main__":
    sys.exit(imported.check(programs(), ALLOWED, "--xla" in sys.argv))
