"""The price of an Asian option by simulated paths, on any number of devices: an all-reduce of sums.

    python examples/monte_carlo.py                                   all devices of this process (CUJIT_CPU_DEVICES=4)
    python examples/monte_carlo.py --engine dask --ranks 4           or ray
    mpiexec -n 4 python examples/monte_carlo.py --engine mpi
    torchrun --nproc-per-node 4 examples/monte_carlo.py --engine torchrun

The paths are divided into parts, whatever the number of devices is. A thread adds up the paths of a part, and each
part's sum has a place of its own in the array that is all-reduced: nothing is rounded there, so the price is the same
to the bit.
"""
import math
import time

import numpy as np
import ranks

from cujit import cuda
from cujit.cuda.random import philox_normal_float64x2

SPOT, STRIKE, RATE, VOLATILITY, YEARS, DAYS = 100.0, 100.0, 0.03, 0.2, 1.0, 64


@cuda.jit
def simulate(sums, first, last, paths, seed):
    part = first + cuda.grid(1)
    if part < last:
        drift = (RATE - 0.5 * VOLATILITY * VOLATILITY) * YEARS / DAYS
        noise = VOLATILITY * math.sqrt(YEARS / DAYS)
        total = 0.0
        for path in range(paths):
            price, mean = SPOT, 0.0
            for pair in range(DAYS // 2):
                a, b = philox_normal_float64x2(seed, part * paths + path, pair)
                price *= math.exp(drift + noise * a)
                mean += price
                price *= math.exp(drift + noise * b)
                mean += price
            total += max(mean / DAYS - STRIKE, 0.0)
        sums[part] = total


def price(comm, parts, paths):
    """(seconds, price) of so many parts of so many paths each."""
    first, last = (parts * rank // comm.size for rank in (comm.rank, comm.rank + 1))
    sums = cuda.to_device(np.zeros(parts))
    simulate.forall(last - first)(sums, first, last, 0, 2026)   # compiled and loaded
    comm.all_reduce(sums)
    comm.synchronize()
    comm.barrier()
    start = time.perf_counter()
    simulate.forall(last - first)(sums, first, last, paths, 2026)
    comm.all_reduce(sums)
    comm.synchronize()
    seconds = time.perf_counter() - start
    mean = sums.copy_to_host().sum() / (parts * paths)
    return seconds, float(mean * math.exp(-RATE * YEARS)).hex()


if __name__ == "__main__":
    ranks.main(__doc__.splitlines()[0], price, {
        "parts": (4096, "of the paths, or, with --weak, of each rank's"), "paths": (64, "of each part")},
        lambda share, arguments: (arguments.parts * share, arguments.paths))
