"""The collection's kernels by cujit, by CUDA C through NVRTC with default options, and by numba-cuda, in one run.

    python benchmarks/collection/run.py [--cpu] [--only WORDS] [--markdown FILE] [--picture FILE]

For each kernel milliseconds, ratios to CUDA C, registers and bytes of local memory (spills and local arrays) of a
thread, and whether the results are the same; then geometric means and the worst. Without a GPU, or with --cpu, the
kernels run on the CPU device with small sizes beside numba's `parallel`, where a kernel has such a form, and results
are compared with NumPy. --only takes words of names or of families, separated by commas. Libraries that are not
installed are said to be."""

import argparse
import contextlib
import functools
import os
import platform
import sys
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import peers  # noqa: E402
from timing import median_kernel_ms, median_seconds, print_markdown, shown  # noqa: E402

import collection  # noqa: E402, F401
from collection.entry import ENTRIES, agree  # noqa: E402
from collection.measure import Measured, expected_outputs, loops_ms  # noqa: E402

WORST = 1.05    # ratios above this are named


def family(entry):
    return entry.__module__.rsplit(".")[-1]


def selected(only):
    words = only.lower().split(",")
    return [entry for entry in ENTRIES if any(word in f"{entry.name.lower()} {family(entry)}" for word in words)]


def ratio(ms, base):
    return ms / base if ms and base else None


def same(entry, measured, expected):
    """"yes", "NO", or None where there is nothing to compare."""
    if measured.outputs is None or expected is None:
        return None
    return "yes" if all(map(lambda a, b: agree(entry, a, b), measured.outputs, expected)) else "NO"


# --- the GPU ----------------------------------------------------------------------------------------------------------


def gpu_header(others):
    names = [cell for peer in others for cell in (f"{peer.name}, ms", "ratio", "same")]
    return ["", "CUDA C, ms", *names, "registers", "of CUDA C", "local bytes", "of CUDA C"]


def gpu_row(entry, base, others):
    """(cells, ratios of the others, notes)."""
    problem = entry.problem(entry.gpu, np.random.default_rng(1))

    def measure(peer):
        return Measured(peer, entry, problem, lambda run: median_kernel_ms(peer, run, launches=5, repeats=9))

    reference = measure(base)
    found = [measure(peer) for peer in others]
    ratios = [ratio(each.ms, reference.ms) for each in found]
    cells = [entry.name, reference.ms]
    for each, over in zip(found, ratios, strict=True):
        cells += [each.ms, over, same(entry, each, reference.outputs)]
    ours, theirs = found[0].resources, reference.resources
    return [*cells, ours[0], theirs[0], ours[1], theirs[1]], ratios, [m.why for m in (reference, *found) if m.why]


# --- the CPU device ---------------------------------------------------------------------------------------------------


CPU_HEADER = ["", "cujit, ms", "same", "numba parallel, ms", "same", "numba / cujit"]


def cpu_row(entry, peer, numba):
    problem = entry.problem(entry.cpu, np.random.default_rng(1))
    expected = expected_outputs(entry, problem)
    ours = Measured(peer, entry, problem, lambda run: median_seconds(run, peer.synchronize, repeats=5) * 1e3)
    loops, right = loops_ms(entry, problem, numba, expected) if numba and entry.loops else (None, None)
    over = ratio(loops, ours.ms)
    cells = [entry.name, ours.ms, same(entry, ours, expected), loops, right, over]
    return cells, [over], [ours.why] if ours.why else []


def installed_numba():
    try:
        import numba
    except ImportError as error:
        print(f"skipped: numba parallel: {error}")
        return None
    return numba


# --- the table --------------------------------------------------------------------------------------------------------


def mean(values):
    return float(np.exp(np.mean(np.log(values)))) if values else None


def summary(names, ratios, columns):
    """Lines on each column of ratios: its mean, how many there are, the worst by name."""
    lines = []
    for column, title in enumerate(columns):
        known = [(row[column], name) for name, row in zip(names, ratios, strict=True) if row[column]]
        if not known:
            continue
        worst = [f"{name} {value:.2f}" for value, name in sorted(known, reverse=True) if value > WORST]
        lines.append(f"{title}: geometric mean {mean([value for value, _ in known]):.3f} of {len(known)}; "
                     f"{len(worst)} over {WORST}" + (": " + ", ".join(worst) if worst else ""))
    return lines


def draw(path, names, ratios, columns):
    """Bars of the ratios, a group for each kernel."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(9, 0.22 * len(names) + 1.5))
    height = 0.8 / len(columns)
    for column, title in enumerate(columns):
        places = [row + column * height for row in range(len(names))]
        axes.barh(places, [row[column] or 0 for row in ratios], height, label=title)
    axes.set_yticks([row + 0.4 - height / 2 for row in range(len(names))], names, fontsize=7)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.invert_yaxis()
    axes.set_xlim(0, 2.5)
    axes.legend(loc="lower right")
    axes.grid(axis="x", linewidth=0.3)
    figure.tight_layout()
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cpu", action="store_true", help="measure the CPU device even where there is a GPU")
    parser.add_argument("--only", default="", help="kernels that have one of these words in their name or family")
    parser.add_argument("--markdown", help="write the table into this file, too")
    parser.add_argument("--picture", help="draw the ratios into this file (needs matplotlib)")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of grids that are too small to fill a GPU

    if options.cpu:
        os.environ["CUJIT_DEVICE"] = "cpu"
    found, notes = peers.available(["cujit"] if options.cpu else list(peers.MAKERS))
    base = found.pop("CuPy RawKernel", None)
    gpu = peers.gpu_name(base) if base else None
    place = f"{gpu or 'CPU device'}; {platform.machine()}, {len(os.sched_getaffinity(0))} CPUs; " \
            f"Python {platform.python_version()}, NumPy {np.__version__}"
    print(place, *notes, sep="\n", flush=True)
    if gpu:
        others = list(found.values())
        header, columns = gpu_header(others), [f"{peer.name} / CUDA C" for peer in others]
        measure = functools.partial(gpu_row, base=base, others=others)
    else:
        numba = installed_numba()
        header, columns = CPU_HEADER, ["numba parallel / cujit"]
        measure = functools.partial(cpu_row, peer=found["cujit"], numba=numba)

    rows, ratios = [], []
    print("\n" + " | ".join(header))
    for entry in selected(options.only):
        cells, over, why = measure(entry)
        rows.append(cells)
        ratios.append(over)
        print(" | ".join(map(shown, cells)), *(f"    {each}" for each in why), sep="\n", flush=True)
    lines = summary([row[0] for row in rows], ratios, columns)
    print("", *lines, sep="\n")
    if options.markdown:
        with open(options.markdown, "w") as file, contextlib.redirect_stdout(file):
            print_markdown(place, header, rows)
            print("", *lines, sep="\n\n")
    if options.picture:
        draw(options.picture, [row[0] for row in rows], ratios, columns)


if __name__ == "__main__":
    main()
