"""Runs the examples on the best device there is, and shows the code that one of them became."""
import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import mandelbrot
import saxpy
import tiled_matmul
import ufunc

from cujit import cuda, errors, float32

SAXPY_TYPES = (float32, float32[::1], float32[::1], float32[::1])


def timed(function):
    start = time.perf_counter()
    note = function()
    return note, (time.perf_counter() - start) * 1e3


def run(module):
    """One example, the first time with compiling, the second without. Whether its results were right."""
    name = module.__name__
    try:
        note, first = timed(module.main)
        _, second = timed(module.main)
    except Exception as error:
        print(f"  {name:14} failed: {type(error).__name__}: {error}")
        return False
    print(f"  {name:14} first call {first:8.1f} ms   second {second:8.1f} ms   right   {note}")
    return True


def show_code(sm, ptx, lines=16):
    print(f"\nsaxpy as PTX for sm_{sm}:")
    body = [line for line in ptx.splitlines() if line.strip() and not line.startswith("//")]
    print("\n".join(f"    {line.expandtabs(4)}" for line in body[:lines]))
    print(f"    ... {max(len(body) - lines, 0)} more lines")


def main():
    warnings.simplefilter("ignore", errors.PerformanceWarning)
    device = cuda.get_current_device()
    kind = "GPU, compute capability {}.{}".format(*device.compute_capability) if device.kind == "cuda" else "CPU device"
    print(f"{device.name} ({kind})")
    failures = sum(not run(module) for module in (saxpy, mandelbrot, tiled_matmul, ufunc))
    major, minor = device.compute_capability if device.kind == "cuda" else (9, 0)
    ptx, _ = cuda.compile_ptx(saxpy.saxpy, SAXPY_TYPES, cc=(major, minor))
    show_code(major * 10 + minor, ptx)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
