#!/usr/bin/env python3
"""Compiles what `shardc export --to stablehlo` writes of Llama 3.1 8B's train step for TPUs, ahead of time: libtpu
needs none for it. Says what the compiled program sends, all devices together, beside what the plan says, and its peak
memory.

    tests/oracle/export_tpu_check.py build/release/shardc [WORD...]      only topologies whose names hold a word

Exits 1 where bytes differ by more than a hundredth. Needs jax 0.10.2 and libtpu 0.0.42, some minutes and one process at
a time; without them it says so and exits 77. Not part of ctest.
"""

import collections
import json
import pathlib
import sys
import tempfile
import time

import exported_plans  # before jax: it says where jax runs
import hlo_text

try:
    import libtpu  # noqa: F401
    from jax.experimental import topologies
except ImportError as problem:
    print(f"SKIPPED: {problem}")
    sys.exit(77)
from export_stablehlo_check import Function

MODEL = exported_plans.FOLDERS[0] / "llama3" / "model.yaml"
RULES = """
rules: [{batch: data}, {length: ~}, {heads: model}, {kv_heads: model}, {kv: ~}, {mlp: model}, {vocab: model},
        {embed: ~}, {layers: ~}]
fsdp: {axis: data}
"""
LENGTH, FSDP, BOTH = "length=4096", "mesh: {data: 64}", "mesh: {data: 8, model: 8}"
CASES = (  # topology, hardware, mesh, batch
    ("v5e:8x8", "tpu-v5e", BOTH, 16),
    ("v5p:4x4x4", "tpu-v5p", BOTH, 16),
    ("v5p:4x4x4", "tpu-v5p", FSDP, 64),
)
MOST = 0.01


def planned_bytes(plan):
    """By kind, what all devices send."""
    ids = [axis["size"] for axis in plan["mesh"]["axes"]]
    devices = 1
    for size in ids:
        devices *= size
    found = collections.Counter()
    for (kind, groups), size in exported_plans.planned_collectives(plan).items():
        found[kind] += round(exported_plans.wire_bytes({(kind, groups): size}) * devices)
    return found


def check(topology, hardware, mesh, batch):
    with tempfile.TemporaryDirectory() as where:
        layout, plan_path = pathlib.Path(where) / "layout.yaml", pathlib.Path(where) / "plan.json"
        rules = RULES if "model" in mesh else RULES.replace("model", "~")
        layout.write_text(f"{mesh}\nhardware: {hardware}{rules}")
        asked = "--mode", "train", "--set", f"batch={batch}", "--set", LENGTH
        code, said = exported_plans.shardc(where, "plan", MODEL, layout, *asked, "--quick", "-o", plan_path)
        if not plan_path.exists():
            raise RuntimeError(said)
        plan = json.loads(plan_path.read_text())
        code, text = exported_plans.shardc(where, "export", plan_path, "--to", "stablehlo")
        if code:
            raise RuntimeError(text)
    begun = time.time()
    compiled = Function(text, "main", topologies.get_topology_desc(platform="tpu", topology_name=topology).devices).compiled
    spent = time.time() - begun
    planned = planned_bytes(plan)
    _, sent = hlo_text.Module(compiled.hlo_modules()[0].to_string()).sent(64)
    memory = compiled.get_compiled_memory_stats()
    peak = (
        memory.argument_size_in_bytes
        + memory.output_size_in_bytes
        + memory.temp_size_in_bytes
        - memory.alias_size_in_bytes
    )
    print(f"{topology}, {mesh}, batch {batch}: compiled in {spent:.0f} s")
    far = []
    for kind in sorted(planned.keys() | sent.keys()):
        ratio = sent.get(kind, 0) / planned[kind] if planned[kind] else float("inf")
        print(f"  {kind:20} planned {planned[kind]:>17,} B  compiled {sent.get(kind, 0):>17,} B  {ratio:.4f}")
        if abs(ratio - 1) > MOST:
            far.append(kind)
    print(f"  {'peak on a device':20} planned {plan['peak_bytes']:>17,} B  compiled {peak:>17,} B  {peak / plan['peak_bytes']:.4f}")
    sys.stdout.flush()
    return far


if __name__ == "__main__":
    wanted = [case for case in CASES if all(word in " ".join(map(str, case)) for word in exported_plans.WORDS)]
    sys.exit(1 if any([check(*case) for case in wanted]) else 0)
