"""Reading checkpoints of `shardc run` (docs/checkpoints.md), or other folders and files of safetensors, by ranges."""

import fcntl
import json
import math
import os
import pathlib
import re

import jax
import numpy

from . import safetensors
from .arrays import check_type, DTYPES, type_text
from .problem import Problem, warn
from .safetensors import damaged

INDEX = "model.safetensors.index.json"


def lock(folder, kind):
    """A descriptor that keeps the folder as long as it is open; None if another process has it. Some disks have no
    locks: there everybody gets it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except OSError:
        pass
    return descriptor


def piece_of(key):
    """The name of a tensor, and where the piece starts: "w1[0:1024,256:512]" is a piece of w1, "w1" all of it."""
    ranges = re.fullmatch(r"(.+)\[(\d+:\d+(?:,\d+:\d+)*)\]", key)
    if not ranges:
        return key, None
    return ranges[1], tuple(int(part.partition(":")[0]) for part in ranges[2].split(","))


class Checkpoint:
    def __init__(self, path):
        self.name = pathlib.Path(path)
        self.step, self.files, self.pieces, self.shapes = 0, {}, {}, {}
        self.lock, self.readers, self.is_own = None, {}, False
        if not self.name.is_dir():
            self.open_file(self.name)
            return
        folder = self.locked_folder()
        if (folder / INDEX).exists():
            self.open_index(folder)
        elif (folder / "model.safetensors").exists():
            self.open_file(folder / "model.safetensors")
        else:
            raise Problem(
                "E0611",
                f"there is no checkpoint in '{folder}'",
                f"a checkpoint is a folder with `latest`, {INDEX} or model.safetensors",
            )

    def locked_folder(self):
        """Whoever saves may remove what `latest` named when it was read; then it names another by now."""
        latest = self.name / "latest"
        for _ in range(10):
            if latest.exists():
                step = latest.read_text().strip()
                if not re.fullmatch(r"step-\d+(\.\d+)?", step):
                    raise damaged(latest, f"'{step}' is no name of a step")
                folder = self.name / step
            else:
                folder = self.name
            try:
                self.lock = lock(folder, fcntl.LOCK_SH)
            except FileNotFoundError:
                continue
            if self.lock is not None and (folder / INDEX).exists() or folder == self.name:
                self.name = folder
                return folder
            self.close()
        raise damaged(latest, f"there is no checkpoint in '{folder}'")

    def close(self):
        """Nothing more is read: a run that saves may remove it."""
        if self.lock is not None:
            os.close(self.lock)
        self.lock = None

    def lies_in(self, folder):
        folder = pathlib.Path(folder)
        return folder.exists() and folder.resolve() in (self.name.resolve(), self.name.resolve().parent)

    def open_file(self, path):
        reader = self.readers[path] = safetensors.Reader(path)
        self.step = int(reader.metadata.get("step", "0")) if reader.metadata.get("step", "0").isdigit() else 0
        for key in reader.entries:
            self.add(key, path)

    def open_index(self, folder):
        path = folder / INDEX
        try:
            index = json.loads(path.read_text())
            metadata, places = index.get("metadata", {}), dict(index["weight_map"])
        except OSError as problem:
            raise Problem("E0611", f"cannot read {path}: {problem.strerror}") from None
        except (ValueError, KeyError, AttributeError):
            raise damaged(path, "it is no index with a weight_map") from None
        if metadata.get("format_version", 1) != 1:
            raise damaged(path, "its format_version is not 1, which is what this program reads")
        self.is_own = "tool" in metadata
        self.step, self.shapes = int(metadata.get("step", 0)), metadata.get("shapes", {})
        self.files = {folder / name: said for name, said in metadata.get("files", {}).items()}
        for key, name in places.items():
            if pathlib.Path(name).name != name:
                raise damaged(path, f"'{key}' lies in no file beside it")
            self.add(key, folder / name)

    def add(self, key, path):
        name, start = piece_of(key)
        self.pieces.setdefault(name, []).append((path, key, start))

    def select(self, wanted, given, with_states):
        """Checks that the wanted arrays are there and whole; the others are `given`, or states that nobody wants."""
        arrays = {name: array for name, array in wanted.items() if name not in given}
        missing = [name for name in arrays if name not in self.pieces]
        if missing:
            states_only = all(arrays[name].role not in ("param", "variable") for name in missing)
            raise Problem(
                "E0613",
                f"{self.name} does not hold '{missing[0]}'" + (f" and {len(missing) - 1} more" * (len(missing) > 1)),
                (
                    "it has no optimizer states: --restore-only params begins with new ones"
                    if states_only
                    else "is it a checkpoint of this model? Layers are read as they are saved, scanned or written out; "
                    "`shardc run --restore` reads both"
                ),
            )
        unused = [
            name
            for name, ((path, _, _), *_) in self.pieces.items()
            if name not in wanted and (with_states or not path.name.startswith("optimizer"))
        ]
        if unused:
            more = f" and {len(unused) - 1} more" * (len(unused) > 1)
            warn("W0601", f"{self.name} also holds '{unused[0]}'{more}: not used", "is it a checkpoint of this model?")
        needed = sorted({path for name in arrays for path, _, _ in self.pieces[name]})
        # A sum needs all of a file: the processes share them.
        for number, path in enumerate(needed):
            self.check_file(path, number % jax.process_count() == jax.process_index())
        self.tensors = {name: self.tensor(array) for name, array in arrays.items()}

    def check_file(self, path, with_sum):
        reader = self.readers.get(path) or safetensors.Reader(path)
        self.readers[path] = reader
        said = self.files.get(path)
        if said and said["bytes"] != reader.size:
            raise damaged(path, f"it has {reader.size} bytes, and {said['bytes']} when it was written")
        if self.is_own and reader.metadata.get("step") not in (None, str(self.step)):
            raise damaged(path, f"it is of step {reader.metadata['step']}, and its index of step {self.step}")
        if said and with_sum and int(said["crc32"], 16) != reader.crc32():
            raise damaged(path, "its checksum is not that of the index")

    def tensor(self, array):
        """(start, piece) of all pieces of an array."""
        found = []
        for path, key, start in self.pieces[array.name]:
            piece = self.readers[path].tensor(key)
            found.append(((0,) * piece.ndim if start is None else start, piece))
        if any(len(start) != piece.ndim or piece.ndim != found[0][1].ndim for start, piece in found):
            raise damaged(self.name, f"the pieces of '{array.name}' do not make a whole")
        ends = [[at + size for at, size in zip(start, piece.shape)] for start, piece in found]
        shape = tuple(max(sizes) for sizes in zip(*ends))
        starts = {start for start, _ in found}
        filled = sum(piece.size for _, piece in found)
        if (
            filled != math.prod(shape)
            or len(starts) != len(found)
            or shape != tuple(self.shapes.get(array.name, shape))
        ):
            raise damaged(self.name, f"the pieces of '{array.name}' do not make a whole")
        stored = found[0][1].dtype
        if shape != array.shape or not check_type(f"'{array.name}' of {self.name}", stored, DTYPES[array.dtype]):
            raise Problem(
                "E0613",
                f"'{array.name}' is {type_text(numpy.empty(shape, stored))} in {self.name}, "
                f"but the model has {array.dtype} ({', '.join(map(str, array.shape))})",
                "is it a checkpoint of this model?",
            )
        return found

    def read(self, name, index):
        """The part of a tensor at these slices: only what lies in it is read."""
        pieces = self.tensors[name]
        whole = [max(start[d] + piece.shape[d] for start, piece in pieces) for d in range(len(index))]
        wanted = [part.indices(size) for part, size in zip(index, whole)]
        out = numpy.empty([end - begin for begin, end, _ in wanted], pieces[0][1].dtype)
        for start, piece in pieces:
            common = [
                (max(begin, at), min(end, at + size)) for (begin, end, _), at, size in zip(wanted, start, piece.shape)
            ]
            if all(low < high for low, high in common):
                there = tuple(slice(low - at, high - at) for (low, high), at in zip(common, start))
                here = tuple(slice(low - begin, high - begin) for (low, high), (begin, _, _) in zip(common, wanted))
                out[here] = piece[there]
        return out
