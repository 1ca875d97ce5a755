#!/usr/bin/env python3
"""Models of keras-hub, imported: forward, and a loss with all its gradients, on two layouts of 2 x 4 that suit them badly.

    tests/oracle/keras_check.py build/dev/shardc [WORD...] [--forward] [--xla] [--dropping]

Of each program: the largest difference from JAX, of the largest value of its output or of all gradients; lines of the model;
seconds to import and plan; with --xla, bytes sent by those of XLA with the same shardings of arguments and results;
with --dropping, of models that drop, as in training. Exits 1 above 5e-6,
unless rounding decides; without keras-hub it says so and exits 77 (skipped). Not part of ctest.
"""

import sys

import imported  # before jax: it forces the devices

try:
    import keras_models
    from keras_composed import MODELS as COMPOSED
except ImportError as problem:
    print(f"SKIPPED: {problem}")
    sys.exit(77)

ALLOWED = 5e-6


def programs(words, dropping, gradients):
    models = keras_models.MODELS | COMPOSED
    for name in keras_models.DROPPING if dropping else models:
        for is_gradient in gradients if not words or name in words else []:
            yield name, is_gradient, *keras_models.program(name, models[name], is_gradient, dropping)


def main():
    words = [word for word in sys.argv[2:] if not word.startswith("--")]
    gradients = [False] if "--forward" in sys.argv else [False, True]
    return imported.check(programs(words, "--dropping" in sys.argv, gradients), ALLOWED, "--xla" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
