"""What every measure is given: the program, the folders, how often and how long."""

import os
import pathlib
import re
import time

from measures import processes
from measures.rows import Failed, seconds


class Bench:
    def __init__(self, shardc, root, folder, repeat, jax):
        self.shardc = pathlib.Path(os.path.abspath(shardc))
        self.root = root
        self.examples = root / "examples"
        self.folder = folder  # for what is generated
        self.repeat = repeat
        self.jax = jax  # a measures.jax_process.Jax, which may be absent
        self.budget = 20.0  # seconds that the rounds of a row may take; the first round is made whatever it takes
        self.deadline = 0.0  # of the running row, as time.monotonic
        self.known = {}  # medians of this run by key, for the plots
        self.plots = {}  # SVG by name

    def limit(self, seconds):
        self.deadline = time.monotonic() + seconds

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def run(self, *arguments, keep=False, codes=(0,)):
        """shardc with these arguments, in the repository's folder."""
        return processes.run([self.shardc, *arguments], self.deadline, keep=keep, codes=codes, folder=self.root)

    def program(self, name):
        """A benchmark that was built beside the program."""
        path = self.shardc.parent / name
        if not path.exists():
            raise Failed(f"not built: {name} beside shardc (Google Benchmark was not there, or SHARDC_BENCH=OFF)")
        return path

    def rounds(self, *arguments, codes=(0,), budget=None):
        """Whole processes, one a round."""
        return processes.in_turns(self, {"now": lambda: self.run(*arguments, codes=codes)}, budget)["now"]

    def version(self):
        return processes.run([self.shardc, "--version"], self.deadline, keep=True).out.split("\n")[0].strip()

    def timed_passes(self, *arguments):
        """The run, and the milliseconds of each pass of it."""
        done = self.run("plan", *arguments, "--timing", keep=True)
        return done, dict(
            (name, float(spent))
            for name, spent in re.findall(r"^\s*([a-z]\w*) +([\d.]+)$", done.err, re.M)
            if name != "all"
        )

    def passes(self, model, layout, *options):
        """Where the time of `plan` goes: the four passes that take longest. And the limits: without the search for what to
        split, where that takes less, reading the files and starting a process."""
        once = self.file("without_search.yaml", pathlib.Path(layout).read_text() + "sequence_parallel: never\n")
        try:
            done, spent = self.timed_passes(model, layout, *options)
            limit, _ = self.timed_passes(model, once, *options)
            empty = self.run("--version").seconds
        except Failed:
            return ""  # the figure is there; the time of the row is not
        longest = sorted(spent.items(), key=lambda item: -item[1])[:4]
        shares = [f"{name} {milliseconds / 10 / done.seconds:.0f}%" for name, milliseconds in longest]
        outside = 1 - sum(spent.values()) / 1e3 / done.seconds
        without = f"without the search {seconds(limit.seconds)}, " if limit.seconds < done.seconds else ""
        return (
            f"where it goes: {', '.join(shares)}, outside of the passes {outside:.0%}; limits: {without}"
            f"reading {seconds(spent['read'] / 1e3)}, an empty process {seconds(empty)}"
        )


def median_seconds(done):
    return processes.median([one.seconds for one in done])


def peak(done):
    return max(one.peak for one in done)
