"""Writing checkpoints that `shardc run --restore` opens: each process the parts of its devices, the first the index.

All is on the disk before `latest` names it, and what it replaces is removed after that (docs/checkpoints.md).
"""

import fcntl
import json
import os
import pathlib
import re
import secrets
import shutil

import jax

from . import safetensors
from .arrays import boxes, crop
from .checkpoint import INDEX, lock
from .problem import Problem
from .processes import gathered, is_first, together


def refused(problem):
    return Problem("E0614", problem, "the checkpoint from before, if there was one, is as it was")


def sync_folder(path):
    descriptor = os.open(path, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


class Saver:
    """Saves to one folder, of which it holds the lock from now on."""

    def __init__(self, folder, plan, mesh):
        self.folder, self.plan, self.mesh = pathlib.Path(folder), plan, mesh
        if not is_first():
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self.lock = lock(self.folder, fcntl.LOCK_EX)
            if not os.access(self.folder, os.R_OK | os.W_OK | os.X_OK):
                raise PermissionError(13, "Permission denied")
        except OSError as problem:
            raise Problem(
                "E0614",
                f"cannot save to '{folder}': {problem.strerror}",
                "--save takes a folder, which is made if it is not there",
            ) from None
        if self.lock is None:
            raise Problem("E0614", f"another process is saving to '{folder}'", "give each run a folder of its own")

    def save(self, values, step):
        """The folder of the checkpoint of these arrays, by name."""
        high, low = gathered([secrets.randbits(32), secrets.randbits(32)])[0]
        side = self.folder / f".shardc.tmp.{high:08x}{low:08x}"
        plan = self.files(values, step)
        try:
            together(lambda: is_first() and self.begin(side))
            sums = together(lambda: [self.write(side / name, file) for name, file in plan.items()])
            sums = gathered(sums).max(axis=0)  # one process knows the sum of a file, the others say 0
            together(lambda: is_first() and self.finish(side, plan, sums, step, values))
        except OSError as problem:
            shutil.rmtree(side, ignore_errors=True)
            raise refused(f"cannot write step {step}: {problem.strerror}") from None
        name = (self.folder / "latest").read_text().strip()
        return self.folder / name

    def files(self, values, step):
        """By name: the device that writes the file, its first bytes, its size, its tensors as (key, array)."""
        made = {}
        for stem, names in ("model", self.plan.params()), ("optimizer", self.plan.states()):
            parts = {}  # by device: what no device before it, by position, holds
            for name in names:
                held = set()
                for device, start, shape in boxes(values[name], self.plan.inputs[name], self.mesh):
                    if start not in held:
                        parts.setdefault(device, []).append((name, start, shape))
                        held.add(start)
            owners = [device for device in self.mesh.devices.flat if device in parts]
            for number, device in enumerate(owners, 1):
                file = f"{stem}.safetensors"
                if len(owners) > 1:
                    file = f"{stem}-{number:05}-of-{len(owners):05}.safetensors"
                # Larger elements first, so that all are aligned.
                own = sorted(parts[device], key=lambda part: -values[part[0]].dtype.itemsize)
                made[file] = (device, *self.header(own, values, step))
        return made

    def header(self, own, values, step):
        tensors, arrays, shapes = [], [], {}
        for name, start, shape in own:
            array, key, whole = values[name], name, self.plan.inputs[name].shape
            if shape != whole:
                key += "[" + ",".join(f"{at}:{at + size}" for at, size in zip(start, shape)) + "]"
                shapes[name] = whole
            tensors.append((key, array.dtype, shape))
            arrays.append((key, array, shape))
        # Loaders ask for the framework whose order of elements it is.
        metadata = {"format": "pt", "tool": self.plan.tool, "step": str(step)}
        if shapes:
            metadata["shapes"] = json.dumps(shapes)
        return *safetensors.header_of(tensors, metadata), arrays

    def begin(self, side):
        for left in self.folder.glob(".shardc.tmp.*"):  # of runs that were killed
            if re.fullmatch(r"\.shardc\.tmp\.[0-9a-f]{16}", left.name) and left.is_dir():
                shutil.rmtree(left)
        side.mkdir()

    def write(self, path, file):
        device, header, _, arrays = file
        if device.process_index != jax.process_index():
            return 0
        parts = [
            crop(next(s.data for s in array.addressable_shards if s.device == device), shape)
            for _, array, shape in arrays
        ]
        return safetensors.write(path, header, parts)

    def finish(self, side, files, sums, step, values):
        index = {
            "metadata": {
                "total_size": sum(size - len(header) for _, header, size, _ in files.values()),
                "format_version": 1,
                "tool": self.plan.tool,
                "model": self.plan.model,
                "step": step,
                "files": {
                    name: {"bytes": size, "crc32": f"{total:08x}"}
                    for (name, (_, _, size, _)), total in zip(files.items(), sums)
                },
                "shapes": {
                    name: self.plan.inputs[name].shape
                    for name in self.plan.inputs
                    if name in self.plan.params() + self.plan.states()
                },
            },
            "weight_map": {key: name for name, (_, _, _, arrays) in files.items() for key, *_ in arrays},
        }
        safetensors.write(side / INDEX, json.dumps(index, indent=2).encode() + b"\n", [])
        sync_folder(side)
        name, again = f"step-{step}", 1
        while os.path.lexists(self.folder / name):  # a folder that `latest` names is never written to
            again += 1
            name = f"step-{step}.{again}"
        side.rename(self.folder / name)
        sync_folder(self.folder)
        latest = self.folder / f".shardc.tmp.{secrets.token_hex(8)}"
        safetensors.write(latest, f"{name}\n".encode(), [])
        latest.rename(self.folder / "latest")
        sync_folder(self.folder)
        for other in self.folder.glob("step-*"):
            if other.name != name and re.fullmatch(r"step-\d+(\.\d+)?", other.name):
                remove(other)


def remove(folder):
    """A checkpoint that is replaced: what its index names, unless somebody reads it or keeps other things there."""
    descriptor = lock(folder, fcntl.LOCK_EX)
    if descriptor is None:
        return
    try:
        index = json.loads((folder / INDEX).read_text())
        if not index["metadata"]["tool"].startswith("shardc "):
            return
        for name in {pathlib.Path(file).name for file in index["weight_map"].values()}:
            (folder / name).unlink(missing_ok=True)
        (folder / INDEX).unlink()
        folder.rmdir()
    except (OSError, ValueError, KeyError):
        pass  # it is no checkpoint of shardc's, or not all of it
    finally:
        os.close(descriptor)
