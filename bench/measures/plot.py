"""A log-log plot as SVG, which follows the theme of the system: lines over decades, axes with names."""

import html
import math

WIDTH, HEIGHT = 720, 440
LEFT, RIGHT, BOTTOM = 76, 24, 56
LEGEND, LINE = 46, 20  # what the lines mean stands below the title
COLOURS = (
    ("#1f6feb", "#58a6ff"),
    ("#bc4c00", "#f0883e"),
    ("#1a7f37", "#56d364"),
    ("#8250df", "#bc8cff"),
)  # light, dark
MARKS = (
    '<circle cx="{0}" cy="{1}" r="4"/>',
    '<rect x="{0}" y="{1}" width="8" height="8" transform="translate(-4 -4)"/>',
    '<path d="M{0} {1} m0 -5 l5 9 h-10 z"/>',
    '<path d="M{0} {1} m0 -5 l5 5 l-5 5 l-5 -5 z"/>',
)


def style():
    light = "".join(f".s{n} {{ stroke: {one}; fill: {one}; }} " for n, (one, _) in enumerate(COLOURS))
    dark = "".join(f".s{n} {{ stroke: {other}; fill: {other}; }} " for n, (_, other) in enumerate(COLOURS))
    return (
        "text { font: 13px system-ui, sans-serif; fill: #1f2328; } .title { font-weight: 600; font-size: 15px; } "
        ".small { font-size: 12px; } .grid { stroke: #1f2328; stroke-opacity: .12; } "
        ".frame { stroke: #1f2328; stroke-opacity: .5; fill: none; } "
        f"polyline {{ fill: none !important; stroke-width: 2; }} {light}"
        ".ground { fill: #ffffff; } "
        "@media (prefers-color-scheme: dark) { text { fill: #e6edf3; } .ground { fill: #0d1117; } "
        f".grid {{ stroke: #e6edf3; }} .frame {{ stroke: #e6edf3; }} {dark}}}"
    )


def decades(values):
    """The decades that hold the values, as exponents; two at least."""
    low, high = math.floor(math.log10(min(values)) + 1e-9), math.ceil(math.log10(max(values)) - 1e-9)
    return low, max(high, low + 1)


def count_text(exponent):
    return f"{10**exponent:,}" if exponent < 5 else f"10<tspan dy='-5' font-size='10'>{exponent}</tspan>"


def seconds_text(exponent):
    for unit, scale in (("s", 0), ("ms", -3), ("us", -6)):
        if exponent >= scale:
            return f"{10 ** (exponent - scale)} {unit}"
    return f"10<tspan dy='-5' font-size='10'>{exponent}</tspan> s"


def svg(title, x_name, series, about):
    """`series`: name and points (x, seconds), both above zero. `about` is for who does not see it."""
    points = [point for _, some in series for point in some]
    top = LEGEND + LINE * ((len(series) + 1) // 2)
    x_low, x_high = decades([x for x, _ in points])
    y_low, y_high = decades([y for _, y in points])

    def at_x(x):
        return round(LEFT + (math.log10(x) - x_low) / (x_high - x_low) * (WIDTH - LEFT - RIGHT), 1)

    def at_y(y):
        return round(HEIGHT - BOTTOM - (math.log10(y) - y_low) / (y_high - y_low) * (HEIGHT - top - BOTTOM), 1)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        'role="img">',
        f"<title>{html.escape(title)}</title>",
        f"<desc>{html.escape(about)}</desc>",
        f"<style>{style()}</style>",
        f'<rect class="ground" width="{WIDTH}" height="{HEIGHT}" rx="8"/>',
        f'<text class="title" x="{LEFT}" y="24">{html.escape(title)}</text>',
    ]
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    middle = (top + bottom) / 2
    for exponent in range(x_low, x_high + 1):
        x = at_x(10**exponent)
        parts.append(f'<line class="grid" x1="{x}" y1="{top}" x2="{x}" y2="{bottom}"/>')
        parts.append(
            f'<text class="small" x="{x}" y="{bottom + 20}" text-anchor="middle">{count_text(exponent)}</text>'
        )
    for exponent in range(y_low, y_high + 1):
        y = at_y(10.0**exponent)
        parts.append(f'<line class="grid" x1="{LEFT}" y1="{y}" x2="{right}" y2="{y}"/>')
        parts.append(
            f'<text class="small" x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{seconds_text(exponent)}</text>'
        )
    parts.append(f'<rect class="frame" x="{LEFT}" y="{top}" width="{right - LEFT}" height="{bottom - top}"/>')
    parts.append(f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 12}" text-anchor="middle">{html.escape(x_name)}</text>')
    parts.append(f'<text x="18" y="{middle}" text-anchor="middle" transform="rotate(-90 18 {middle})">time</text>')
    for n, (_, some) in enumerate(series):
        parts.append(f'<g class="s{n}">')
        line = " ".join(f"{at_x(x)},{at_y(y)}" for x, y in some)
        parts.append(f'<polyline class="s{n}" points="{line}"/>')
        for x, y in some:
            mark = MARKS[n % len(MARKS)].format(at_x(x), at_y(y))
            parts.append(mark)
        parts.append("</g>")
    for n, (name, _) in enumerate(series):  # two beside each other
        x, y = LEFT + 8 + (right - LEFT) / 2 * (n % 2), LEGEND + LINE * (n // 2)
        parts.append(f'<g class="s{n}">{MARKS[n % len(MARKS)].format(x, y)}</g>')
        parts.append(f'<text class="small" x="{x + 12}" y="{y + 4}">{html.escape(name)}</text>')
    parts.append("</svg>")
    return "\n".join(parts) + "\n"
