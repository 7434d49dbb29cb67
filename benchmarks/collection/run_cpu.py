"""The collection's kernels on the CPU device, beside numba's `parallel` loops in their own best form, in one run.

    python benchmarks/collection/run_cpu.py [--only WORDS] [--one-core] [--markdown FILE] [--picture FILE]

Both take turns, and rest before each; the least time of all turns counts. numba's loops are compiled with and without
fastmath, and the faster of those that give the right results counts. Results are compared with NumPy's. With --one-core
both have one worker, and what counts is the processor's time, not the clock's: for machines that do other work, too.
--only takes words of names or of families, separated by commas."""

import argparse
import os
import platform
import sys
import time
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

WORST = 1.2     # times as long as numba: these are named
LEAST = 0.004   # seconds of one turn
REST = 0.03     # seconds before it: OpenMP's threads, which are numba's, look for work as long, on cores of the others


def least_ms(runs, clock, turns):
    """The least milliseconds of each, in turns."""
    batches, times = [], [[] for _ in runs]
    for run in runs:
        run()
        start = clock()
        run()
        batches.append(max(1, min(100, int(LEAST / max(clock() - start, 1e-7)))))
    for _ in range(turns):
        for run, batch, found in zip(runs, batches, times, strict=True):
            time.sleep(REST)
            run()
            start = clock()
            for _ in range(batch):
                run()
            found.append((clock() - start) / batch * 1e3)
    return [min(found) for found in times]


def numba_forms(entry, problem, numba, expected):
    """The forms that give the right results, ready to run, and whether there is one."""
    from collection.entry import agree
    from collection.measure import on_host

    forms = []
    for fastmath in False, True:
        compiled = numba.njit(parallel=True, fastmath=fastmath)(entry.loops(numba))
        arguments = on_host(problem)
        compiled(*arguments)
        if all(agree(entry, arguments[place], each) for place, each in zip(problem.outputs, expected, strict=True)):
            forms.append(lambda compiled=compiled, arguments=arguments: compiled(*arguments))
    return forms


def device_run(entry, problem, cuda, expected):
    """(a function that launches and waits, whether the results are right)."""
    from collection.entry import agree
    from collection.measure import arguments_by

    arguments = arguments_by(cuda.to_device, problem)
    launcher = cuda.jit(entry.kernel(cuda))[problem.grid, problem.block]

    def run():
        launcher(*arguments)
        cuda.synchronize()

    run()
    return run, all(agree(entry, arguments[place].copy_to_host(), each)
                    for place, each in zip(problem.outputs, expected, strict=True))


def row(entry, cuda, numba, clock, turns):
    """(cells, [cujit / numba], no notes)."""
    from collection.measure import expected_outputs

    problem = entry.problem(entry.cpu, np.random.default_rng(1))
    expected = expected_outputs(entry, problem)
    run, right = device_run(entry, problem, cuda, expected)
    forms = numba_forms(entry, problem, numba, expected) if numba and entry.loops else []
    ours, *theirs = least_ms([run, *forms], clock, turns)
    best = min(theirs, default=None)
    same = "NO" if entry.loops and numba and not forms else "yes" if forms else None
    over = ours / best if best else None
    return [entry.name, ours, "yes" if right else "NO", best, same, best / ours if best else None], [over], []


def installed_numba():
    try:
        import numba
    except ImportError as error:
        print(f"skipped: numba parallel: {error}")
        return None
    return numba


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="kernels that have one of these words in their name or family")
    parser.add_argument("--one-core", action="store_true", help="one worker each, and the processor's time")
    parser.add_argument("--turns", type=int, default=15, help="how often each is measured (15)")
    parser.add_argument("--markdown", help="write the table into this file, too")
    parser.add_argument("--picture", help="draw the ratios into this file (needs matplotlib)")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of grids that are too small to fill a GPU
    os.environ["CUJIT_DEVICE"] = "cpu"
    if options.one_core:
        os.environ["CUJIT_CPU_THREADS"] = os.environ["NUMBA_NUM_THREADS"] = "1"

    import collection  # noqa: F401
    from collection.tables import Table
    from cujit import __version__, cuda

    numba = installed_numba()
    cores = "one worker each, CPU time" if options.one_core else f"{len(os.sched_getaffinity(0))} CPUs"
    place = f"cujit {__version__}{', numba ' + numba.__version__ if numba else ''}, NumPy {np.__version__}, " \
            f"Python {platform.python_version()}; {platform.machine()}, {cores}"
    table = Table(place, ["", "cujit, ms", "same", "numba parallel, ms", "same", "numba / cujit"], ["cujit / numba"],
                  WORST)
    clock = time.process_time if options.one_core else time.perf_counter
    table.fill(options.only, lambda entry: row(entry, cuda, numba, clock, options.turns))
    table.write(options.markdown, options.picture)


if __name__ == "__main__":
    main()
