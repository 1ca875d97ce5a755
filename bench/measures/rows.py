"""A row of the comparison: what was measured, beside what, whether the aim is met; as text and as Markdown."""

import dataclasses
import textwrap

WIDTH = 80
COLUMNS = (("measure", 35), ("now", 9), ("rival", 9), ("ratio", 7), ("aim", 9), ("met", 3))


class Failed(Exception):
    """Why there is no figure: what the row says in its place."""


@dataclasses.dataclass(frozen=True)
class Aim:
    """A bound on the figure that the row is judged by: below or above it, or both."""

    text: str
    least: float = float("-inf")
    most: float = float("inf")

    def met(self, value):
        return self.least <= value <= self.most


def below(most, text):
    return Aim(f"< {text}", most=most)


def above(least, text):
    return Aim(f"> {text}", least=least)


@dataclasses.dataclass
class Row:
    measure: str
    now: str = ""  # shardc's figure
    rival: str = ""  # what it is compared with, in the same rounds
    ratio: str = ""
    aim: Aim | None = None
    value: float | None = None  # of now or ratio, whichever the aim is about
    note: str = ""  # why not, or what else is to be said

    @property
    def met(self):
        if self.aim is None or self.value is None:
            return ""
        return "yes" if self.aim.met(self.value) else "no"

    def cells(self):
        return [self.measure, self.now, self.rival, self.ratio, self.aim.text if self.aim else "", self.met]


def digits(value):
    """Three digits: 0.123, 1.23, 12.3, 1234."""
    return (
        f"{value:.0f}"
        if value >= 99.95
        else f"{value:.3g}" if value < 0.9995 else f"{value:.{3 - len(str(int(value)))}f}"
    )


def seconds(value):
    for unit, scale in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if value >= scale or unit == "us":
            return f"{digits(value / scale)} {unit}"


def size(count):
    for unit, scale in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= scale:
            return f"{digits(count / scale)} {unit}"
    return f"{count:.0f} B"


def times(value):
    return f"{digits(value)}x"


def text_line(cells):
    texts = [
        cell.ljust(width) if n == 0 else cell.rjust(width) for n, (cell, (_, width)) in enumerate(zip(cells, COLUMNS))
    ]
    return " ".join(texts).rstrip()


def text_heading():
    return text_line([name for name, _ in COLUMNS])


def text_of(row):
    """The row, and its note below, at most 80 columns wide."""
    lines = [text_line(row.cells())]
    if row.note:
        lines += textwrap.wrap(row.note, WIDTH, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)


def markdown_of(rows):
    lines = ["| measure | now | rival | ratio | aim | met |", "|---|---:|---:|---:|---:|---|"]
    for row in rows:
        cells = row.cells()
        if row.note:
            cells[0] += f"<br>{row.note}"
        lines.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
    return "\n".join(lines)
