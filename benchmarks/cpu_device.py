"""cujit's CPU device beside NumPy, numba's `parallel` and numba's CUDA simulator, measured in one run.

    python benchmarks/cpu_device.py [--only WORDS] [--no-simulator] [--markdown]

Medians over repeats. The simulator is an interpreter: it runs in a process of its own and only a few blocks of each
kernel; its times are those of these blocks times the number of such parts in the whole launch, so they are estimates.
Peers that are not installed are skipped, and said to be."""

import argparse
import json
import os
import platform
import subprocess
import sys
import time

import cpu_cases
import numpy as np
from timing import median_seconds, print_markdown, print_table

os.environ["CUJIT_DEVICE"] = "cpu"


def selected(only):
    return [case for case in cpu_cases.all_cases() if any(word in case.name for word in only.split(","))]


# --- measuring --------------------------------------------------------------------------------------------------------


def agrees(case, result, expected):
    if result.dtype.kind == "i":
        return np.mean(result != expected) <= case.tolerance
    return np.allclose(result, expected, rtol=case.tolerance)


def milliseconds(run, finish=lambda: None):
    return median_seconds(run, finish, repeats=7) * 1e3


def device_arguments(cuda, arguments):
    return [cuda.to_device(item) if isinstance(item, np.ndarray) else item for item in arguments]


def check(case, who, result, expected):
    if not agrees(case, result, expected):
        print(f"{who} computes another {case.name} than NumPy")


def measure_device(case, cuda, expected):
    arguments = device_arguments(cuda, case.arguments)
    launcher = cuda.jit(case.function)[case.grid, case.block]
    launcher(*arguments)
    check(case, "cujit", arguments[-1].copy_to_host(), expected)
    return milliseconds(lambda: launcher(*arguments), cuda.synchronize)


def measure_loops(case, numba, expected):
    compiled = numba.njit(parallel=True)(case.loops(numba))
    arguments = [np.zeros_like(item) if item is case.arguments[-1] else item for item in case.arguments]
    compiled(*arguments)
    check(case, "numba", arguments[-1], expected)
    return milliseconds(lambda: compiled(*arguments))


# --- numba's simulator, in a process of its own -----------------------------------------------------------------------


def simulate(only):
    """Prints a line of JSON for each case: its name and the estimated milliseconds of the whole launch, or null."""
    import peers

    peers.prepare("numba-cuda")
    from numba import cuda

    cpu_cases.cuda = cuda
    for case in selected(only):
        arguments, grid, times = case.in_simulator()
        arguments = device_arguments(cuda, arguments)
        launcher = cuda.jit(case.function)[grid, case.block]
        start = time.perf_counter()
        try:
            launcher(*arguments)
            ms = (time.perf_counter() - start) * 1e3 * times
        except AttributeError:  # what the simulator does not have
            ms = None
        print(json.dumps([case.name, ms]), flush=True)


def simulated_times(only):
    """By name; None when there is no simulator."""
    command = [sys.executable, __file__, "--simulate", "--only", only]
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no reason given"]
        print(f"skipped: numba's CUDA simulator: {lines[-1]}")
        return None
    return dict(json.loads(line) for line in done.stdout.splitlines())


# --- the table --------------------------------------------------------------------------------------------------------


def import_numba():
    try:
        import numba
    except ImportError as error:
        print(f"skipped: numba parallel: {error}")
        return None
    return numba


def ratio(a, b):
    return a / b if a and b else None


def row(case, cuda, numba, simulated):
    expected = case.numpy_form(*case.arguments[:-1])
    ours = measure_device(case, cuda, expected)
    arrays = milliseconds(lambda: case.numpy_form(*case.arguments[:-1]))
    loops = measure_loops(case, numba, expected) if numba else None
    interpreted = simulated.get(case.name) if simulated else None
    return [case.name, ours, arrays, loops, ratio(loops, ours), interpreted, ratio(interpreted, ours)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="cases that have one of these words in their name")
    parser.add_argument("--no-simulator", action="store_true", help="it takes a minute or more")
    parser.add_argument("--markdown", action="store_true", help="the table as Markdown")
    parser.add_argument("--simulate", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.simulate:
        simulate(options.only)
        return
    from cujit import __version__, cuda

    cpu_cases.cuda = cuda
    numba = import_numba()
    print(f"cujit {__version__}, NumPy {np.__version__}{', numba ' + numba.__version__ if numba else ''}, "
          f"Python {platform.python_version()}; {platform.machine()}, {len(os.sched_getaffinity(0))} CPUs")
    simulated = None if options.no_simulator else simulated_times(options.only)
    rows = [row(case, cuda, numba, simulated) for case in selected(options.only)]
    header = ["", "cujit, ms", "NumPy, ms", "numba parallel, ms", "numba / cujit", "simulator, ms (estimate)",
              "simulator / cujit"]
    show = print_markdown if options.markdown else print_table
    show("The CPU device", header, rows)


if __name__ == "__main__":
    main()
