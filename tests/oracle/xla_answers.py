#!/usr/bin/env python3
"""Asks XLA what it makes of the cases in models/cases.txt and writes its answers, which ctest compares plans with.

    tests/oracle/xla_answers.py SHARDC [--on cpu|tpu] [--all]

Each case is planned, exported with `--to stablehlo --global` (the program over whole arrays, with the plan's shardings
of arguments and results), partitioned and compiled by XLA for eight devices forced on the CPU, and run there from the
model's initial values; then it is compiled for eight TPU v5e, which needs none. answers.json has, of each case,
samples of the values, and of each compiler result shardings, the bytes sent by kind, FLOPs and the peak of memory.
Cases whose texts and planned result shardings are those of the answers are not asked again, but with --all. Needs jax and libtpu; without them it says so and exits 77.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# How fast the code is does not matter.
os.environ["XLA_FLAGS"] = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"

import exported_plans  # noqa: E402 before jax: it forces the devices
import hlo_text
import jax
import jaxlib
import numpy
from export_stablehlo_check import Function
from jax._src.lib import xla_client

HERE = pathlib.Path(__file__).resolve().parent
MODELS = HERE / "models"
ANSWERS = HERE / "answers.json"
SAMPLES = 8


def cases():
    for line in (MODELS / "cases.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            yield dict(zip(("class", "model", "layout", "mode"), line.split()))


def name_of(case):
    model = case["model"].removesuffix(".yaml").removesuffix("/model")
    return f"{model} {pathlib.Path(case['layout']).stem} {case['mode']}"


def tpu_devices():
    os.environ.setdefault("TPU_SKIP_MDS_QUERY", "1")
    from jax.experimental import topologies

    return topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x4").devices


def shardc(*arguments):
    done = subprocess.run([SHARDC, *map(str, arguments)], cwd=MODELS, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr or done.stdout)
    return done.stdout


def without_result_shardings(text):
    """The module with @main's results as XLA likes them."""
    head, tail = text.split("-> (", 1)
    results, body = tail.split(") {\n", 1)
    return head + "-> (" + re.sub(r", sdy\.sharding = #sdy\.sharding<@mesh, \[[^\]]*\]>", "", results) + ") {\n" + body


def figures(function, text):
    """What a compiler made of a program."""
    compiled = function.compiled
    hlo = compiled.hlo_modules()[0].to_string()
    # XLA:TPU may send bf16 where the program says f32: what is meant is counted.
    module = hlo_text.Module(hlo, {} if "bf16" in text else {"bf16": 4})
    sent, scattered = module.sent(8)
    memory = compiled.get_compiled_memory_stats()
    cost = compiled.cost_analysis()
    cost = cost[0] if isinstance(cost, list) else cost
    found = {
        "sent": scattered,
        # Exponentials and their kind are apart there; shardc counts them as one FLOP each.
        "flops": int(cost.get("flops", 0)) + int(cost.get("transcendentals", 0)) + module.repeated_flops(),
        "peak": memory.argument_size_in_bytes
        + memory.output_size_in_bytes
        + memory.temp_size_in_bytes
        - memory.alias_size_in_bytes,
    }
    return found | ({"sent_all_reduced": sent} if sent != scattered else {})


def samples(value):
    """Elements at equal distances, and the largest of all."""
    flat = numpy.asarray(value).astype(numpy.float64).ravel()
    at = [i * flat.size // SAMPLES for i in range(min(SAMPLES, flat.size))] if flat.size > SAMPLES else range(flat.size)
    return {"at": [float(f"{flat[i]:.7g}") for i in at], "largest": float(f"{numpy.abs(flat).max(initial=0):.7g}")}


def program(case):
    """Its plan, and what XLA is given."""
    with tempfile.TemporaryDirectory() as where:
        path = pathlib.Path(where) / "plan.json"
        shardc("plan", case["model"], case["layout"], "--mode", case["mode"], "--quick", "-o", path)
        plan = json.loads(path.read_text())
        text = shardc("export", path, "--to", "stablehlo", "--global")
    return plan, text


def shardings(plan):
    """Of results, which XLA is given."""
    buffers = plan["buffers"]
    return {
        buffers[output["updates"]]["name"] if "updates" in output else output["name"]: buffers[output["buffer"]]["sharding"]
        for output in plan["outputs"]
    }


def cpu_answer(text):
    start = Function(text, "start")([]) if "@start()" in text else []
    step = Function(text, "main")
    results = step(start)
    return {
        "values": {name: samples(result) for name, result in zip(step.results, results)},
        "cpu": figures(step, text),
    }


def free_answer(text):
    """What XLA does where the shardings of results are its choice."""
    free = Function(without_result_shardings(text), "main")
    return {
        "free": {
            "sent": figures(free, text)["sent"],
            "shardings": [
                str(xla_client.HloSharding.from_proto(one)) for one in free.compiled.get_output_shardings()
            ],
        }
    }


def tpu_answer(text, devices):
    # A TPU has no 64-bit integers, and XLA loses the trip count of a loop that counts in them.
    text = text.replace("tensor<i64>", "tensor<i32>") if "stablehlo.while" in text else text
    return {"tpu": figures(Function(text, "main", devices), text)}


def write(answers):
    import libtpu

    versions = {"jax": jax.__version__, "jaxlib": jaxlib.__version__, "libtpu": libtpu.__version__}
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(one)}" for name, one in answers.items())
    ANSWERS.write_text(f'{{"versions": {json.dumps(versions)},\n"cases": {{\n{lines}\n}}}}\n')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("shardc")
    parser.add_argument("--on", choices=["cpu", "tpu"], help="ask one of them alone")
    parser.add_argument("--all", action="store_true", help="also what has answers")
    options = parser.parse_args()
    tpu = None if options.on == "cpu" else tpu_devices()
    before = json.loads(ANSWERS.read_text())["cases"] if ANSWERS.exists() else {}
    answers, failed = {}, 0
    for case in cases():
        name = name_of(case)
        try:
            plan, text = program(case)
            asked = {"texts": [source["digest"] for source in plan["sources"]], "shardings": shardings(plan)}
            known = before.get(name, {})
            same = all(known.get(key) == value for key, value in asked.items())
            answers[name] = known if same else asked
            again = {"cpu": {"cpu", "values", "free"}, "tpu": {"tpu"}, None: {"cpu", "values", "free", "tpu"}}
            if same and options.all:
                answers[name] = {key: value for key, value in known.items() if key not in again[options.on]}
            if options.on != "tpu" and "cpu" not in answers[name]:
                answers[name] |= cpu_answer(text)
            if options.on != "tpu" and "free" not in answers[name] and case["mode"] == "forward":
                answers[name] |= free_answer(text)
            if tpu and "tpu" not in answers[name]:
                answers[name] |= tpu_answer(text, tpu)
            said = {who: sum(answers[name][who]["sent"].values()) for who in ("cpu", "tpu") if who in answers[name]}
            print("ok    ", name, said, flush=True)
        except Exception as problem:  # a case says what is wrong with it, and the next one follows
            failed += 1
            print("FAILED", name, f"{type(problem).__name__}: {str(problem)[:1500]}", flush=True)
        write(answers)
    print(f"{len(answers)} answers, {failed} failed")
    return 1 if failed else 0


SHARDC = exported_plans.SHARDC

if __name__ == "__main__":
    sys.exit(main())
