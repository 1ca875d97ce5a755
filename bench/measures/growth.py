"""Group `growth`: how the time to plan grows with ops, devices and layers, beside JAX's; the plots."""

from measures import against_jax, models, planning, plot
from measures.bench import median_seconds
from measures.rows import Failed, Row, seconds

OPS = 100, 1000, 10_000, 100_000
JAX_OPS = 100, 1000
DEVICES = 8, 64, 512, 4096, 32_768, 262_144
JAX_DEVICES = 8, 64, 512
LAYERS = 1, 2, 4, 8, 16, 32, 64, 128
JAX_LAYERS = {True: (1, 4, 32), False: (1, 4, 16, 32)}


def known(bench, key, measure):
    """What this run knows already is not measured again; a point that fails is left out."""
    if key not in bench.known:
        try:
            bench.known[key] = measure()
        except Failed:
            bench.known[key] = None
    return bench.known[key]


def plan_seconds(bench, *words):
    return median_seconds(bench.rounds("plan", *words, "--quick", budget=3))


def points(pairs):
    return [(x, y) for x, y in pairs if y]


def jax_points(bench, devices, question, values, name, budget):
    """One line of JAX's; it ends where a point would take longer than the budget."""
    found = []
    for value in values:
        try:
            against_jax.ready(bench, devices if devices else value)
            answer = known(
                bench,
                ("jax " + name, value),
                lambda value=value: bench.jax.ask(bench.deadline, **question(value))["seconds"],
            )
        except Failed:
            break
        if answer is None:
            break
        found.append((value, answer))
        if answer > budget:
            break
    return found


def ops(bench):
    def seconds_of(kind, count):
        found = known(
            bench, ("ops", kind, count), lambda: (plan_seconds(bench, *planning.graph_files(bench, kind, count)), 0)
        )
        return found and found[0]

    series = [
        (f"shardc plan, {name}", points((count, seconds_of(kind, count)) for count in OPS))
        for kind, name in (("chain", "a chain"), ("random", "a random graph"))
    ]
    jax = jax_points(bench, 8, lambda count: {"do": "compile chain", "ops": count}, JAX_OPS, "chain", 20)
    return finish(
        bench, "ops", "Time to plan over ops", "ops of the model", series, jax, "JAX lower + compile, the chain"
    )


def devices(bench):
    def shardc(count):
        model = bench.file("growth_model.yaml", models.llama(bench, "8B", 32, True, max(DEVICES)))
        return plan_seconds(
            bench, model, bench.file(f"growth_{count}.yaml", models.llama_layout(count)), "--mode", "train"
        )

    def small(count):
        text = (bench.examples / "nnx_guide" / "model.yaml").read_text()
        model = bench.file("growth_small.yaml", models.replaced(text, ("batch: 8", f"batch: {8 * max(DEVICES)}")))
        layout = bench.file(f"growth_small_{count}.yaml", f"mesh: {{data: {count}}}\nrules: [{{batch: data}}]\n")
        return plan_seconds(bench, model, layout, "--mode", "train")

    series = [
        (
            "shardc plan, Llama 3.1 8B train under FSDP",
            points((n, known(bench, ("devices", n), lambda n=n: shardc(n))) for n in DEVICES),
        ),
        (
            "shardc plan, two products, train",
            points((n, known(bench, ("small devices", n), lambda n=n: small(n))) for n in DEVICES),
        ),
    ]
    jax = jax_points(bench, 0, lambda count: {"do": "compile wide"}, JAX_DEVICES, "devices", 20)
    return finish(
        bench,
        "devices",
        "Time to plan over devices",
        "devices of the mesh",
        series,
        jax,
        "JAX lower + compile, two products, train",
    )


def layers(bench):
    def shardc(count, scan):
        model = bench.file("growth_layers.yaml", models.llama(bench, "8B", count, scan, 64))
        layout = bench.file("fsdp_8.yaml", models.llama_layout(against_jax.DEVICES))
        return plan_seconds(bench, model, layout, "--mode", "train")

    series, jax = [], []
    for scan, name in ((False, "written out"), (True, "scanned")):
        series.append(
            (
                f"shardc plan, {name}",
                points((n, known(bench, ("layers", scan, n), lambda n=n, scan=scan: shardc(n, scan))) for n in LAYERS),
            )
        )
        for n in JAX_LAYERS[scan]:  # as group `jax` measured them, else now
            try:
                known(
                    bench, ("jax layers", scan, n), lambda n=n, scan=scan: against_jax.lower_and_compile(bench, n, scan)
                )
            except Failed:
                pass
        jax.append(
            (
                f"JAX lower + compile, {name}",
                points((n, bench.known.get(("jax layers", scan, n))) for n in JAX_LAYERS[scan]),
            )
        )
    return finish(
        bench, "layers", "Time to plan over layers: Llama 3.1 8B's widths, a train step", "layers", series + jax, [], ""
    )


def finish(bench, name, title, x_name, series, jax, jax_name):
    """Draws the plot, and gives a row a line: its ends, and how fast it grows."""
    series = [(text, some) for text, some in [*series, (jax_name, jax)] if some]
    if not series:
        raise Failed("nothing could be measured")
    about = "; ".join(f"{text}: " + ", ".join(f"{seconds(y)} at {x:,}" for x, y in some) for text, some in series)
    bench.plots[name] = plot.svg(title, x_name, series, about)
    rows = []
    for text, some in series:
        (first, begin), (last, end) = some[0], some[-1]
        note = f"{text}: {last / first:,.0f} times as many take {end / begin:.3g} times as long"
        rows.append(
            Row(f"{name}: {first:,} to {last:,}", seconds(end), seconds(begin), f"{end / begin:.3g}", note=note)
        )
    return rows


def tasks(bench):
    """Now: the time at the right end of a line; rival: at its left end."""
    yield "over ops", 120, lambda: ops(bench)
    yield "over devices", 120, lambda: devices(bench)
    yield "over layers", 180, lambda: layers(bench)
    yield "", 10, lambda: bench.jax.stop() or []
