"""Group `executor`: the programs of bench/, which measure against bare products and a pass over the memory."""

import re

from measures import processes
from measures.rows import Failed, Row, above, below, digits, seconds, times


def lines_of(bench, program, arguments, pattern):
    """The numbers of each line that a program prints of a round."""
    done = processes.run([bench.program(program), *arguments], bench.deadline, keep=True, folder=bench.root)
    found = [[float(number) for number in match] for match in re.findall(pattern, done.out)]
    if not found:
        raise Failed(f"{program} printed no round")
    return list(zip(*found))


def chain(bench):
    plain, parts, ours, ratios = lines_of(
        bench,
        "bench_executor_chain",
        (4, 1024, 4096, bench.repeat),
        r"plain OpenBLAS +([\d.]+) GFLOP/s +as devices make them +([\d.]+) GFLOP/s +"
        r"executor +([\d.]+) GFLOP/s +ratio ([\d.]+)",
    )
    median = processes.median(ratios)
    rate = processes.median(parts)
    limit = f"limit: the devices' products alone, one thread of OpenBLAS each, {digits(rate)} GFLOP/s, "
    limit += digits(rate / processes.median(plain))
    return [
        Row(
            "4 products, 8 devices, GFLOP/s",
            digits(processes.median(ours)),
            digits(processes.median(plain)),
            digits(median),
            above(0.95, "0.95"),
            median,
            "" if median > 0.95 else limit,
        )
    ]


def all_reduce(bench, in_place):
    floor, ours, ratios = lines_of(
        bench,
        "bench_all_reduce",
        (64, 8, bench.repeat, int(in_place)),
        r"floor +([\d.]+) ms +all_reduce +([\d.]+) ms .*?ratio ([\d.]+)",
    )
    median = processes.median(ratios)
    return [
        Row(
            f"all_reduce 64 MiB x 8{', in place' if in_place else ''}",
            seconds(processes.median(ours) / 1e3),
            seconds(processes.median(floor) / 1e3),
            times(median),
            below(1.05, "1.05x") if in_place else below(1.25, "1.25x"),
            median,
        )
    ]


def train_step(bench):
    bare, ours, ratios = lines_of(
        bench,
        "bench_train_step",
        ("examples", 4096, 1024, bench.repeat),
        r"bare products +([\d.]+) ms .*?step +([\d.]+) ms +ratio ([\d.]+)",
    )
    median = processes.median(ratios)
    return [
        Row(
            "train step at 4096, batch 1024",
            seconds(processes.median(ours) / 1e3),
            seconds(processes.median(bare) / 1e3),
            digits(median),
            above(0.9, "0.9"),
            median,
        )
    ]


def tasks(bench):
    """Against the same products by OpenBLAS on all cores, and against one pass over the memory."""
    yield "4 products, 8 devices", 60, lambda: chain(bench)
    yield "all_reduce 64 MiB x 8", 40, lambda: all_reduce(bench, False)
    yield "all_reduce 64 MiB x 8, in place", 40, lambda: all_reduce(bench, True)
    yield "train step at 4096, batch 1024", 60, lambda: train_step(bench)
