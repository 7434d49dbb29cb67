"""Which kernels are measured, and the tables and pictures of ratios."""

import contextlib

import numpy as np
from timing import print_markdown, shown

from collection.entry import ENTRIES


def family(entry):
    return entry.__module__.rsplit(".")[-1]


def selected(only):
    words = only.lower().split(",")
    return [entry for entry in ENTRIES if any(word in f"{entry.name.lower()} {family(entry)}" for word in words)]


def mean(values):
    return float(np.exp(np.mean(np.log(values)))) if values else None


class Table:
    """Rows of cells, with ratios for each of `columns`; ratios above `worst` are named."""

    def __init__(self, place, header, columns, worst):
        self.place, self.header, self.columns, self.worst = place, header, columns, worst
        self.rows, self.ratios = [], []

    def fill(self, only, measure):
        """measure: entry -> (cells, ratios, notes). Rows are printed as soon as they are there."""
        print(self.place, "\n" + " | ".join(self.header), sep="\n", flush=True)
        for entry in selected(only):
            cells, ratios, notes = measure(entry)
            self.rows.append(cells)
            self.ratios.append(ratios)
            print(" | ".join(map(shown, cells)), *(f"    {each}" for each in notes), sep="\n", flush=True)

    def summary(self):
        """Lines on each column of ratios: its mean, how many there are, the worst by name."""
        lines = []
        for column, title in enumerate(self.columns):
            known = [(ratios[column], cells[0]) for cells, ratios in zip(self.rows, self.ratios, strict=True)
                     if ratios[column]]
            if not known:
                continue
            worst = [f"{name} {value:.2f}" for value, name in sorted(known, reverse=True) if value > self.worst]
            lines.append(f"{title}: geometric mean {mean([value for value, _ in known]):.3f} of {len(known)}; "
                         f"{len(worst)} over {self.worst}" + (": " + ", ".join(worst) if worst else ""))
        return lines

    def write(self, markdown, picture):
        """The summary, and the table into these files, where there are any."""
        print("", *self.summary(), sep="\n")
        if markdown:
            with open(markdown, "w") as file, contextlib.redirect_stdout(file):
                print_markdown(self.place, self.header, self.rows)
                print("", *self.summary(), sep="\n\n")
        if picture:
            self.draw(picture)

    def draw(self, path):
        """Bars of the ratios, a group for each kernel."""
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot

        names = [cells[0] for cells in self.rows]
        figure, axes = pyplot.subplots(figsize=(9, 0.22 * len(names) + 1.5))
        height = 0.8 / len(self.columns)
        for column, title in enumerate(self.columns):
            places = [row + column * height for row in range(len(names))]
            axes.barh(places, [ratios[column] or 0 for ratios in self.ratios], height, label=title)
        axes.set_yticks([row + 0.4 - height / 2 for row in range(len(names))], names, fontsize=7)
        axes.axvline(1, color="black", linewidth=0.8)
        axes.invert_yaxis()
        axes.set_xlim(0, 2.5)
        axes.legend(loc="lower right")
        axes.grid(axis="x", linewidth=0.3)
        figure.tight_layout()
        figure.savefig(path)
