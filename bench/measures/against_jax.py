"""Group `jax`: planning a train step against JAX's lower and compile of the same model with the same shardings."""

import functools

from measures import models, processes
from measures.rows import Failed, Row, above, seconds, times

DEVICES = 8
CASES = (1, False), (4, False), (32, False), (4, True), (32, True)


def ready(bench, devices=DEVICES):
    """A warm process: the first compilation, which loads what the others share, is not counted."""
    if bench.jax.worker is None or bench.jax.devices != devices:
        bench.jax.start(devices, bench.deadline)
        bench.jax.ask(bench.deadline, do="compile", layers=1, scan=True, widths=models.LLAMA["8B"])


def plan_words(bench, layers, scan):
    model = bench.file(f"8b_{layers}_{scan}.yaml", models.llama(bench, "8B", layers, scan, 64))
    return "plan", model, bench.file("fsdp_8.yaml", models.llama_layout(DEVICES)), "--mode", "train", "--quick"


def lower_and_compile(bench, layers, scan):
    ready(bench)
    return bench.jax.ask(bench.deadline, do="compile", layers=layers, scan=scan, widths=models.LLAMA["8B"])["seconds"]


def name_of(layers, scan):
    return f"8B widths, {layers} layer{'s' if layers > 1 else ''}, {'scanned' if scan else 'unrolled'}"


def compare(bench, layers, scan):
    name = name_of(layers, scan)
    words = plan_words(bench, layers, scan)
    aim = above(500, "500x") if scan else above(200, "200x")
    try:
        ready(bench)
    except Failed as why:
        return [Row(name, seconds(bench.run(*words).seconds), "-", aim=aim, note=str(why))]
    found = processes.in_turns(
        bench,
        {"shardc": lambda: bench.run(*words).seconds, "jax": lambda: lower_and_compile(bench, layers, scan)},
        budget=50,
    )
    ours, theirs = (processes.median(found[side]) for side in ("shardc", "jax"))
    bench.known["layers", scan, layers] = ours
    bench.known["jax layers", scan, layers] = theirs
    row = Row(name, seconds(ours), seconds(theirs), times(theirs / ours), aim, theirs / ours)
    if row.met == "no":
        row.note = bench.passes(*words[1:])
    return [row]


def tasks(bench):
    """Train steps of Llama 3.1 8B's widths under FSDP on 8 devices. shardc: a whole process; JAX: the call alone."""
    for layers, scan in CASES:
        yield name_of(layers, scan), 150, functools.partial(compare, bench, layers, scan)
    yield "", 10, lambda: bench.jax.stop() or []
