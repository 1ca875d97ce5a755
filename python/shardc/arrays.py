"""Arrays in files, of which a process reads and writes only the parts that its devices hold."""

import os
import pathlib
import zlib

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy

from .problem import Problem, warn
from .processes import is_first, together

DTYPES = {
    "bool": numpy.dtype(bool),
    "bf16": numpy.dtype(ml_dtypes.bfloat16),
    "f8e4m3fn": numpy.dtype(ml_dtypes.float8_e4m3fn),
    "f8e5m2": numpy.dtype(ml_dtypes.float8_e5m2),
    **{f"{kind}{8 * size}": numpy.dtype(f"{kind}{size}") for kind in "iu" for size in (1, 2, 4, 8)},
    **{f"f{8 * size}": numpy.dtype(f"f{size}") for size in (2, 4, 8)},
}


def name_of(dtype):
    """As shardc calls it; None if it has no such type."""
    return next((name for name, known in DTYPES.items() if known == dtype.newbyteorder("=")), None)


def is_floating(dtype):
    return jnp.issubdtype(dtype, jnp.floating)


def holds_all_of(wide, narrow):
    if "bool" in (wide.name, narrow.name) or is_floating(wide) != is_floating(narrow):
        return wide == narrow
    if is_floating(wide):
        a, b = ml_dtypes.finfo(narrow), ml_dtypes.finfo(wide)
        return a.nmant <= b.nmant and float(a.max) <= float(b.max)
    a, b = numpy.iinfo(narrow), numpy.iinfo(wide)
    return a.min >= b.min and a.max <= b.max


def check_type(what, stored, wanted):
    """Whether values of a file can be read as the plan's; says so where that changes them or their type."""
    there, here = name_of(stored), name_of(wanted)
    if there == here:
        return True
    if there and holds_all_of(wanted, DTYPES[there]):
        warn("W0603", f"{what}: {there} there, converted to {here} here")
        return True
    if there and here == "bf16" and is_floating(DTYPES[there]) and stored.itemsize <= 4:
        warn("W0602", f"{what}: {there} there, rounded to {here} here")
        return True
    return False


def type_text(array):
    return f"{name_of(numpy.dtype(array.dtype)) or array.dtype} ({', '.join(map(str, array.shape))})"


def place(array, sharding, read):
    """The plan's array over the mesh; `read` gives the part at a tuple of slices."""
    dtype = DTYPES[array.dtype]

    def part(index):
        real = numpy.asarray(read(array.real(index))).astype(dtype, copy=False)
        shape = tuple(len(range(*each.indices(size))) for each, size in zip(index, array.padded))
        return real if shape == real.shape else numpy.pad(real, [(0, size - there) for size, there in zip(shape, real.shape)])

    return jax.make_array_from_callback(array.padded, sharding, part)


def open_npy(path):
    """The array in a .npy file, of which only what is indexed is read."""
    try:
        return numpy.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as problem:
        raise Problem("E0606", f"cannot read {path}: {problem.strerror or problem}") from None
    except ValueError as problem:
        raise Problem("E0606", f"cannot use {path}: {problem}", "numpy.save writes files that are read") from None


def crop(block, shape):
    return block[tuple(slice(size) for size in shape)]


def save_npy(path, array, of):
    """Every process writes the parts that it holds first; the file has its name when all have. `of`: the plan's array."""
    path = pathlib.Path(path)
    side = path.parent / f".shardc.tmp.{zlib.crc32(str(path).encode()):016x}"
    # numpy has no narrow floats but f16.
    narrow = is_floating(array.dtype) and array.dtype.itemsize <= 2 and array.dtype != numpy.float16
    dtype = numpy.dtype("f4") if narrow else array.dtype

    def make():
        if is_first():
            numpy.lib.format.open_memmap(side, "w+", dtype, of.shape)

    def write():
        file = numpy.lib.format.open_memmap(side, "r+") if array.addressable_shards else None
        for shard in array.addressable_shards:
            if shard.replica_id == 0:
                part = of.real(shard.index)
                real = crop(numpy.asarray(shard.data), [each.stop - each.start for each in part])
                file[part] = real.astype(dtype)
        if file is not None:
            file.flush()

    def name():
        if is_first():
            os.replace(side, path)

    try:
        for action in (make, write, name):
            together(action)
    except OSError as problem:
        side.unlink(missing_ok=True)
        raise Problem("E0607", f"cannot write {path}: {problem.strerror}") from None


def boxes(array, of, mesh):
    """(device, start, shape) of the part of the plan's array that each device has, in the order of the mesh."""
    parts = array.sharding.devices_indices_map(array.shape)
    for device in mesh.devices.flat:
        part = of.real(parts[device])
        shape = tuple(each.stop - each.start for each in part)
        if 0 not in shape:
            yield device, tuple(each.start for each in part), shape
