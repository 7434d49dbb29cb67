"""What check mode costs: the kernels of cpu_device.py, gathers, and sums and products of integers from memory, with
each word beside the same launch without.

    python benchmarks/check_cost.py [WORD...] [--share N] [--markdown]

On the device in use (CUJIT_DEVICE=cpu, cuda). WORD: of `check=`; those that the device has, where none is given.
Launches with and without alternate; each number is the least time with the word over the least time without. Words
that watch each access take a launch of a 1/N of the blocks, 64 if nothing is said."""

import argparse
import math
import time

import cpu_cases
import numpy as np
from timing import print_markdown, print_table

from cujit import cuda

WATCHING = ("race", "init", "barrier")
WORDS = ("bounds", "overflow", "barrier", "init", "race")


def gather(x, places, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[places[i]]


def gathers():
    n = 1 << 20
    x, places = np.random.default_rng(3).random(n), np.arange(n)
    for order, at in (("order", places), ("random", np.random.default_rng(4).permutation(n))):
        yield cpu_cases.Case(f"out[i] = x[places[i]], 2^20, in {order}", gather, (x, at, np.zeros(n)), (n // 256,),
                             (256,), None, None, False)


def add_in_place(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


def products(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] * y[i]


def row_sums(a, out):
    i = cuda.grid(1)
    if i < a.shape[0]:
        total = 0
        for k in range(a.shape[1]):
            total += a[i, k]
        out[i] = total


def integers():
    """Within a processor's caches: what they cost is not hidden behind memory."""
    n = 1 << 18
    x, y = np.random.default_rng(5).integers(-1000, 1000, (2, n))
    for text, kernel, arguments, threads in (
        ("x[i] += 1, 2^18, int64", add_in_place, (x,), n),
        ("out[i] = x[i] * y[i], 2^18, int64", products, (x, y, np.zeros_like(x)), n),
        ("sums of rows, 512 x 512, int64", row_sums, (x.reshape(512, 512), np.zeros(512, np.int64)), 512),
    ):
        yield cpu_cases.Case(text, kernel, arguments, (threads // 256,), (256,), None, None, False)


def least_seconds(launchers, finish, seconds=0.6):
    """Of each launcher, alternately for about so long in all."""
    least = [math.inf] * len(launchers)
    until = time.perf_counter() + seconds
    rounds = 0
    while rounds < 3 or time.perf_counter() < until:
        for place, launch in enumerate(launchers):
            start = time.perf_counter()
            launch()
            finish()
            least[place] = min(least[place], time.perf_counter() - start)
        rounds += 1
    return least


def ratio(case, word, share):
    """The least time with the word over that without."""
    fewer = share if word in WATCHING else 1
    grid = (max(1, case.grid[0] // fewer), *case.grid[1:])
    arguments = [cuda.to_device(item) if isinstance(item, np.ndarray) else item for item in case.arguments]
    launchers = [cuda.jit(check=check)(case.function)[grid, case.block] for check in (word, False)]
    for launch in launchers:
        launch(*arguments)
    cuda.synchronize()
    with_word, without = least_seconds([lambda f=f: f(*arguments) for f in launchers], cuda.synchronize)
    return with_word / without


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--share", type=int, default=64)
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    device = cuda.get_current_device()
    words = options.words or WORDS
    cpu_cases.cuda = cuda
    rows = [[case.name, *(ratio(case, word, options.share) for word in words)]
            for cases in (cpu_cases.all_cases(), gathers(), integers()) for case in cases]
    print_all = print_markdown if options.markdown else print_table
    print_all(f"{device.name}: time with a check over time without", ["", *words], rows)


if __name__ == "__main__":
    main()
