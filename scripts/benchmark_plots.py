"""The plots of docs/benchmarks.md and docs/cpu_device.md, as SVG, of the pages' own tables.

Usage: benchmark_plots.py --write. A plot stands below its heading, in front of the table that it shows: a mark for each
library whose column of ratios the table has. Left of the line at 1 is faster than CUDA C, or than numba's loops. In a
table with a column `floor` the columns are times, and the ratios are those to the floor.
"""
import html
import math
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "docs" / "benchmarks.md", ROOT / "docs" / "cpu_device.md"]
PLOT = re.compile(r"^!\[[^]]*\]\(([^)]+\.svg)\)\n+(\|.*?\n)(?!\|)", re.MULTILINE | re.DOTALL)
LEAST, MOST = 0.25, 8.0                             # ratios, on a logarithmic scale
LEFT, WIDTH, ROW, TOP = 330, 420, 17, 34            # pixels
SERIES = [("cujit", "#0969da", {"ratio"}), ("numba-cuda", "#bf8700", {"numba-cuda's ratio", "ratio 2"}),
          ("CuPy", "#1a7f37", set()), ("torch", "#cf222e", set())]


def ratios_of(numbers):
    """{library: (color, ratio)} of a row."""
    floor = numbers.get("floor")
    for name, color, columns in SERIES:
        if floor and name in numbers:
            yield name, (color, numbers[name] / floor)
        elif not floor and columns & numbers.keys():
            yield name, (color, numbers[min(columns & numbers.keys())])


def rows_of(table):
    """(name, {column: number}) of each row; a second column of the same name is `name 2`."""
    header, _, *lines = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in table.splitlines()]
    names = [f"{name} 2" if name in header[:place] else name for place, name in enumerate(header)]
    for cells in lines:
        numbers = dict(zip(names, cells, strict=True))
        yield cells[0], {name: float(cell) for name, cell in numbers.items() if re.fullmatch(r"[\d.]+", cell)}


def place(ratio):
    share = math.log(min(max(ratio, LEAST), MOST) / LEAST) / math.log(MOST / LEAST)
    return LEFT + WIDTH * share


def plot(table):
    """The text of an SVG file."""
    rows = [(name, dict(ratios_of(numbers))) for name, numbers in rows_of(table)]
    height = TOP + ROW * len(rows) + 8
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 20}" height="{height}" '
             'font-family="system-ui, sans-serif" font-size="11">', '<rect width="100%" height="100%" fill="#ffffff"/>']
    for tick in (0.25, 0.5, 1, 2, 4, 8):
        x, stroke = place(tick), "#57606a" if tick == 1 else "#d8dee4"
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 6}" y2="{height - 4}" stroke="{stroke}"/>')
        parts.append(f'<text x="{x:.1f}" y="{TOP - 10}" text-anchor="middle" fill="#57606a">{tick:g}</text>')
    known = set().union(*(ratios for _, ratios in rows))
    for index, (name, color, _) in enumerate(series for series in SERIES if series[0] in known):
        parts.append(f'<circle cx="{14 + 90 * index}" cy="12" r="4" fill="{color}"/>'
                     f'<text x="{22 + 90 * index}" y="16" fill="#1b1f24">{name}</text>')
    for index, (name, ratios) in enumerate(rows):
        y = TOP + ROW * index + 8
        short = name if len(name) <= 58 else name[:57] + "\N{HORIZONTAL ELLIPSIS}"
        parts.append(f'<text x="{LEFT - 10}" y="{y + 4}" text-anchor="end" fill="#1b1f24">{html.escape(short)}</text>')
        parts += [f'<circle cx="{place(ratio):.1f}" cy="{y}" r="4" fill="{color}"/>'
                  for color, ratio in reversed(ratios.values())]
    return "\n".join([*parts, "</svg>\n"])


def plots():
    """{file: text} of all that the page shows."""
    return {page.parent / found[1]: plot(found[2])
            for page in PAGES for found in PLOT.finditer(page.read_text(encoding="utf-8"))}


if __name__ == "__main__":
    for file, text in plots().items():
        if "--write" in sys.argv:
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
        else:
            print(text)
