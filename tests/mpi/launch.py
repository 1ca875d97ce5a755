"""Starts shardc under mpirun, of whatever MPI libraries are there, and finds the processes of its ranks."""

import os
import pathlib
import shutil
import signal
import subprocess
import time

SHARDC = pathlib.Path(os.environ.get("SHARDC", "shardc")).resolve()

# As root, and with more ranks than cores, Open MPI wants to be told that it is meant. What MPI libraries leave behind at
# their end is no leak of the program's.
ENVIRONMENT = {
    **os.environ,
    "ASAN_OPTIONS": ":".join(filter(None, [os.environ.get("ASAN_OPTIONS"), "detect_leaks=0"])),
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}


def launchers():
    """The mpirun of each library for which a plugin lies beside the program, by name."""
    found = {}
    for library in ("openmpi", "mpich"):
        mpirun = shutil.which(f"mpirun.{library}")
        if mpirun and (SHARDC.parent / f"libshardc_{library}.so").exists():
            found[library] = mpirun
    return found


def command(mpirun, ranks, arguments):
    return [mpirun, "-n", str(ranks), str(SHARDC), *arguments, "--engine", "mpi"]


def run(arguments, cwd, mpirun=None, ranks=1, timeout=300):
    words = command(mpirun, ranks, arguments) if mpirun else [str(SHARDC), *arguments]
    return subprocess.run(
        words, cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL
    )


def start(words, cwd, **more):
    return subprocess.Popen(
        words, cwd=cwd, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, **more
    )


def _parents():
    parents = {}
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                stat = (folder / "stat").read_text()
            except OSError:
                continue
            parents[int(folder.name)] = int(stat.rsplit(")", 1)[1].split()[1])
    return parents


def end(process):
    """Ends the launcher, if it runs still, and what is below it, stopped or not."""
    parents = _parents()
    below = {process.pid}
    while more := {child for child, above in parents.items() if above in below} - below:
        below |= more
    if process.poll() is not None:
        return
    for each in below:
        try:
            os.kill(each, signal.SIGKILL)
        except ProcessLookupError:
            pass
    process.communicate()


def ranks_of(launcher, count, patience=30):
    """The processes of shardc below a launcher, by rank, once all are there."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        parents, found = _parents(), {}
        for process in parents:
            above = process
            while above in parents and above != launcher:
                above = parents[above]
            if above != launcher:
                continue
            try:
                is_shardc = pathlib.Path(f"/proc/{process}/exe").resolve() == SHARDC
                variables = dict(
                    word.split("=", 1)
                    for word in pathlib.Path(f"/proc/{process}/environ").read_text().split("\0")
                    if "=" in word
                )
            except OSError:
                continue
            rank = variables.get("OMPI_COMM_WORLD_RANK", variables.get("PMI_RANK"))
            if is_shardc and rank is not None:
                found[int(rank)] = process
        if len(found) == count:
            return found
        time.sleep(0.05)
    raise TimeoutError(f"{count} ranks did not start")
