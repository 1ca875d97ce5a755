"""What the checks of exported programs share: every example with a model and a layout, planned, exported, run on eight
devices forced on the CPU, and held against `shardc run` of the same plan.

Behind the program, on the command line: words of which a case's name holds one; `--models` for the cases of
models/cases.txt in place of the examples; `--below FOLDER` for the models and layouts below a folder.
"""

import collections
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SHARDC = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else "shardc"

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "cpu"

WORDS = sys.argv[2:]
HERE = pathlib.Path(__file__).resolve().parent
FOLDERS = [HERE.parents[1] / "examples", HERE / "kernels"]
MODELS = "--models" in WORDS
if MODELS:
    WORDS.remove("--models")
    # How fast the code is does not matter, and there is much of it.
    os.environ["XLA_FLAGS"] += " --xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
if "--below" in WORDS:
    at = WORDS.index("--below")
    FOLDERS = [pathlib.Path(WORDS[at + 1]).resolve()]
    del WORDS[at : at + 2]
try:
    import jax  # noqa: F401
    import numpy
except ImportError as problem:
    print(f"SKIPPED: {problem}")
    sys.exit(77)

STEPS = 3
KINDS = {
    "all-reduce": "all_reduce",
    "all-gather": "all_gather",
    "reduce-scatter": "reduce_scatter",
    "all-to-all": "all_to_all",
    "collective-permute": "collective_permute",
    "collective-broadcast": "broadcast",
}
SIZES = {
    **{name: 1 for name in ("pred", "s8", "u8", "f8e4m3fn", "f8e5m2")},
    **{name: 2 for name in ("s16", "u16", "f16", "bf16")},
    **{name: 4 for name in ("s32", "u32", "f32")},
    **{name: 8 for name in ("s64", "u64", "f64", "c64")},
    "c128": 16,
}


def listed_cases():
    """Folder, model, layout and mode of the cases that XLA is asked about."""
    for line in (HERE / "models" / "cases.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            _, model, layout, mode = line.split()
            yield HERE / "models", model, layout, mode


def cases():
    """The same of every example that has one."""
    for model in sorted(path for folder in FOLDERS for path in folder.rglob("*.yaml")):
        text = model.read_text()
        if "\ngraph:" not in text:
            continue
        for layout in sorted(model.parent.glob("*.yaml")):
            if "\nmesh:" not in "\n" + layout.read_text():
                continue
            for mode in ["forward"] + (["train"] if "\ntrain:" in text else []):
                yield model.parent, model.name, layout.name, mode


def shardc(folder, *arguments):
    done = subprocess.run([SHARDC, *map(str, arguments)], cwd=folder, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


# --- the collectives of a compiled program ---


def shape_bytes(text):
    return sum(
        SIZES[dtype] * math.prod(int(n) for n in dims.split(",") if n)
        for dtype, dims in re.findall(r"(\w+)\[([\d,]*)\]", text)
        if dtype in SIZES
    )


def groups_over(axes, sizes, ids):
    """Devices that take part together over axes, or parts of axes: "model", "model:(2)2"."""
    names = list(sizes)
    shape, taken, position = [], [], {}
    cuts = {name: {1, sizes[name]} for name in names}
    for axis in axes:
        name, _, part = axis.partition(":")
        if part:
            pre, size = re.match(r"\((\d+)\)(\d+)", part).groups()
            cuts[name] |= {int(pre), int(pre) * int(size)}
    for name in names:
        ends = sorted(cuts[name])
        for low, high in zip(ends, ends[1:]) if len(ends) > 1 else [(1, 1)]:
            for axis in axes:
                whole, _, part = axis.partition(":")
                pre, size = (int(n) for n in re.match(r"\((\d+)\)(\d+)", part).groups()) if part else (1, sizes[name])
                if whole == name and pre <= low and high <= pre * size:
                    taken.append(len(shape))
            shape.append(high // low)
    grid = ids.reshape(shape)
    rest = [d for d in range(len(shape)) if d not in taken]
    count = math.prod(shape[d] for d in taken)
    return str(sorted(sorted(group) for group in grid.transpose(rest + taken).reshape(-1, count).tolist())), count


def iota(count, shape, order):
    """Numbers from 0, as XLA writes an order of devices: of a shape, transposed."""
    ids = numpy.arange(count)
    if shape:
        ids = ids.reshape([int(n) for n in shape.split(",")])
    return (ids.transpose([int(n) for n in order.split(",")]) if order else ids).ravel()


def groups_of(line):
    """Devices that take part together, as a canonical text."""
    if pairs := re.search(r"source_target_pairs=\{(.*?)\}\}?,", line):
        return None
    if listed := re.search(r"replica_groups=\{(\{.*?\})\}", line):
        groups = [[int(n) for n in group.split(",")] for group in re.findall(r"\{([\d,]+)\}", listed[1])]
    elif named := re.search(
        r"replica_groups=mesh\[([^\]]*)\](?:, device_ids=\(\[([\d,]+)\](?:T\(([\d,]+)\))?\))? \{([^}]*)\}", line
    ):
        sizes = {name: int(size) for name, size in re.findall(r"'(\w+)'=(\d+)", named[1])}
        axes = named[4].replace("'", "").replace(" ", "").split(",")
        return groups_over(axes, sizes, iota(math.prod(sizes.values()), named[2], named[3]))[0]
    else:
        shape, source, order = re.search(r"replica_groups=\[([\d,]+)\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?", line).groups()
        ids = iota(math.prod(map(int, source.split(","))), source, order)
        groups = ids.reshape([int(n) for n in shape.split(",")]).tolist()
    return str(sorted(sorted(group) for group in groups))


def compiled_collectives(text):
    """(kind, groups): bytes of the operand on a device, times how often it runs."""
    lines, name = collections.defaultdict(list), None
    for line in text.splitlines():
        if start := re.match(r"(?:ENTRY )?%?([\w.\-]+) \(.*\{$", line):
            name = start[1]
            entry = name if line.startswith("ENTRY") else None or locals().get("entry")
        elif name:
            lines[name].append(line)
    found = collections.Counter()

    def walk(computation, times):
        for line in lines[computation]:
            if called := re.search(r" while\(.*body=%?([\w.\-]+)", line):
                trips = re.search(r'known_trip_count":\{"n":"(\d+)"', line)
                walk(called[1], times * int(trips[1]))
            elif called := re.search(r" (?:call|async-start|fusion)\(.*(?:to_apply|calls)=%?([\w.\-]+)", line):
                walk(called[1], times)
            elif called := re.search(r" conditional\(.*", line):
                for branch in re.findall(r"%([\w.\-]+)", called[0].split("computation")[-1]):
                    walk(branch, times)
            kind = re.search(
                r"= (.*?) (all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute|"
                r"collective-broadcast)(-start)?\(",
                line,
            )
            if not kind:
                continue
            groups, size = groups_of(line), shape_bytes(kind[1])
            count = len(json.loads(groups)[0]) if groups else 1
            size = {"all-gather": size // count, "reduce-scatter": size * count}.get(kind[2], size)
            if count > 1 or groups is None:
                found[KINDS[kind[2]], groups] += size * times

    walk(entry, 1)
    return found


WIDTHS = {"bool": 1, "i8": 1, "u8": 1, "f8e4m3fn": 1, "f8e5m2": 1, "i16": 2, "u16": 2, "f16": 2, "bf16": 2}
WIDTHS |= {"f32": 4, "i32": 4, "u32": 4, "f64": 8, "i64": 8, "u64": 8}


def planned_collectives(plan, by_dim=False):
    """(kind, groups): bytes of the operand on a device, times how often it runs. `by_dim`: one that moves several dims as
    one for each, since XLA's move one."""
    sizes = {axis["name"]: axis["size"] for axis in plan["mesh"]["axes"]}
    found = collections.Counter()
    ids = numpy.array(plan["mesh"].get("device_ids") or range(math.prod(sizes.values())))
    buffers = plan["buffers"]

    def add(collective, axes, size):
        """What a device holds then."""
        over, count = groups_over(axes, sizes, ids)
        if count > 1:
            found[collective["kind"], None if collective["kind"] == "collective_permute" else over] += size
        return size * {"all_gather": count, "reduce_scatter": 1 / count}.get(collective["kind"], 1)

    def walk(steps, times):
        for step in steps:
            if "loop" in step:
                walk(step["loop"]["body"], times * step["loop"]["trips"])
            if "start" not in step:
                continue
            collective, before = step["start"]["collective"], buffers[step["start"]["input"]]
            size = WIDTHS[before["dtype"]] * math.prod(before["shape"]) * times
            moves = collective.get("moves", [])
            for axes in [move["axes"] for move in moves] if by_dim and moves else [collective["axes"]]:
                size = round(add(collective, axes, size))

    walk(plan["steps"], 1)
    return found


def differences(plan, compiled):
    """What XLA compiled beside the plan's list, and why where it is known; docs/export.md has the table."""
    planned, dims = planned_collectives(plan), planned_collectives(plan, by_dim=True)
    if planned == compiled:
        return f"{sum(planned.values())} B; collectives equal"
    if dims == compiled:
        return f"{sum(planned.values())} B; collectives equal, one for each dim"
    notes = []
    for key in sorted(compiled.keys() | dims.keys(), key=str):
        if compiled[key] != dims[key]:
            among = f" among {len(json.loads(key[1])[0])}" if key[1] else ""
            notes.append(f"{key[0]}{among} planned {dims[key]} B, compiled {compiled[key]} B")
    return f"{sum(planned.values())} B; {'; '.join(notes)}"


def wire_bytes(collectives):
    """What a device sends in all of them, each in rings."""

    def times(kind, groups):
        count = len(json.loads(groups)[0]) if groups else 1
        whole = {"all_reduce": 2 * (count - 1) / count, "all_gather": count - 1, "broadcast": 1}
        return 1 if kind == "collective_permute" else whole.get(kind, (count - 1) / count)

    return sum(size * times(kind, groups) for (kind, groups), size in collectives.items())


# --- a case ---


def compare(folder, model, layout, mode, where, target, run, tell):
    plan_path, out = where / "plan.json", where / "out"
    code, said = shardc(folder, "plan", model, layout, "--mode", mode, "--quick", "-o", plan_path)
    if not plan_path.exists():
        return "no plan", said.splitlines()[0]
    plan = json.loads(plan_path.read_text())
    if math.prod(axis["size"] for axis in plan["mesh"]["axes"]) > 8:
        return "more than 8 devices", ""
    if plan["peak_bytes"] > 2**28:
        return "too large for a check", ""
    code, text = shardc(where, "export", plan_path, "--to", *target.split())
    if code:
        return "no form" if "E0509" in text else "FAILED to export", text.splitlines()[0]
    steps = ["--steps", STEPS] if any("updates" in output for output in plan["outputs"]) else []
    code, said = shardc(where, "run", plan_path, "--verify", *steps, "--output", out)
    allowed = [float(n) for n in re.findall(r"\(([\d.e+-]+) allowed\)", said)]
    allowed = min(max(allowed, default=1e-5), 0.1)  # of 8 bits all would be allowed
    values, compiled = run(text, where, STEPS if steps else 1)
    expected = {path.stem: numpy.load(path).astype(numpy.float64) for path in sorted(out.glob("*.npy"))}
    # Adam divides a gradient by its own size, so where that is rounding alone (the bias of an attention's keys) its
    # sign is chance: of what it updates the first moments are compared, of the size of the largest of them.
    updated = {plan["buffers"][o["updates"]]["name"] for o in plan["outputs"] if "updates" in o}
    moments = [name for name in expected if name.endswith(".mu")]
    largest = max((numpy.abs(expected[name]).max(initial=0) for name in moments), default=0)
    worst, at = 0.0, ""
    numpy.seterr(invalid="ignore")  # inf - inf, where both have it
    for name, wanted in expected.items():
        if moments and name in updated and name not in moments:
            continue
        got = numpy.asarray(values[name]).astype(numpy.float64)
        # In a few elements all terms may cancel: then the scale is theirs, at most 1 (docs/verification.md).
        scale = max(numpy.abs(wanted[numpy.isfinite(wanted)]).max(initial=0), 1 if wanted.size < 16 else 1e-30)
        same = (got == wanted) | (numpy.isnan(got) & numpy.isnan(wanted))
        scale = max(scale, largest) if name in moments else scale
        difference = float(numpy.where(same, 0, numpy.abs(got - wanted)).max(initial=0) / scale)
        if not difference <= worst:
            worst, at = difference, name
    result = "ok" if worst <= allowed else "FAILED"
    figures = f"{worst:.1e} of {allowed:.1e} {at if worst > allowed else ''}"
    if compiled is None:
        return result, figures
    return result, f"{figures}; {tell(plan, compiled_collectives(compiled))}"


def check(target, run, failed=0, tell=differences, wrong_in_xla=()):
    """`run` takes the exported text, a folder to work in and a number of steps; it gives the values of outputs and
    states by name, and the compiled program as text, or None. `failed` others have before. `tell` says how the
    collectives that were planned and those that were compiled differ. `wrong_in_xla`: cases whose numbers are known to be
    wrong, by no fault of ours; one that is right counts as failed."""
    results = collections.Counter()
    for folder, model, layout, mode in listed_cases() if MODELS else cases():
        name = f"{os.path.relpath(folder, HERE.parents[1])} {model} {layout} {mode}"
        if WORDS and not any(word in name for word in WORDS):
            continue
        with tempfile.TemporaryDirectory() as where:
            try:
                result, detail = compare(folder, model, layout, mode, pathlib.Path(where), target, run, tell)
            except Exception as problem:  # a case says what is wrong with it, and the next one follows
                result, detail = "FAILED", f"{type(problem).__name__}: {str(problem)[:600]}"
        if name in wrong_in_xla:
            result = "wrong in XLA" if result == "FAILED" else "FAILED: right by now"
        failed += result.startswith("FAILED")
        results[result] += 1
        print(f"{result:10} {name}: {detail}", flush=True)
    print(", ".join(f"{count} {result}" for result, count in sorted(results.items())))
    print(f"{failed} failed")
    sys.exit(1 if failed else 0)
