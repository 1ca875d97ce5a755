"""Whole processes, their seconds and the peak of their memory; and rivals that take turns."""

import dataclasses
import os
import statistics
import subprocess
import tempfile
import threading
import time

from measures.rows import Failed

SHOWN = 200  # characters of what a process that failed says


@dataclasses.dataclass
class Done:
    seconds: float
    peak: int  # bytes resident; never below this interpreter's, which the system counts with the process it starts
    code: int
    out: str
    err: str


def run(words, deadline, keep=False, codes=(0,), folder=None):
    """Runs a program to its end or to the deadline (time.monotonic). Its output is thrown away unless `keep`."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise Failed("no time was left for it")
    with tempfile.TemporaryFile() as err, tempfile.TemporaryFile() if keep else open(os.devnull, "wb") as out:
        begin = time.perf_counter()
        try:
            process = subprocess.Popen(
                [str(word) for word in words], stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=folder
            )
        except OSError as problem:
            raise Failed(str(problem)) from None
        late = threading.Event()
        timer = threading.Timer(left, lambda: (late.set(), process.kill()))
        timer.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            process.kill()
            process.wait()
            raise
        finally:
            timer.cancel()
        spent = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        if late.is_set():
            raise Failed(f"more than {left:.0f} s")
        texts = []
        for stream in (out, err):
            if stream.readable():
                stream.seek(0)
                texts.append(stream.read().decode(errors="replace"))
            else:
                texts.append("")
    done = Done(spent, usage.ru_maxrss * 1024, process.returncode, *texts)
    if done.code not in codes:
        raise Failed(f"exit code {done.code}: {first_error(done.err or done.out)}")
    return done


def first_error(text):
    """The line that says what is wrong, warnings before it left out."""
    lines = [line for line in text.splitlines() if line.strip()]
    return next((line for line in lines if line.startswith("error")), lines[0] if lines else "")[:SHOWN]


def in_turns(bench, rivals, budget=None):
    """Calls each rival in turn, round after round, and gives the list of its results.

    As many rounds as asked for, fewer where another one would not end within the budget of seconds; one at least.
    """
    budget = bench.budget if budget is None else budget
    results = {name: [] for name in rivals}
    begin = time.monotonic()
    for round_ in range(bench.repeat):
        spent = time.monotonic() - begin
        if round_ > 0 and spent * (round_ + 1) / round_ > budget:
            break
        for name, rival in rivals.items():
            results[name].append(rival())
    return results


def median(values):
    return statistics.median(values)
