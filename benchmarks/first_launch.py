"""What a first launch takes, by steps: python benchmarks/first_launch.py [--times N] [--only WORDS]

For each kernel the milliseconds of the first launch of a decorated function, nothing in any cache, and of what cujit's
log says it consists of: frontend, codegen (LLVM) and load (the driver's compiler on a GPU); of the same with
quick_start=True, by the clock; and of the first launch in
another process that finds the kernel on disk. The least of N (7) by the clock, and by the CPU time of the process,
which is what to compare on a machine that does other work. Processes are measured that do not import logging, as a log
takes longer than all else there; what it says of the load is another process's. Python's modules are compiled."""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
import warnings

import kernels
import numpy as np


def waves(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = math.sin(x[i]) * math.exp(-x[i])


def circle(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = math.sin(x[i]) + math.cos(x[i])


def cases():
    """name -> (function, grid, block, arguments)"""
    def array(*shape, dtype=np.float32):
        return cuda.to_device(np.ones(shape, dtype))

    lines, squares = ((4,), (256,)), ((2, 2), (kernels.TILE, kernels.TILE))
    return {
        "saxpy, float32": (kernels.saxpy_function(cuda), *lines, (2.0, *(array(1024) for _ in range(3)))),
        "sin * exp, float32": (waves, *lines, (array(1024), array(1024))),
        "sin * exp, float64": (waves, *lines, [array(1024, dtype=np.float64) for _ in range(2)]),
        "sin + cos, float64": (circle, *lines, [array(1024, dtype=np.float64) for _ in range(2)]),
        "product of tiles of 32 x 32": (kernels.matmul_function(cuda), *squares, [array(64, 64) for _ in range(3)]),
    }


def first_launch(case, steps=None, **options):
    function, grid, block, arguments = case
    kernel = cuda.jit(**options)(function)
    launcher = kernel[grid, block]
    clock, processor = time.perf_counter(), time.process_time()
    launcher(*arguments)
    cuda.synchronize()
    taken = {"clock": time.perf_counter() - clock, "CPU": time.process_time() - processor}
    while kernel.stats.replaced != kernel.stats.quick_starts:
        time.sleep(0.001)
    return taken | steps.last if steps else taken


def listen():
    import logging

    class Steps(logging.Handler):
        last = {}

        def emit(self, record):
            self.last = dict(getattr(record, "steps", {}), from_disk=getattr(record, "from_disk", False))

    steps, logger = Steps(), logging.getLogger("cujit")
    logger.addHandler(steps)
    logger.setLevel(logging.INFO)
    return steps


def child(name, folder, *words):
    """The first launch of a process, as JSON; the context is up and nothing else was launched."""
    environment = dict(os.environ, CUJIT_CACHE="1", CUJIT_CACHE_DIR=folder, CUDA_CACHE_DISABLE="0",
                       CUDA_CACHE_PATH=os.path.join(folder, "driver"), PYTHONPYCACHEPREFIX=os.path.join(folder, "pyc"))
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    answer = subprocess.run([sys.executable, __file__, "--child", name, *words], env=environment, check=True, text=True,
                            capture_output=True)
    return json.loads(answer.stdout)


def from_disk(name, times):
    """What `times` processes take that find the kernel on disk, and what others say of it that have a log."""
    with tempfile.TemporaryDirectory() as folder:
        child(name, folder, "--log")
        told = [child(name, folder, "--log") for _ in range(times)]
        assert all(each["from_disk"] for each in told)
        return [child(name, folder) for _ in range(times)], told


def least(found, key):
    return min(each[key] for each in found) * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=7, help="how often each is measured (7)")
    parser.add_argument("--only", default="", help="kernels that have one of these words in their name")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--log", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.child:
        os.environ["CUJIT_CACHE"], os.environ["CUDA_CACHE_DISABLE"] = "0", "1"
    warnings.simplefilter("ignore")  # of grids that are too small to fill a GPU
    global cuda
    from cujit import cuda

    every = cases()
    cuda.synchronize()
    steps = listen() if options.log or not options.child else None
    if options.child:
        print(json.dumps(first_launch(every[options.child], steps)))
        assert steps or "logging" not in sys.modules
        return
    first_launch(every["saxpy, float32"], steps)  # what only the first kernel of a process pays
    print(f"{cuda.get_current_device().name}; milliseconds, the least of {options.times}\n")
    columns = ["first launch", "CPU time", "frontend", "codegen", "load", "quick start", "from disk, another process",
               "CPU time", "load"]
    print(f"| kernel | {' | '.join(columns)} |")
    print("|---|" + len(columns) * "---:|")
    for name, case in every.items():
        if not any(word in name for word in options.only.split(",")):
            continue
        found = [first_launch(case, steps) for _ in range(options.times)]
        quick = [first_launch(case, steps, quick_start=True) for _ in range(options.times)]
        later, told = from_disk(name, options.times)
        cells = [least(found, key) for key in ("clock", "CPU", "frontend", "codegen", "load")]
        cells += [least(quick, "clock"), least(later, "clock"), least(later, "CPU"), least(told, "load")]
        print(f"| {name} | {' | '.join(f'{cell:.2f}' for cell in cells)} |", flush=True)


if __name__ == "__main__":
    main()
