"""What becomes of a run under mpirun when a rank is killed, hangs, or cannot write.

    SHARDC=build/dev/shardc python3 tests/mpi/faults_test.py

SHARDC_MPI_KILLS=100 kills as many ranks; a few unless it is given.
"""

import json
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import launch

ROOT = pathlib.Path(__file__).resolve().parents[2]
KILLS = int(os.environ.get("SHARDC_MPI_KILLS", "4"))
MODEL = [str(ROOT / "examples/zero/model.yaml"), "layout.yaml", "--mode", "train", "--set", "width=64", "--set", "to=64"]
LAYOUT = """
mesh: {data: 8}
rules: [{batch: data}, {width: ~}, {to: ~}]
fsdp: {axis: data, min_size: 1}
"""


def train(steps, *more):
    return ["run", *MODEL, "--steps", str(steps), *more]


SAVING = train(100000, "--save", "ck", "--save-every", "1", "--log", "log.jsonl", "--quiet")


def wait_for_checkpoint(folder):
    while not (folder / "ck" / "latest").exists():
        time.sleep(0.02)


def steps_made(folder):
    """Of "step-5", or "step-5.2", the 5."""
    return int((folder / "ck" / "latest").read_text().split("-")[1].split(".")[0])


def losses(log):
    """By step."""
    rows = [json.loads(line) for line in pathlib.Path(log).read_text().splitlines()]
    return {row["step"]: row["loss"] for row in rows if "step" in row}


def losses_so_far(folder):
    log = folder / "log.jsonl"
    return log.exists() and '"loss"' in log.read_text()


class Faults(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def subfolder(self, name):
        folder = self.folder / name
        folder.mkdir()
        (folder / "layout.yaml").write_text(LAYOUT)
        return folder

    def start(self, words, folder):
        process = launch.start(words, folder)
        self.addCleanup(launch.end, process)
        return process

    def check_opens(self, folder, steps):
        """The last checkpoint is whole: a run goes on from it."""
        opened = launch.run(train(steps, "--restore", "ck", "--quiet"), folder)
        self.assertEqual(opened.returncode, 0, opened.stderr)

    def test_a_killed_rank_ends_all_and_others_go_on(self):
        draw = random.Random(1)
        longest, restored = 0, 0
        libraries = list(launch.launchers().items())
        for kill in range(KILLS):
            library, mpirun = libraries[kill % len(libraries)]
            folder = self.subfolder(f"kill{kill}")
            ranks, others = draw.sample([1, 2, 4, 8], 2)
            process = self.start(launch.command(mpirun, ranks, SAVING), folder)
            pids = launch.ranks_of(process.pid, ranks)
            if draw.random() < 0.8:  # otherwise it may be before the first step
                wait_for_checkpoint(folder)
            time.sleep(draw.uniform(0, 1))
            os.kill(pids[draw.randrange(ranks)], signal.SIGKILL)
            begin = time.monotonic()
            try:
                process.communicate(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                self.fail(f"{library}: mpirun goes on for 10 s after a rank was killed")
            longest = max(longest, time.monotonic() - begin)
            self.assertNotEqual(process.returncode, 0)
            if not (folder / "ck" / "latest").exists():
                continue  # before the first step ended
            restored += 1
            made = steps_made(folder)
            on = launch.run(train(made + 3, "--restore", "ck", "--log", "on.jsonl", "--quiet"), folder, mpirun, others)
            self.assertEqual(on.returncode, 0, on.stderr)
            whole = launch.run(train(made + 3, "--log", "whole.jsonl", "--quiet"), folder)
            self.assertEqual(whole.returncode, 0, whole.stderr)
            expected = losses(folder / "whole.jsonl")
            self.assertEqual(losses(folder / "on.jsonl"), {step: expected[step] for step in range(made, made + 3)})
        print(f"{KILLS} kills, {restored} restarts, at most {longest:.1f} s until mpirun ended", file=sys.stderr)
        self.assertGreater(restored, 0)

    def test_a_rank_that_hangs_is_named(self):
        for library, mpirun in launch.launchers().items():
            folder = self.subfolder(library)
            words = train(100000, "--timeout", "2", "--quiet", "--log", "log.jsonl")
            process = self.start(launch.command(mpirun, 4, words), folder)
            pids = launch.ranks_of(process.pid, 4)
            while not losses_so_far(folder):  # the library's own beginning has no end if a rank does not come
                time.sleep(0.05)
            os.kill(pids[2], signal.SIGSTOP)
            _, err = process.communicate(timeout=60)
            # A rank that waits for it has not come either, if the stop fell between two meetings.
            self.assertRegex(err, r"error\[E0618\]: (rank 2 has|ranks (\d, )*2(, \d)* have) not come to ")
            self.assertEqual(process.returncode, 2, err)

    def test_a_full_disk_on_one_rank_ends_all_and_leaves_the_checkpoint(self):
        for library, mpirun in launch.launchers().items():
            folder = self.subfolder(library)
            process = self.start(launch.command(mpirun, 2, SAVING), folder)
            pids = launch.ranks_of(process.pid, 2)
            wait_for_checkpoint(folder)
            resource.prlimit(pids[1], resource.RLIMIT_FSIZE, (1024, 1024))
            _, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 2, err)
            self.assertIn("error[E0614]: rank 1: cannot write", err)
            latest = (folder / "ck" / "latest").read_text().strip()
            self.assertEqual(sorted(path.name for path in (folder / "ck").iterdir()), ["latest", latest])
            self.check_opens(folder, steps_made(folder) + 1)

    def test_a_signal_ends_all_after_the_step_with_a_checkpoint(self):
        for library, mpirun in launch.launchers().items():
            folder = self.subfolder(library)
            words = train(100000, "--save", "ck", "--log", "log.jsonl", "--quiet")
            process = self.start(launch.command(mpirun, 2, words), folder)
            pids = launch.ranks_of(process.pid, 2)
            while not (folder / "log.jsonl").exists() or len(losses(folder / "log.jsonl")) < 3:
                time.sleep(0.05)
            os.kill(pids[1], signal.SIGTERM)  # whichever of them gets it
            out, err = process.communicate(timeout=60)
            made = max(losses(folder / "log.jsonl")) + 1
            self.assertIn(f"stopped after {made} of 100000 steps", out, err)
            self.assertEqual((folder / "ck" / "latest").read_text(), f"step-{made}\n")
            self.assertEqual(process.returncode, 143, err)
            self.check_opens(folder, made + 1)

    def test_what_cannot_be_is_refused_by_all(self):
        for library, mpirun in launch.launchers().items():
            folder = self.subfolder(library)
            three = launch.run(train(2), folder, mpirun, 3)
            self.assertEqual(three.returncode, 2)
            self.assertEqual(three.stderr.count("error[E0617]: 3 ranks cannot hold 8 devices"), 1, three.stderr)
            missing = launch.run(["run", "no.yaml", "no.yaml"], folder, mpirun, 2)
            self.assertEqual(missing.returncode, 2)
            self.assertEqual(missing.stderr.count("error[E0702]: cannot read 'no.yaml'"), 2, missing.stderr)
        none = subprocess.run(
            [str(launch.SHARDC), *train(2), "--engine", "mpi"],
            cwd=self.folder,
            env={**launch.ENVIRONMENT, "SHARDC_MPI_PLUGIN": "/nowhere.so"}, capture_output=True, text=True,
        )
        self.assertEqual(none.returncode, 2)
        self.assertIn("error[E0616]: the plugin for MPI cannot be loaded", none.stderr)
        self.assertIn("= help: install ", none.stderr)


if __name__ == "__main__":
    if not launch.launchers():
        print("skipped: no mpirun.openmpi or mpirun.mpich with a plugin beside the program (scripts/setup installs both)")
        sys.exit(77)
    unittest.main()
