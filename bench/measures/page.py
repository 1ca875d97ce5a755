"""docs/performance.md: what stands between its markers is written by bench/compare, the rest by hand."""

import datetime
import re

from measures import rows as form


def block_of(name, rows, about, machine):
    """What stands between the markers of a group."""
    day = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    return f"{about}\n\n{form.markdown_of(rows)}\n\nMeasured {day}: {machine}.\n"


def plots_of(names):
    words = {"ops": "ops of a model", "devices": "devices of a mesh", "layers": "layers of a model"}
    return "\n".join(f"![Time to plan over {words[name]}](performance_{name}.svg)\n" for name in names)


def replaced(text, name, block):
    """The document with the block between `<!-- NAME -->` and `<!-- end of NAME -->`."""
    pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end of {name} -->)", re.S)
    if not pattern.search(text):
        raise SystemExit(f"docs/performance.md has no markers of {name}")
    return pattern.sub(lambda found: found[1] + block + found[2], text)


def write(docs, measured, abouts, plots, machine):
    page = docs / "performance.md"
    text = page.read_text()
    for name, rows in measured.items():
        block = block_of(name, rows, abouts[name], machine)
        if name == "growth" and plots:
            block = plots_of(plots) + "\n" + block
        text = replaced(text, name, block)
    for name, svg in plots.items():
        (docs / f"performance_{name}.svg").write_text(svg)
    page.write_text(text)
