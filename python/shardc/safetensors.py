"""Files of safetensors: a header of JSON, then the bytes of its tensors."""

import json
import os
import zlib

import numpy

from .arrays import DTYPES, name_of
from .problem import Problem

NAMES = {name: name.upper() for name in DTYPES} | {"f8e4m3fn": "F8_E4M3", "f8e5m2": "F8_E5M2"}
TYPES = {NAMES[name]: dtype for name, dtype in DTYPES.items()}


def damaged(path, problem):
    return Problem("E0612", f"{path} is damaged: {problem}")


class Reader:
    """A file whose header was read; of its tensors only what is indexed is."""

    def __init__(self, path):
        self.path = path
        try:
            with open(path, "rb") as file:
                self.size = os.fstat(file.fileno()).st_size
                length = int.from_bytes(file.read(8), "little")
                text = file.read(length) if length <= self.size else b""
            header = json.loads(text)
        except OSError as problem:
            raise Problem("E0611", f"cannot read {path}: {problem.strerror}") from None
        except ValueError:
            raise damaged(path, "its header is not JSON") from None
        self.metadata = header.pop("__metadata__", {})
        self.entries, self.begin = header, 8 + length

    def tensor(self, name):
        entry = self.entries.get(name)
        if entry is None:
            raise damaged(self.path, f"it does not hold '{name}', as the index says")
        dtype, shape, (begin, end) = TYPES.get(entry["dtype"]), tuple(entry["shape"]), entry["data_offsets"]
        if dtype is None:
            raise Problem("E0613", f"'{name}' is {entry['dtype']} in {self.path}, which no model has")
        if end - begin != dtype.itemsize * int(numpy.prod(shape)) or self.begin + end > self.size:
            raise damaged(self.path, f"'{name}' does not fill its bytes")
        if begin == end:
            return numpy.empty(shape, dtype)
        return numpy.memmap(self.path, dtype, "r", self.begin + begin, shape)

    def crc32(self):
        total = 0
        with open(self.path, "rb") as file:
            while block := file.read(1 << 20):
                total = zlib.crc32(block, total)
        return total


def header_of(tensors, metadata):
    """The first bytes of a file of (name, dtype, shape), and how many bytes it will have."""
    header, at = {"__metadata__": metadata}, 0
    for name, dtype, shape in tensors:
        end = at + dtype.itemsize * int(numpy.prod(shape))
        header[name] = {"dtype": NAMES[name_of(dtype)], "shape": list(shape), "data_offsets": [at, end]}
        at = end
    text = json.dumps(header, ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text, 8 + len(text) + at


def write(path, header, parts):
    """A new file, on the disk when this returns; its checksum."""
    total = 0
    with open(path, "xb") as file:
        for part in (header, *parts):
            data = part if isinstance(part, bytes) else numpy.ascontiguousarray(part).reshape(-1).view(numpy.uint8)
            file.write(data)
            total = zlib.crc32(data, total)
        file.flush()
        os.fsync(file.fileno())
    return total
