"""Every `shardc run` of the documents, under mpirun: the same text, the same files, to the last bit.

    SHARDC=build/dev/shardc python3 tests/mpi/documented_test.py

Each command runs once, with the libraries and the numbers of ranks taking turns; SHARDC_MPI_FULL=1 runs each under 1, 2,
4 and 8 ranks with all libraries.
"""

import itertools
import os
import pathlib
import re
import shlex
import shutil
import sys
import tempfile
import unittest

import launch

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENTS = ["README.md", "docs", "examples", "tests/cases"]
FULL = os.environ.get("SHARDC_MPI_FULL") == "1"


def blocks(text):
    """The fenced blocks of a document: what follows the fence, and the lines."""
    for match in re.finditer(r"^```(\S*) ?(.*)\n((?:.*\n)*?)```$", text, re.MULTILINE):
        yield match[1], match[2].strip(), match[3]


def commands(body):
    for line in body.splitlines():
        if line.startswith("$ shardc "):
            yield shlex.split(line[len("$ shardc ") :], comments=True)


def files_below(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "examples" not in path.relative_to(folder).parts
    }


class Documented(unittest.TestCase):
    turns = itertools.count()

    def ways(self, devices):
        """Pairs of a library and a number of ranks."""
        every = [(library, ranks) for ranks in (1, 2, 4, 8) for library in launch.launchers() if devices % ranks == 0]
        return every if FULL else [every[next(Documented.turns) % len(every)]]

    def check_command(self, words, folder):
        """Runs it in the folder, and under mpirun in copies of what the folder was."""
        with tempfile.TemporaryDirectory() as scratch:
            before = pathlib.Path(scratch) / "before"
            shutil.copytree(folder, before, symlinks=True)
            alone = launch.run(words, folder)
            devices = re.search(r"= (\d+) devices?$|\"devices\": (\d+)", alone.stdout, re.MULTILINE)
            if words[0] != "run" or "-" in words or "--trace" in words or devices is None:
                return 0
            devices = int(devices[1] or devices[2])
            expected, count = files_below(folder), 0
            for library, ranks in self.ways(devices):
                copy = pathlib.Path(scratch) / f"{library}{ranks}"
                shutil.copytree(before, copy, symlinks=True)
                together = launch.run(words, copy, launch.launchers()[library], ranks)
                with self.subTest(command=" ".join(words), library=library, ranks=ranks):
                    self.assertEqual(together.stdout, alone.stdout, together.stderr)
                    self.assertEqual(together.returncode, alone.returncode, together.stderr)
                    self.assertEqual(files_below(copy), expected)
                count += 1
            return count

    def test_documents(self):
        documents = []
        for name in DOCUMENTS:
            path = ROOT / name
            documents += [path] if path.is_file() else sorted(path.rglob("*.md"))
        count = 0
        for document in documents:
            text = document.read_text()
            if not re.search(r"^\$ shardc run ", text, re.MULTILINE):
                continue
            with tempfile.TemporaryDirectory() as scratch:
                folder = pathlib.Path(scratch) / "here"
                folder.mkdir()
                (folder / "examples").symlink_to(ROOT / "examples")
                for kind, name, body in blocks(text):
                    if kind == "yaml" and name:
                        (folder / name).parent.mkdir(parents=True, exist_ok=True)
                        (folder / name).write_text(body)
                    elif kind == "console":
                        for words in commands(body):
                            count += self.check_command(words, folder)
        print(f"{count} runs under mpirun", file=sys.stderr)
        self.assertGreater(count, 40)


if __name__ == "__main__":
    if not launch.launchers():
        print("skipped: no mpirun.openmpi or mpirun.mpich with a plugin beside the program (scripts/setup installs both)")
        sys.exit(77)
    unittest.main()
