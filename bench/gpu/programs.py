#!/usr/bin/env python3
"""Seconds of steps and memory of exported plans on the accelerators that JAX finds, as lines of JSON.

    shardc export model.yaml layout.yaml --mode train --to jax --output step.py
    python3 bench/gpu/programs.py step.py ...

Needs JAX. A step is compiled, warmed, and timed as the median of five rounds of four.
"""

import json
import pathlib
import statistics
import sys
import time
import types

import jax


def measured(path):
    step = types.ModuleType("step")
    exec(compile(pathlib.Path(path).read_text(), path, "exec"), step.__dict__)
    mesh = step.mesh()
    state, inputs = step.start(mesh)
    begin = time.perf_counter()
    compiled = step.step(mesh).lower(state, inputs).compile()
    row = {"program": pathlib.Path(path).stem, "device": jax.devices()[0].device_kind, "jax": jax.__version__,
           "compile_seconds": time.perf_counter() - begin}
    row["peak_bytes"] = compiled.memory_analysis().peak_memory_in_bytes
    took = []
    for _ in range(6):
        begin = time.perf_counter()
        for _ in range(4):
            state, outputs = compiled(state, inputs)
        jax.block_until_ready((state, outputs))
        took.append((time.perf_counter() - begin) / 4)
    row["step_seconds"] = statistics.median(took[1:])
    return row


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(json.dumps(measured(name)), flush=True)
        jax.clear_caches()
