"""Groups `plan`, `ops` and `commands`: how long shardc takes, as whole processes."""

import os

from measures import models
from measures.bench import median_seconds, peak
from measures.rows import Failed, Row, below, seconds, size, times

OPS = 1000, 10_000, 100_000, 1_000_000
OPS_AIMS = {
    1000: below(0.010, "10 ms"),
    10_000: below(0.1, "0.1 s"),
    100_000: below(1, "1 s"),
    1_000_000: below(10, "10 s"),
}


def llama_405b(bench, scan):
    model = bench.file(f"405b_{scan}.yaml", models.llama(bench, "405B", models.LAYERS["405B"], scan, 512))
    return model, bench.file("405b_layout.yaml", models.llama_layout(64, 8))


def plan_405b(bench, scan, quick=True):
    words = *llama_405b(bench, scan), "--mode", "train", *(["--quick"] if quick else [])
    done = bench.rounds("plan", *words)
    aim = below(0.020, "20 ms") if scan else below(0.8, "0.8 s")
    row = Row(
        f"405B train, {'scanned' if scan else 'unrolled'}{'' if quick else ', with remedies'}",
        seconds(median_seconds(done)),
        aim=aim if quick else None,
        value=median_seconds(done),
    )
    if row.met == "no":
        row.note = bench.passes(*words)
    return [row]


def plan_tasks(bench):
    """Planning Llama 3.1 405B, 126 layers, on 64 x 8 devices."""
    yield "405B train, unrolled", 60, lambda: plan_405b(bench, False)
    yield "405B train, scanned", 30, lambda: plan_405b(bench, True)
    yield "405B train, scanned, with remedies", 30, lambda: plan_405b(bench, True, quick=False)


def graph_files(bench, kind, ops):
    make = models.chain if kind == "chain" else models.random_graph
    path = bench.folder / f"{kind}_{ops}.yaml"
    if not path.exists():
        bench.file(path.name, make(ops))
    return path, bench.file("graph_layout.yaml", models.GRAPH_LAYOUT)


def plan_graph(bench, kind, ops):
    words = *graph_files(bench, kind, ops), "--quick"
    done = bench.rounds("plan", *words, budget=15)
    spent = median_seconds(done)
    bench.known["ops", kind, ops] = spent, peak(done)
    row = Row(f"{kind} of {ops:,} ops", seconds(spent), aim=OPS_AIMS[ops], value=spent)
    if row.met == "no":
        row.note = bench.passes(*words)
    return [row]


def memory_of_ops(bench, kind):
    """What an op adds to the peak, between two graphs: the program itself, and this interpreter, count in neither."""
    few, many = (bench.known.get(("ops", kind, ops)) for ops in (10_000, 100_000))
    if not few or not many:
        raise Failed("its graphs were not planned")
    each = (many[1] - few[1]) / 90_000
    return [Row(f"{kind}: memory an op", size(each), aim=below(2048, "2 KiB"), value=each)]


def ops_tasks(bench):
    """Graphs on 2 x 4 devices, forward."""
    for kind in ("chain", "random"):
        for ops in OPS:
            yield f"{kind} of {ops:,} ops", 60, lambda kind=kind, ops=ops: plan_graph(bench, kind, ops)
        yield f"{kind}: memory an op", 10, lambda kind=kind: memory_of_ops(bench, kind)


def check_layouts(bench, scan):
    model = bench.file(f"8b_{scan}.yaml", models.llama(bench, "8B", 32, scan, 512))
    layouts = [bench.file(f"layout_{n}.yaml", text) for n, text in enumerate(models.many_layouts(20))]

    def check(some, budget):
        return bench.rounds("check", model, *some, "--mode", "train", codes=(0, 1), budget=budget)

    one, all_ = check(layouts[-1:], 5), check(layouts, 15)
    of_one, spent = median_seconds(one), median_seconds(all_)
    name = f"check 20 layouts of 8B, {'scanned' if scan else 'unrolled'}"
    aim = below(0.3, "0.3 s") if scan else below(2, "2 s")
    limit = f"limit: {len(layouts)} plans like the last on {os.cpu_count()} cores, "
    limit += seconds(len(layouts) * of_one / os.cpu_count())
    rows = [Row(name, seconds(spent), seconds(of_one), times(spent / of_one), aim, spent)]
    if rows[0].met == "no":
        rows[0].note = limit
    if not scan:
        more = peak(all_) / peak(one)
        aim = below(1.5, "1.5x")
        rows.append(Row("  its memory, of that of one", size(peak(all_)), size(peak(one)), times(more), aim, more))
    return rows


def diff_405b(bench):
    model, layout = llama_405b(bench, False)
    other = bench.file("405b_other.yaml", models.llama_layout(512))
    spent = median_seconds(bench.rounds("diff", model, layout, other, "--mode", "train"))
    return [Row("diff of 405B unrolled, 2 layouts", seconds(spent), aim=below(3, "3 s"), value=spent)]


def explain(bench, name, model, layout, aim):
    spent = median_seconds(bench.rounds("explain", model, layout, "--mode", "train"))
    return [Row(f"explain {name}", seconds(spent), aim=aim, value=spent)]


def explain_gpt2(bench):
    folder = bench.examples / "gpt2"
    return explain(bench, "GPT-2 train", folder / "model.yaml", folder / "layout.yaml", below(2, "2 s"))


def explain_8b(bench):
    model = bench.file("8b.yaml", models.llama(bench, "8B", 32, False, 512))
    return explain(bench, "8B unrolled", model, bench.file("8b_layout.yaml", models.llama_layout(64)), below(3, "3 s"))


def commands_tasks(bench):
    """Train steps of Llama 3.1 8B and 405B. The rival of `check` is the last of its layouts alone."""
    yield "check 20 layouts of 8B, scanned", 30, lambda: check_layouts(bench, True)
    yield "check 20 layouts of 8B, unrolled", 60, lambda: check_layouts(bench, False)
    yield "diff of 405B unrolled, 2 layouts", 60, lambda: diff_405b(bench)
    yield "explain GPT-2 train", 60, lambda: explain_gpt2(bench)
    yield "explain 8B unrolled", 90, lambda: explain_8b(bench)
