#!/usr/bin/env python3
"""Runs what `shardc export --to jax` writes on eight devices forced on the CPU, beside `shardc run` of the same plan.

    tests/oracle/export_jax_check.py build/dev/shardc [WORD...]     only cases whose names hold a word

Per case: the largest difference of an output, of its largest value, against what `run --verify` allows; and the
collectives in XLA's compiled program against the plan's, in kind, group and bytes. Exits 1 if a number differs; without
JAX it says so and exits 77 (skipped). Not part of ctest.
"""

import importlib.util

import exported_plans


def run(text, where, steps):
    path = where / "exported.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("exported", path)
    exported = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(exported)
    mesh = exported.mesh()
    state, inputs = exported.start(mesh)
    step = exported.step(mesh)
    compiled = step.lower(state, inputs).compile()
    for _ in range(steps):
        state, outputs = step(state, inputs)
    return {**state, **outputs}, compiled.as_text()


def differences(plan, compiled):
    """JAX compiles for positions in the mesh, whatever devices stand there."""
    return exported_plans.differences({**plan, "mesh": {**plan["mesh"], "device_ids": None}}, compiled)


if __name__ == "__main__":
    exported_plans.check("jax", run, tell=differences)
