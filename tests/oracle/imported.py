"""What import_check.py, keras_check.py and torch_check.py share: a function traced by JAX, imported, planned on a layout that suits it badly, run on
2 x 4 emulated devices, and held against JAX's results and the bytes that XLA sends.
"""

import dataclasses
import functools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "cpu"
try:
    import jax
    import numpy as np
except ImportError as problem:
    print(f"SKIPPED: {problem}")
    sys.exit(77)

import hlo_text

SHARDC = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else "shardc"


@dataclasses.dataclass
class Traced:
    text: str
    arrays: dict  # by path, as `import --names` writes it
    results: list
    function: object  # of a flat list of arrays, as XLA is given it


@dataclasses.dataclass
class Outcome:
    problem: str = ""
    difference: float = 0.0
    lines: int = 0  # of the model
    sent: float = 0.0
    sent_by_xla: float = 0.0
    seconds: float = 0.0  # to import and plan


def path_of(text):
    """params['w'][0] as params.w.0."""
    return re.sub("[^A-Za-z0-9_]+", ".", text).strip(".")


def trace(function, arguments, donated=(), platform="cpu"):
    traced = jax.jit(function, keep_unused=True, donate_argnums=donated).trace(*arguments)
    lowered = traced.lower(lowering_platforms=(platform,))
    text = lowered.as_text(debug_info=True)
    paths = re.findall(r'%arg\d+: tensor<[^>]*>[^%]*?loc\("([^"]*)"\)', text.split("@main")[1].split("->")[0])
    arrays, tree = jax.tree.flatten(arguments)
    assert len(paths) == len(arrays), paths
    results = [np.asarray(leaf) for leaf in jax.tree.leaves(jax.jit(function)(*arguments))]
    # What is donated is replaced by the first results, and shardc's last outputs.
    replaced = len(jax.tree.leaves([arguments[number] for number in donated]))
    results = results[replaced:] + results[:replaced]

    def flat(*leaves):
        made = jax.tree.leaves(function(*jax.tree.unflatten(tree, leaves)))
        return made[replaced:] + made[:replaced]

    names = [path_of(path) for path in paths]
    assert len(set(names)) == len(names), "two arguments of one name"
    return Traced(text, dict(zip(names, map(np.asarray, arrays))), results, flat)


def split(shape, first_dim=False):
    """The last dim that 4 divides over one axis, and the first other one that 2 divides over the other; or the first, and the last."""
    entries = [None] * len(shape)
    fours = [d for d, size in enumerate(shape) if size and size % 4 == 0]
    if fours:
        entries[fours[0 if first_dim else -1]] = "model"
    twos = [d for d, size in enumerate(shape) if size and size % 2 == 0 and not entries[d]]
    if twos:
        entries[twos[-1 if first_dim else 0]] = "data"
    return entries


def layout_of(arrays, first_dim=False):
    """Of arrays by their names in the model: it looks for them among parameters, or inputs."""
    text = "mesh: {data: 2, model: 4}\n"
    for section in ("inputs", "params"):
        rows = [f"  {name}: {json.dumps(split(array.shape, first_dim))}\n" for name, array in arrays.items()]
        text += f"{section}:\n" + "".join(rows)
    return text


@functools.cache
def mesh():
    return jax.sharding.Mesh(np.array(jax.devices()).reshape(2, 2, 2), ("data", "model:(1)2", "model:(2)2"))


def named(text):
    """Of a sharding as plans write it: [data | model:(1)2]."""
    dims = [[] if dim in ("-", "") else dim.split(",") for dim in text.strip("[]").split(" | ")] if text.strip("[]") else []
    whole = {"model": ["model:(1)2", "model:(2)2"]}
    spec = [tuple(part for axis in dim for part in whole.get(axis, [axis])) or None for dim in dims]
    return jax.sharding.NamedSharding(mesh(), jax.sharding.PartitionSpec(*spec))


def bytes_of_xla(traced, results, first_dim):
    """Sent by all devices, with the same shardings of arguments and results; an all-reduce of which a device keeps its share counts
    as a reduce-scatter."""
    given = [named(" | ".join(dim or "-" for dim in split(array.shape, first_dim))) for array in traced.arrays.values()]
    jitted = jax.jit(traced.function, keep_unused=True, in_shardings=given, out_shardings=results)
    compiled = jitted.lower(*traced.arrays.values()).compile()
    _, scattered = hlo_text.Module(compiled.as_text()).sent(8)
    return sum(scattered.values())


def largest(array):
    return float(np.max(np.abs(array.astype(np.float64)), initial=0))


def compare(traced, is_gradient=False, first_dim=False, with_xla=False):
    """Of the largest value of its output, or of all gradients."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "program.mlir").write_text(traced.text)
        began = time.monotonic()
        # As it is: a loss would be without the program's own gradients.
        imported = subprocess.run([SHARDC, "import", folder / "program.mlir", "--as", "step", "--names",
                                   folder / "names.yaml"],
                                  capture_output=True, text=True)
        if imported.returncode != 0:
            return Outcome(imported.stderr)
        outcome = Outcome(lines=len(imported.stdout.splitlines()))
        (folder / "model.yaml").write_text(imported.stdout)
        names = dict(line.split(": ") for line in (folder / "names.yaml").read_text().splitlines())
        arrays = {names[path]: array for path, array in traced.arrays.items()}
        (folder / "layout.yaml").write_text(layout_of(arrays, first_dim))
        planned = subprocess.run([SHARDC, "plan", folder / "model.yaml", folder / "layout.yaml", "-o",
                                  folder / "plan.json"], capture_output=True, text=True)
        outcome.seconds = time.monotonic() - began
        if planned.returncode != 0:
            outcome.problem = planned.stderr
            return outcome
        plan = json.loads((folder / "plan.json").read_text())
        arguments = []
        for array, value in arrays.items():
            np.save(folder / f"{array}.npy", value)
            arguments += ["--input", f"{array}={folder}/{array}.npy"]
        (folder / "out").mkdir()
        ran = subprocess.run([SHARDC, "run", folder / "plan.json", "--output", folder / "out", *arguments],
                             capture_output=True, text=True)
        if ran.returncode != 0:
            outcome.problem = ran.stderr
            return outcome
        if "equal" not in ran.stdout or "NOT" in ran.stdout:
            outcome.problem = ran.stdout[-600:]
        outcome.sent = float(re.search(r"all together +([\d,]+) B", ran.stdout)[1].replace(",", ""))
        names = [output["name"] for output in plan["outputs"]]
        if len(names) != len(traced.results):
            outcome.problem = f"{len(names)} outputs, {len(traced.results)} results"
            return outcome
        for name, expected in zip(names, traced.results):
            got = np.load(folder / "out" / f"{name}.npy").astype(np.float64)
            if got.shape != expected.shape:
                outcome.problem = f"{name}: {got.shape}, JAX {expected.shape}"
                return outcome
            beside = traced.results[1:] if is_gradient and expected is not traced.results[0] else [expected]
            difference = largest(got - expected.astype(np.float64)) / max(1e-30, *map(largest, beside))
            if not np.isfinite(difference):
                difference = float("inf")
            outcome.difference = max(outcome.difference, difference)
        if with_xla:
            shardings = [plan["buffers"][output["buffer"]]["sharding"] for output in plan["outputs"]]
            outcome.sent_by_xla = bytes_of_xla(traced, [named(one) for one in shardings], first_dim)
        return outcome


# As many times as far as by arguments that are off by two units in the last place is still the program's own doing.
AMPLIFIED = 30


def decided_by_rounding(function, arguments, is_gradient=False):
    """Up to which difference, measured as `compare` does, rounding decides: AMPLIFIED times what JAX's own results move by, at the most of
    some tries, by noise and in f64."""

    def results(arguments):
        return [np.asarray(leaf, np.float64) for leaf in jax.tree.leaves(jax.jit(function)(*arguments))]

    def floats(change):
        return jax.tree.map(lambda v: change(v) if np.issubdtype(v.dtype, np.floating) else v, arguments)

    expected = results(arguments)
    others = []
    for seed in range(12):
        noise = np.random.RandomState(seed)
        others.append(results(floats(lambda v: (v * (1 + 2e-7 * noise.randn(*v.shape))).astype(v.dtype))))
    with jax.enable_x64(True):
        others.append(results(floats(np.float64)))
    sizes = [max(1e-30, largest(value)) for value in expected]
    if is_gradient and sizes[1:]:
        sizes[1:] = [max(sizes[1:])] * len(sizes[1:])
    return AMPLIFIED * max(largest(got - wanted) / size for other in others
                           for got, wanted, size in zip(other, expected, sizes))


def check(programs, allowed, with_xla=False):
    """Of each name, is_gradient, function and arguments, on both layouts, a line; 1 if any is above what is allowed, and above what
    rounding decides."""
    failed = []
    for name, is_gradient, function, arguments in programs:
        traced = trace(function, arguments)
        for first_dim in (False, True):
            outcome = compare(traced, is_gradient, first_dim, with_xla)
            label = f"{name} {'gradient' if is_gradient else 'forward'} {'first' if first_dim else 'last'}"
            bad = outcome.problem or not outcome.difference <= allowed
            rounded = bad and not outcome.problem and outcome.difference <= decided_by_rounding(function, arguments, is_gradient)
            bad = bad and not rounded
            failed += [label] if bad else []
            ratio = f"{outcome.sent / outcome.sent_by_xla:6.2f}" if outcome.sent_by_xla else ""
            print(f"{label:32} {outcome.difference:8.1e} {outcome.lines:6} lines {outcome.seconds:6.2f} s {ratio}"
                  f"{'  FAILED ' + outcome.problem if bad else '  decided by rounding' if rounded else ''}", flush=True)
    print(f"{len(failed)} failed" + "".join(f"\n  {label}" for label in failed))
    return 1 if failed else 0
