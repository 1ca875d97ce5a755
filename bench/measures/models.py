"""Models and layouts that are measured: examples with other numbers in them, and graphs of any size."""

import random

LLAMA = {
    "8B": {"embed": 4096, "heads": 32, "kv_heads": 8, "kv": 128, "mlp": 14336, "vocab": 128256},
    "405B": {"embed": 16384, "heads": 128, "kv_heads": 8, "kv": 128, "mlp": 53248, "vocab": 128256},
}
LAYERS = {"8B": 32, "405B": 126}
RULES = (
    "rules: [{batch: data}, {length: ~}, {embed: ~}, {heads: MODEL}, {kv_heads: MODEL}, {kv: ~}, {mlp: MODEL}, "
    "{vocab: MODEL}, {layers: ~}]\n"
)


def replaced(text, *pairs):
    """The text with each first string replaced by the second; one that is not there is an error."""
    for old, new in pairs:
        if old not in text:
            raise ValueError(f"no {old!r} in the example")
        text = text.replace(old, new)
    return text


def llama(bench, widths, layers, scan, batch):
    """examples/llama3 of other widths and layers, its blocks a loop or written out."""
    axes = ", ".join(f"{name}: {size}" for name, size in LLAMA[widths].items())
    text = (bench.examples / "llama3" / "model.yaml").read_text()
    old = next(line for line in text.splitlines() if line.startswith("axes:"))
    return replaced(
        text,
        (old, f"axes: {{batch: {batch}, length: 8192, {axes}}}"),
        ("times: 32", f"times: {layers}"),
        (", scan: true", ", scan: true" if scan else ""),
    )


def llama_layout(data, model=1, fsdp=True, prefetch=True):
    """FSDP over `data` and tensor parallelism over `model`, as examples/llama3/layout.yaml without the latter."""
    mesh = f"mesh: {{data: {data}}}\n" if model == 1 else f"mesh: {{data: {data}, model: {model}}}\n"
    rules = RULES.replace("MODEL", "~" if model == 1 else "model")
    more = "" if prefetch else ", prefetch: false"
    return mesh + rules + (f"fsdp: {{axis: data{more}}}\n" if fsdp else "") + "hardware: h100\n"


def many_layouts(count):
    """Layouts of 8 to 128 devices, no two alike."""
    shapes = [(data, model, fsdp) for model in (1, 2, 4, 8) for data in (8, 16, 32, 64) for fsdp in (True, False)]
    return [llama_layout(*shape) for shape in shapes[:count]]


HEAD = """model: {name}
axes: {{batch: 64, embed: 256, hidden: 256}}
inputs:
  x: {{axes: [batch, embed]}}
params:
  up: {{axes: [embed, hidden]}}
  down: {{axes: [hidden, embed]}}
  b: {{axes: [embed]}}
graph:
"""
GRAPH_LAYOUT = "mesh: {data: 2, model: 4}\nrules: [{batch: data}, {hidden: model}, {embed: ~}]\n"
CHAIN = (
    "{{dot: [{0}, up]}}",
    "{{relu: {0}}}",
    "{{mul: [{0}, 0.5]}}",
    "{{tanh: {0}}}",
    "{{dot: [{0}, down]}}",
    "{{add: [{0}, b]}}",
    "{{tanh: {0}}}",
    "{{sub: [{0}, b]}}",
)


def chain(ops):
    """One op after the other: every fourth a product, every eighth followed by an all_reduce, else pointwise."""
    lines, last = [], "x"
    for n in range(ops):
        lines.append(f"  - v{n}: " + CHAIN[n % len(CHAIN)].format(last))
        last = f"v{n}"
    return HEAD.format(name="chain") + "\n".join(lines) + f"\noutputs: [{last}]\n"


def random_graph(ops, seed=1):
    """Ops of one or two operands, which are drawn from the latest 64 values, those that nobody has read first."""
    draw = random.Random(seed)
    lines, latest, unread = [], ["x"], ["x"]

    def operand():
        if unread and draw.random() < 0.6:
            return unread.pop(draw.randrange(len(unread)))
        chosen = draw.choice(latest)
        if chosen in unread:
            unread.remove(chosen)
        return chosen

    def add(text):
        name = f"v{len(lines)}"
        lines.append(f"  - {name}: {text}")
        latest.append(name)
        unread.append(name)
        del latest[:-64]

    while len(lines) + len(unread) - 1 < ops:
        kind = draw.random()
        if kind < 0.05 and len(lines) + len(unread) < ops:
            add(f"{{dot: [{operand()}, up]}}")
            add(f"{{dot: [{unread.pop()}, down]}}")
        elif kind < 0.1:
            add(f"{{add: [{operand()}, b]}}")
        elif kind < 0.35:
            add(f"{{{draw.choice(('tanh', 'relu', 'neg'))}: {operand()}}}")
        else:
            first = operand()
            add(f"{{{draw.choice(('add', 'sub', 'mul', 'max'))}: [{first}, {operand()}]}}")
    while len(unread) > 1:  # what is left over is read
        first = unread.pop(0)
        add(f"{{add: [{first}, {unread.pop(0)}]}}")
    return HEAD.format(name="random") + "\n".join(lines) + f"\noutputs: [{unread[0]}]\n"
