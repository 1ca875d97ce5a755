#!/usr/bin/env python3
"""Models of keras-hub, imported: forward, and a loss with all its gradients, on two layouts of 2 x 4 that suit them badly.

    tests/oracle/keras_check.py build/dev/shardc [WORD...] [--forward] [--xla] [--dropping]

Of each program: the largest difference from JAX, of the largest value of its output or of all gradients; lines of the model;
seconds to import and plan; with --xla, bytes sent by those of XLA with the same shardings of arguments and results;
with --dropping, of models that drop, as in training. Exits 1 above 5e-6; without keras-hub it says so and exits 77 (skipped). Not part of ctest.
"""

import sys

import imported  # before jax: it forces the devices

try:
    import keras_models
except ImportError as problem:
    print(f"SKIPPED: {problem}")
    sys.exit(77)

ALLOWED = 5e-6


def main():
    words = [word for word in sys.argv[2:] if not word.startswith("--")]
    failed = []
    dropping = "--dropping" in sys.argv
    for name in keras_models.DROPPING if dropping else keras_models.MODELS:
        if words and name not in words:
            continue
        for is_gradient in [False] if "--forward" in sys.argv else [False, True]:
            function, arguments = keras_models.program(name, is_gradient, dropping)
            traced = imported.trace(function, arguments)
            for first_dim in (False, True):
                outcome = imported.compare(traced, is_gradient, first_dim, "--xla" in sys.argv)
                label = f"{name} {'gradient' if is_gradient else 'forward'} {'first' if first_dim else 'last'}"
                bad = outcome.problem or not outcome.difference <= ALLOWED
                failed += [label] if bad else []
                ratio = f"{outcome.sent / outcome.sent_by_xla:6.2f}" if outcome.sent_by_xla else ""
                print(f"{label:32} {outcome.difference:8.1e} {outcome.lines:6} lines {outcome.seconds:6.2f} s {ratio}"
                      f"{'  FAILED ' + outcome.problem if bad else ''}", flush=True)
    print(f"{len(failed)} failed" + "".join(f"\n  {label}" for label in failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
