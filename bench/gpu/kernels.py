#!/usr/bin/env python3
"""Seconds of single kernels on a GPU, as CSV: what profiles of GPUs are held against (docs/measured-kernels.md).

    python3 bench/gpu/kernels.py [SECONDS] > kernels.csv

Needs PyTorch with CUDA. Calls of one kernel over buffers that do not fit the cache are captured as one graph, whose
replays are timed: medians, and no time of a host's. SECONDS (200) ends it early.
"""

import statistics
import sys
import time

import torch

BF16, F32 = torch.bfloat16, torch.float32
COLUMNS = ("kind", "dtype", "b", "m", "n", "k", "bytes", "microseconds")
# (n, k) of layers that people run.
WIDTHS = [(768, 768), (2304, 768), (3072, 768), (768, 3072), (50257, 768), (1600, 1600), (6400, 1600), (1600, 6400),
          (2048, 2048), (8192, 2048), (2048, 8192), (4096, 4096), (1024, 4096), (14336, 4096), (4096, 14336),
          (128256, 4096), (5120, 5120), (20480, 5120), (8192, 8192), (28672, 8192), (8192, 28672), (12288, 12288),
          (1792, 4096), (4096, 1792), (512, 4096), (4096, 512), (128, 4096), (4096, 128)]
BATCHED = [(96, 1024, 1024, 64), (96, 1024, 64, 1024), (32, 2048, 2048, 128), (32, 2048, 128, 2048),
           (64, 512, 512, 64), (64, 512, 64, 512), (8, 1024, 14336, 4096), (8, 4096, 14336, 4096),
           (8, 4096, 4096, 14336), (64, 256, 2048, 2048), (64, 128, 128, 128), (256, 64, 64, 64),
           (1024, 1, 128, 1024), (1024, 1, 1024, 128), (16, 128, 128, 1024), (16, 4096, 4096, 128)]
MOST_FLOPS = 4e13


def seconds_of(make, moved):
    """Of one of the calls make() returns, each on buffers of its own, which move so many bytes."""
    calls = [make() for _ in range(max(1, min(16, -(-150_000_000 // moved))))]
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for call in calls:
            call()
        stream.synchronize()
        begin = time.perf_counter()
        for call in calls:
            call()
        stream.synchronize()
        estimate = max((time.perf_counter() - begin) / len(calls), 2e-6)
        count = max(len(calls), min(200, int(0.01 / estimate)))
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            for i in range(count):
                calls[i % len(calls)]()
        graph.replay()
        stream.synchronize()
        took = []
        for _ in range(max(3, min(20, int(0.05 / (estimate * count))))):
            first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            first.record(stream)
            graph.replay()
            last.record(stream)
            stream.synchronize()
            took.append(first.elapsed_time(last) / 1e3 / count)
    return statistics.median(took)


def product(dtype, b, m, n, k):
    size = torch.tensor([], dtype=dtype).element_size()

    def make():
        shape = (lambda *dims: dims) if b == 1 else (lambda *dims: (b, *dims))
        x = torch.randn(shape(m, k), device="cuda", dtype=dtype)
        y = torch.randn(shape(k, n), device="cuda", dtype=dtype)
        z = torch.empty(shape(m, n), device="cuda", dtype=dtype)
        return lambda: torch.matmul(x, y, out=z)

    return make, size * b * (m * k + k * n + m * n)


def pointwise(name, count):
    def make():
        x = torch.randn(min(count, 1 << 28), device="cuda").to(BF16).repeat(max(1, count >> 28))
        y, z = torch.ones_like(x) if name == "add" else None, torch.empty_like(x)
        calls = {"mul": lambda: torch.mul(x, 2, out=z), "add": lambda: torch.add(x, y, out=z),
                 "exp": lambda: torch.exp(x, out=z), "tanh": lambda: torch.tanh(x, out=z)}
        return calls[name]

    return make, 2 * count * (3 if name == "add" else 2)


def cases():
    """(kind, dtype, b, m, n, k, make, bytes) of each."""
    for power in range(11, 32):
        for name in ("mul", "add"):
            yield name, "bf16", 1, 1 << power, 1, 1, *pointwise(name, 1 << power)
    for power in (23, 27, 29):
        for name in ("exp", "tanh"):
            yield name, "bf16", 1, 1 << power, 1, 1, *pointwise(name, 1 << power)
    shapes = [(1, s, s, s) for s in (128, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384)]
    for m in (1, 4, 16, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768):
        shapes += [(1, m, n, k) for n, k in WIDTHS]
    for m in (1024, 4096, 16384, 32768):
        shapes += [(1, k, n, m) for n, k in WIDTHS]
    for shape in shapes + BATCHED:
        if 2 * shape[0] * shape[1] * shape[2] * shape[3] <= MOST_FLOPS:
            yield "matmul", "bf16", *shape, *product(BF16, *shape)
    for size in (256, 512, 1024, 2048, 4096, 8192):
        yield "matmul", "f32", 1, size, size, size, *product(F32, 1, size, size, size)


def main():
    torch.backends.cuda.matmul.allow_tf32 = False
    limit = float(sys.argv[1]) if len(sys.argv) > 1 else 200
    begin = time.time()
    print(f"# {torch.cuda.get_device_name()}, torch {torch.__version__}")
    print(*COLUMNS, sep=",")
    for kind, dtype, b, m, n, k, make, moved in cases():
        if time.time() - begin > limit:
            sys.exit("out of time")
        print(kind, dtype, b, m, n, k, moved, f"{seconds_of(make, moved) * 1e6:.2f}", sep=",", flush=True)
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
