#!/usr/bin/env python3
"""Recorded programs, changed at random, as XLA runs them and as shardc does once it has imported them: what `import` takes for attention,
a layer norm or a loss has to be one, also where a number, a comparison, a dim or an operand is another.

    tests/oracle/import_mutants_check.py build/dev/shardc [COUNT [SEED [WORD...]]]    COUNT of each program whose name holds a word

Mutants that one of both refuses are counted; of the others, results are compared where XLA's are numbers. Exits 1 if any differs by
more than 2e-5 of its largest element; without JAX it says so and exits 77 (skipped). Not part of ctest.
"""

import collections
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import imported  # before jax
import jax
import numpy as np
from jax._src import compiler
from jax._src.interpreters import mlir
from jax._src.lib import xla_client
from jax._src.lib.mlir import ir

ALLOWED = 2e-5
PROGRAMS = pathlib.Path(__file__).parents[1] / "importer/program/programs"
RECOGNISED = ("attentions", "attentions_by_hand", "attention_block", "flax_attention", "nnx_attention", "ropes", "lookups", "norms", "layer_norm", "lstm_gradients",
              "loops_over_values", "scanned_layers", "stacked_layers")
OTHERS = [("GE", "GT"), ("GE", "LE"), ("GE", "EQ"), ("GT", "GE"), ("LE", "LT"), ("LT", "LE"), ("NE", "EQ"), ("EQ", "NE"),
          ("multiply", "add"), ("multiply", "divide"), ("add", "subtract"), ("and ", "or "), ("maximum", "minimum"),
          ("applies stablehlo.add", "applies stablehlo.maximum"), ("applies stablehlo.maximum", "applies stablehlo.add")]
NUMBERS = {"f32": ["0.5", "2.0", "-1.0E+9", "-1.0E+4", "-5.0", "0xFF800000", "0.0"], "i1": ["true", "false"]}


def other_number(line):
    kind = re.search(r"x?(\w+)>", line.split(": ")[-1])
    return re.sub(r"dense<([-\d.E+]+|0x\w+|true|false)>",
                  lambda _: f"dense<{random.choice(NUMBERS.get(kind and kind[1], ['0', '1', '2', '-3']))}>", line)


def other_dim(line):
    numbers = list(re.finditer(r"(?<=[\[ ,])\d+(?=[\], ])", line))
    if not numbers:
        return line
    chosen = random.choice(numbers)
    return line[: chosen.start()] + str(random.randrange(5)) + line[chosen.end():]


def other_order(line):
    shuffled = lambda dims: ", ".join(random.sample(dims[1].split(", "), len(dims[1].split(", "))))
    return re.sub(r"dims = \[([\d, ]+)\]", lambda dims: f"dims = [{shuffled(dims)}]", line)


def other_op(line):
    return line.replace(*random.choice(OTHERS))


def swapped(line):
    values = list(re.finditer(r"%\w+", line))
    if len(values) < 3:
        return line
    a, b = values[1:3]
    return line[: a.start()] + b[0] + line[a.end(): b.start()] + a[0] + line[b.end():]


def mutant(text):
    lines = text.split("\n")
    ops = [i for i, line in enumerate(lines) if "stablehlo" in line or "call @" in line]
    for _ in range(random.choice((1, 1, 1, 2))):
        i = random.choice(ops)
        code, place, rest = lines[i].partition(" loc(")
        operands = list(re.finditer(r"%\w+", code))[1:]
        if operands and random.random() < 0.2:
            chosen, values = random.choice(operands), re.findall(r"%\w+", lines[random.choice(ops)])
            code = code[: chosen.start()] + random.choice(values or [chosen[0]]) + code[chosen.end():]
        else:
            code = random.choice((other_number, other_dim, other_order, other_op, swapped))(code)
        lines[i] = code + place + rest
    return "\n".join(lines)


def arguments_of(text):
    arrays = []
    for number, kind in enumerate(re.findall(r"%arg\d+: tensor<([^>]*)>", text.split("@main(")[1].split("->")[0])):
        *sizes, dtype = kind.split("x")
        shape = [int(size) for size in sizes]
        count = np.arange(int(np.prod(shape)))
        wave = (1.5 * np.sin(0.7 * count + number)).astype(np.float32)
        arrays.append(((count * 7 + number) % 3).astype(np.int32).reshape(shape) if dtype == "i32" else wave.reshape(shape))
    return arrays


def results_of_xla(text, arrays):
    with mlir.make_ir_context():
        devices = jax.devices()[:1]
        options = compiler.get_compile_options(num_replicas=1, num_partitions=1)
        compiled = compiler.backend_compile_and_load(devices[0].client, ir.Module.parse(text), xla_client.DeviceList(tuple(devices)),
                                                     options, [])
        parts = compiled.execute_sharded([jax.device_put(array, devices[0]) for array in arrays])
        return [np.asarray(part, np.float64) for (part,) in parts.disassemble_into_single_device_arrays()]


def outcome_of(text):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "program.mlir").write_text(text)
        shardc = lambda *words: subprocess.run([imported.SHARDC, *words], cwd=folder, capture_output=True, text=True)
        made = shardc("import", "program.mlir", "--names", "names.yaml")
        if made.returncode != 0:
            return "refused" if made.returncode == 2 else f"exit {made.returncode}: {made.stderr}"
        arrays = arguments_of(text)
        try:
            expected = results_of_xla(text, arrays)
        except Exception:  # whatever it says: the text is none of its own
            return "refused by XLA"
        (folder / "model.yaml").write_text(made.stdout)
        (folder / "layout.yaml").write_text("mesh: {a: 1}\n")
        (folder / "out").mkdir()
        given = []
        names = [line.split(": ")[1] for line in (folder / "names.yaml").read_text().splitlines()]
        for name, array in zip(names, arrays, strict=True):
            np.save(folder / f"{name}.npy", array)
            given += ["--input", f"{name}={name}.npy"]
        ran = shardc("run", "model.yaml", "layout.yaml", "--output", "out", *given)
        if ran.returncode != 0:
            return f"run: {ran.stderr}"
        for output, result in zip(re.search(r"^outputs: \[(.*)\]", made.stdout, re.M)[1].split(", "), expected, strict=True):
            here = np.isfinite(result)
            got = np.load(folder / "out" / f"{output}.npy").astype(np.float64)
            got, result = got[here], result[here]
            difference = np.max(np.abs(got - result), initial=0) / max(1e-30, np.max(np.abs(result), initial=0))
            if not difference <= ALLOWED:
                return f"differs: {output} by {difference:.1e}"
        return "equal"


def main():
    count, seed = (int(sys.argv[i]) if len(sys.argv) > i else otherwise for i, otherwise in ((2, 20), (3, 0)))
    random.seed(seed)
    outcomes, failed = collections.Counter(), 0
    for name in RECOGNISED:
        if sys.argv[4:] and not any(word in name for word in sys.argv[4:]):
            continue
        program = (PROGRAMS / f"{name}.mlir").read_text()
        for number in range(count):
            text = program if number == 0 else mutant(program)
            outcome = outcome_of(text)
            kept = outcome in ("equal", "refused", "refused by XLA")
            outcomes[outcome if kept else "FAILED"] += 1
            if kept:
                continue
            failed += 1
            path = pathlib.Path(tempfile.gettempdir()) / f"{name}_{seed}_{number}.mlir"
            path.write_text(text)
            print(f"{path}: {outcome}", flush=True)
    print(", ".join(f"{number} {outcome}" for outcome, number in sorted(outcomes.items())))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
