"""What `run --engine mpi` has options for: the library's own collectives, files that the first rank alone sees, and when
each rank's devices did what.

    SHARDC=build/dev/shardc python3 tests/mpi/options_test.py
"""

import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

import launch

TINY = pathlib.Path(__file__).resolve().parents[2] / "examples" / "tiny_gpt"
TRAIN = ["run", "model.yaml", "fsdp.yaml", "--mode", "train", "--steps", "3", "--quiet"]


def losses(text):
    return [float(loss) for loss in re.findall(r"^step \d+  loss (\S+)", text, re.MULTILINE)]


class Options(unittest.TestCase):
    def run_on(self, mpirun, ranks, *more):
        done = launch.run([*TRAIN, *more], TINY, mpirun, ranks)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_native_collectives_give_the_losses_but_for_rounding(self):
        expected = losses(launch.run(TRAIN, TINY).stdout)
        self.assertEqual(len(expected), 3)
        for library, mpirun in launch.launchers().items():
            for ranks in (2, 8):  # of 4 devices each, which MPI has no collective for, and of one
                with self.subTest(library=library, ranks=ranks):
                    out = self.run_on(mpirun, ranks, "--collectives", "native", "--verify")
                    for loss, wanted in zip(losses(out), expected, strict=True):
                        self.assertAlmostEqual(loss / wanted, 1, delta=1e-5)
                    self.assertIn("verified against the same model on one device", out)

    def test_a_trace_has_the_devices_of_all_ranks_by_one_clock(self):
        for library, mpirun in launch.launchers().items():
            with tempfile.TemporaryDirectory() as folder, self.subTest(library=library):
                path = pathlib.Path(folder) / "trace.json"
                self.run_on(mpirun, 4, "--trace", str(path))
                events = json.loads(path.read_text())["traceEvents"]
                names = [one["args"]["name"] for one in events if one.get("name") == "process_name"]
                executed = [name for name in names if name.startswith("executed, device ")]
                self.assertEqual([name.split()[2] for name in executed], [str(device) for device in range(8)])

    def test_a_profile_has_times(self):
        for library, mpirun in launch.launchers().items():
            with self.subTest(library=library):
                out = self.run_on(mpirun, 2, "--profile")
                self.assertIn("all_gather over data", out)

    def test_the_first_rank_reads_for_all(self):
        """Each rank is in a folder of its own, of which the first one's has the files."""
        for library, mpirun in launch.launchers().items():
            with tempfile.TemporaryDirectory() as scratch, self.subTest(library=library):
                folder = pathlib.Path(scratch)
                for rank in range(4):
                    (folder / f"rank{rank}").mkdir()
                for name in ("model.yaml", "fsdp.yaml"):
                    shutil.copy(TINY / name, folder / "rank0")
                # Written by hand, since numpy is not everywhere: two steps.
                tokens = struct.pack("<512i", *(n % 128 for n in range(512)))
                (folder / "rank0" / "tokens.npy").write_bytes(npy_header("<i4", (2, 8, 32)) + tokens)
                given = ["--data", "tokens=tokens.npy"]
                saved = launch.run([*TRAIN, *given, "--save", "ck"], folder / "rank0")
                self.assertEqual(saved.returncode, 0, saved.stderr)
                more = [*("5" if word == "3" else word for word in TRAIN), *given, "--restore", "ck"]
                alone = launch.run(more, folder / "rank0")
                self.assertEqual(len(losses(alone.stdout)), 2, alone.stderr)
                together = self.from_own_folders(mpirun, folder, [*more, "--root-reads"])
                self.assertEqual(together.stdout, alone.stdout, together.stderr)
                self.assertEqual(together.returncode, 0)
                without = self.from_own_folders(mpirun, folder, more)
                self.assertEqual(without.returncode, 2)
                self.assertIn("cannot read 'model.yaml'", without.stderr)
                missing = self.from_own_folders(mpirun, folder, [*more, "--root-reads", "--input", "block.wq=no.npy"])
                self.assertEqual(missing.returncode, 2)
                self.assertEqual(missing.stderr.count("no.npy"), 1, missing.stderr)

    def from_own_folders(self, mpirun, folder, words):
        go = 'cd rank${OMPI_COMM_WORLD_RANK:-$PMI_RANK} && exec "$@"'
        command = [mpirun, "-n", "4", "sh", "-c", go, "sh", str(launch.SHARDC), *words, "--engine", "mpi"]
        return subprocess.run(
            command, cwd=folder, env=launch.ENVIRONMENT, capture_output=True, text=True, timeout=300,
            stdin=subprocess.DEVNULL,
        )


def npy_header(descr, shape):
    text = repr({"descr": descr, "fortran_order": False, "shape": shape})
    text += " " * (-(10 + len(text) + 1) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


if __name__ == "__main__":
    if not launch.launchers():
        print("skipped: no mpirun.openmpi or mpirun.mpich with a plugin beside the program (scripts/setup installs both)")
        sys.exit(77)
    unittest.main()
