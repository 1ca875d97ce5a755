"""Groups `steps` and `calibrated`: how long a step takes, against JAX's and against what is predicted."""

import dataclasses
import functools
import json
import math
import re

from measures import models, processes
from measures.rows import Aim, Failed, Row, above, digits, seconds, times

GPT2_FORWARD = ("batch: 2, length: 64,", "batch: {0}, length: {1},"), ("limit: 64", "limit: {1}")


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    example: str
    layout: str
    train: bool
    twin: str
    steps: int = 10  # timed in one turn
    edits: tuple = ()  # of the example's model
    aim: Aim = above(2, "2x")

    def files(self, bench):
        folder = bench.examples / self.example
        label = re.sub(r"\W+", "_", self.name)
        text = models.replaced((folder / "model.yaml").read_text(), *self.edits)
        return bench.file(f"{label}.yaml", text), bench.file(f"{label}_layout.yaml", (folder / self.layout).read_text())


def wide(width):
    return (("embed: 1024, hidden: 1024", f"embed: {width}, hidden: {width}"),)


def forward(batch, length):
    return tuple((old, new.format(batch, length)) for old, new in GPT2_FORWARD)


CASES = (
    Case("linen_guide", "linen_guide", "layout.yaml", True, "linen_guide"),
    Case("nnx_guide", "nnx_guide", "layout.yaml", True, "nnx_guide"),
    Case("nnx_guide at 2048", "nnx_guide", "layout.yaml", True, "nnx_guide", 8, wide(2048)),
    Case("nnx_guide at 4096", "nnx_guide", "layout.yaml", True, "nnx_guide", 4, wide(4096)),
    Case("tiny_gpt, data + model", "tiny_gpt", "data_model.yaml", True, "tiny_gpt", 40),
    Case("tiny_gpt, fsdp", "tiny_gpt", "fsdp.yaml", True, "tiny_gpt", 40),
    Case("GPT-2 train", "gpt2", "layout.yaml", True, "gpt2", 2),
    Case("GPT-2 forward 8 x 128", "gpt2", "layout.yaml", False, "gpt2", 4, forward(8, 128)),
    Case("GPT-2 forward 2 x 64", "gpt2", "layout.yaml", False, "gpt2", 8, forward(2, 64)),
    Case(
        "nnx_guide at 4096, one device",
        "nnx_guide",
        "one_device.yaml",
        True,
        "nnx_guide",
        4,
        wide(4096),
        above(1.2, "1.2x"),
    ),
)


def mode(train):
    return "--mode", "train" if train else "forward"


def run_steps(bench, model, layout, train, count):
    """What `run` says of `count` steps after a first one, which touches the memory."""
    done = bench.run(
        "run", model, layout, *mode(train), "--steps", 1, "--repeat", count, "--time", "--format", "json", keep=True
    )
    return json.loads(done.out)


def step_seconds(bench, model, layout, train, count):
    return processes.median(run_steps(bench, model, layout, train, count)["seconds"][1:])


def first_values(bench, model, layout, train):
    """As a twin's `first`: losses of three steps, or the first elements of the result."""
    if train:
        found = json.loads(
            bench.run("run", model, layout, "--mode", "train", "--steps", 3, "--format", "json", keep=True).out
        )
        return [step["loss"] for step in found["steps"]]
    return run_steps(bench, model, layout, train, 1)["outputs"][0]["first"][:4]


def check_alike(ours, theirs):
    """Losses fall or grow alike to four digits, logits to within a thousandth of the largest."""
    largest = max(abs(value) for value in ours)
    for a, b in zip(ours, theirs, strict=True):
        if not math.isclose(a, b, rel_tol=2e-4, abs_tol=1e-3 * largest if len(ours) == 4 else 0):
            raise Failed(f"the twin in JAX computes another thing: {theirs} where shardc computes {ours}")


def compare(bench, case):
    model, layout = case.files(bench)

    def ours_alone():
        return step_seconds(bench, model, layout, case.train, case.steps)

    devices = 1 if case.layout == "one_device.yaml" else 8
    try:
        bench.jax.start(devices, bench.deadline)
        alone = bench.file("alone.yaml", "mesh: {}\n")
        exported, values = bench.folder / "exported.py", bench.folder / "values.py"
        for path, how in ((exported, layout), (values, alone)):
            bench.run("export", model, how, *mode(case.train), "--to", "jax", "--output", path)
        answer = bench.jax.ask(
            bench.deadline, do="load", twin=case.twin, exported=str(exported), values=str(values), train=case.train
        )
    except Failed as why:
        return [Row(case.name, seconds(ours_alone()), "-", aim=case.aim, note=str(why))]
    check_alike(first_values(bench, model, layout, case.train), answer["first"])

    def theirs_alone():
        return processes.median(bench.jax.ask(bench.deadline, do="step", count=case.steps)["seconds"])

    found = processes.in_turns(bench, {"shardc": ours_alone, "jax": theirs_alone})
    ours, theirs = (processes.median(found[side]) for side in ("shardc", "jax"))
    row = Row(case.name, seconds(ours), seconds(theirs), times(theirs / ours), case.aim, theirs / ours)
    if row.met == "no":
        row.note = where_a_step_goes(bench, model, layout, case, devices)
    return [row]


def steps_tasks(bench):
    """A step of emulated devices against JAX's on as many forced on the CPU, compiled, from the same values."""
    for case in CASES:
        yield case.name, 150, functools.partial(compare, bench, case)
    yield "", 10, lambda: bench.jax.stop() or []


def calibrated_case(example, layout, train, steps, edits=()):
    name = f"{example}, {layout}{', train' if train else ''}"
    return Case(name, example, f"{layout}.yaml", train, "", steps, edits, Aim("0.85-1.15", 0.85, 1.15))


CALIBRATED = (
    calibrated_case("dot_relu_dot", "layout", False, 40),
    calibrated_case("layouts", "tensor", False, 40),
    calibrated_case("nnx_guide", "layout", True, 10),
    calibrated_case("nnx_guide", "one_device", True, 10),
    calibrated_case("linen_guide", "layout", True, 10),
    calibrated_case("dp_classifier", "layout", True, 10),
    calibrated_case("zero", "zero2", True, 10),
    calibrated_case("tiny_gpt", "data_model", True, 40),
    calibrated_case("tiny_gpt", "fsdp", True, 40),
    calibrated_case("gpt2", "layout", False, 8),
    calibrated_case("gpt2", "layout", True, 2),
    calibrated_case("resnet50", "data", False, 4, (("batch: 256, image: 224", "batch: 16, image: 64"),)),
)


def profile(bench):
    """`shardc calibrate`, once in a run."""
    path = bench.folder / "measured.yaml"
    if not path.exists():
        bench.run("calibrate", "--output", path)
    return path


def with_hardware(text):
    lines = [line for line in text.splitlines() if not line.startswith("hardware:")]
    return "\n".join([*lines, "hardware: measured.yaml"]) + "\n"


def calibrated(bench, case):
    profile(bench)
    model, layout = case.files(bench)
    layout.write_text(with_hardware(layout.read_text()))
    planned = bench.run("plan", model, layout, *mode(case.train), "--quick", "--format", "json", keep=True)
    predicted = json.loads(planned.out)["time"]["step_seconds"]
    rivals = {"run": lambda: step_seconds(bench, model, layout, case.train, case.steps)}
    measured = processes.median(processes.in_turns(bench, rivals, budget=8)["run"])
    ratio = predicted / measured
    return [
        Row(
            case.name,
            seconds(predicted),
            seconds(measured),
            f"{ratio:.2f}",
            case.aim,
            ratio,
            "predicted and measured: " + kinds(bench, model, layout, case),
        )
    ]


def profile_of(bench, model, layout, case):
    repeat = ("--mode", "train", "--steps", case.steps) if case.train else ("--repeat", case.steps)
    run = bench.run("run", model, layout, *repeat, "--profile", "--format", "json", keep=True)
    return json.loads(run.out)["profile"]["kinds"]


def where_a_step_goes(bench, model, layout, case, devices):
    """The three kinds of kernels that take longest, and at what rate all cores multiply meanwhile."""
    rows = profile_of(bench, model, layout, case)
    whole = sum(row["executed_seconds"] for row in rows)
    parts = []
    for row in sorted(rows, key=lambda row: -row["executed_seconds"])[:3]:
        part = f"{row['name']} {row['executed_seconds'] / whole:.0%}"
        if row["name"] == "contract" and "flops" in row:
            part += f" at {digits(row['flops'] * devices / row['executed_seconds'] / 1e9)} GFLOP/s"
        parts.append(part)
    return "where it goes: " + ", ".join(parts)


def kinds(bench, model, layout, case):
    """Where a step's time goes, collectives as one: what is predicted of it and what `run --profile` measures."""
    sums = {}
    for row in profile_of(bench, model, layout, case):
        name = "collectives" if " over " in row["name"] else row["name"]
        pair = sums.setdefault(name, [0, 0])
        pair[0] += row["predicted_seconds"]
        pair[1] += row["executed_seconds"]
    largest = sorted(sums.items(), key=lambda item: -max(item[1]))[:3]
    return "; ".join(f"{name} {seconds(pair[0])}, {seconds(pair[1])}" for name, pair in largest)


def calibrated_tasks(bench):
    """Now: a step as planned with what `shardc calibrate` measured in this run. Rival: the step as measured."""
    for case in CALIBRATED:
        yield case.name, 100, functools.partial(calibrated, bench, case)
