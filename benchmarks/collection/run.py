"""The collection's kernels by cujit, by CUDA C through NVRTC with default options, and by numba-cuda and
its successor numba-cuda-mlir where they are installed, in one run.

    python benchmarks/collection/run.py [--only WORDS] [--weak] [--markdown FILE] [--picture FILE]

For each kernel milliseconds, ratios to CUDA C, registers and bytes of local memory (spills and local arrays) of a
thread, and whether the results are the same; then geometric means and the worst. --only takes words of names or of
families, separated by commas. --weak shows what numba's types cost. Libraries that are not installed are said to be.
run_cpu.py measures the CPU device."""

import argparse
import platform
import sys
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import peers  # noqa: E402
from timing import median_kernel_ms  # noqa: E402

import collection  # noqa: E402, F401
from collection.entry import agree  # noqa: E402
from collection.measure import Measured  # noqa: E402
from collection.tables import Table  # noqa: E402

WORST = 1.05    # ratios above this are named


def ratio(ms, base):
    return ms / base if ms and base else None


def same(entry, measured, expected):
    """"yes", "NO", or None where there is nothing to compare."""
    if measured.outputs is None or expected is None:
        return None
    return "yes" if all(map(lambda a, b: agree(entry, a, b), measured.outputs, expected)) else "NO"


def header_of(others):
    names = [cell for peer in others for cell in (f"{peer.name}, ms", "ratio", "same")]
    return ["", "CUDA C, ms", *names, "registers", "of CUDA C", "local bytes", "of CUDA C"]


def row(entry, base, others):
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="kernels that have one of these words in their name or family")
    parser.add_argument("--markdown", help="write the table into this file, too")
    parser.add_argument("--picture", help="draw the ratios into this file (needs matplotlib)")
    parser.add_argument("--weak", action="store_true", help='cujit once more, with ints="weak" and literals="weak"')
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of grids that are too small to fill a GPU

    found, notes = peers.available(list(peers.MAKERS))
    print(*notes, sep="\n", flush=True)
    base = found.pop("CuPy RawKernel", None)
    if not base:
        sys.exit("CUDA C through CuPy is what the others are compared with; run_cpu.py measures the CPU device")
    place = f"{peers.gpu_name(base)}; {platform.machine()}, Python {platform.python_version()}, NumPy {np.__version__}"
    others = list(found.values())
    if options.weak:
        weak = peers.MAKERS["cujit"]()
        weak.name, weak.options = "cujit, weak types", {"ints": "weak", "literals": "weak"}
        others.append(weak)
    table = Table(place, header_of(others), [f"{peer.name} / CUDA C" for peer in others], WORST)
    table.fill(options.only, lambda entry: row(entry, base, others))
    table.write(options.markdown, options.picture)


if __name__ == "__main__":
    main()
