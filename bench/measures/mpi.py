"""Group `mpi`: a step in several processes against the emulation of the same devices in one; and what a launch costs."""

import functools
import json
import shutil

from measures import processes
from measures.rows import Failed, Row, above, digits, seconds

CASES = (
    ("nnx_guide at 2048", "nnx_guide", "layout.yaml", 8, (("embed: 1024, hidden: 1024", "embed: 2048, hidden: 2048"),)),
    ("tiny_gpt, fsdp", "tiny_gpt", "fsdp.yaml", 40, ()),
)
# As root, and with more ranks than cores, Open MPI wants to be told that it is meant.
MEANT = (
    "OMPI_ALLOW_RUN_AS_ROOT=1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
    "OMPI_MCA_rmaps_base_oversubscribe=1",
    "OMPI_MCA_mpi_yield_when_idle=1",
)


def launcher(bench, library, ranks):
    mpirun = shutil.which(f"mpirun.{library}")
    if mpirun is None or not (bench.shardc.parent / f"libshardc_{library}.so").exists():
        raise Failed(f"no mpirun.{library}, or no plugin for it beside shardc")
    return ["env", *MEANT, mpirun, "-n", str(ranks)]


def step(bench, files, count, before=(), after=()):
    words = [*before, bench.shardc, "run", *files, "--mode", "train", "--steps", 1, "--repeat", count]
    done = processes.run(
        [*words, "--time", "--format", "json", *after], bench.deadline, keep=True, folder=bench.root
    )
    return processes.median(json.loads(done.out)["seconds"][1:])


def compared(bench, case, library, ranks):
    name, example, layout, count, edits = case
    folder = bench.examples / example
    text = (folder / "model.yaml").read_text()
    for old, new in edits:
        text = text.replace(old, new)
    files = bench.file("mpi_model.yaml", text), folder / layout
    before = launcher(bench, library, ranks)
    figures = processes.in_turns(
        bench,
        {
            "together": lambda: step(bench, files, count, before, ("--engine", "mpi")),
            "alone": lambda: step(bench, files, count),
        },
    )
    together, alone = processes.median(figures["together"]), processes.median(figures["alone"])
    ratio = processes.median([one / other for one, other in zip(figures["alone"], figures["together"])])
    row = f"{name}, {ranks} ranks, {library}"
    return [Row(row, seconds(together), seconds(alone), digits(ratio), above(0.9, "0.9"), ratio)]


def launch(bench, library, ranks):
    """A run of next to nothing, against the same without mpirun."""
    before = launcher(bench, library, ranks)
    files = bench.examples / "matmul_bias/model.yaml", bench.examples / "matmul_bias/layout.yaml"
    words = [bench.shardc, "run", *files]
    figures = processes.in_turns(
        bench,
        {
            "together": lambda: processes.run([*before, *words, "--engine", "mpi"], bench.deadline).seconds,
            "alone": lambda: processes.run(words, bench.deadline).seconds,
        },
    )
    together, alone = processes.median(figures["together"]), processes.median(figures["alone"])
    return [Row(f"launch of {ranks} ranks, {library}", seconds(together), seconds(alone))]


def tasks(bench):
    """A step of 8 devices under mpirun, and in the emulation as rival: the ratio is the share of its speed.
    Launches are whole processes that do next to nothing."""
    for library in ("openmpi", "mpich"):
        for ranks in (2, 8):
            for case in CASES:
                name = f"{case[0]}, {ranks} ranks, {library}"
                yield name, 90, functools.partial(compared, bench, case, library, ranks)
            yield f"launch of {ranks} ranks, {library}", 60, functools.partial(launch, bench, library, ranks)
