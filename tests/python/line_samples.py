"""Kernels of many constructs, for test_coverage.py: the same file runs on the CPU device and, with a stand-in for
`cuda`, as plain Python, thread by thread. Which of them runs is the first argument."""
import sys

import numpy as np

if sys.argv[1] == "python":
    class cuda:
        index = 0

        @staticmethod
        def jit(function=None, **options):
            return function if function else lambda real: real

        @staticmethod
        def grid(axes):
            return cuda.index

        class local:
            @staticmethod
            def array(shape, dtype):
                return np.zeros(shape, dtype)

        class shared(local):
            pass

        class atomic:
            @staticmethod
            def add(target, place, value):
                target[place] += value

        @staticmethod
        def syncthreads():
            pass
else:
    from cujit import cuda

DEBUG = False
LIMIT = 3


@cuda.jit
def early_return(x, out):
    i = cuda.grid(1)
    if i >= out.size:
        return
    out[i] = x[i]


@cuda.jit
def chain(x, out):
    i = cuda.grid(1)
    if i < out.size:
        if x[i] < 2:
            out[i] = 1
        elif x[i] < 5:
            out[i] = 2
        elif x[i] < 0:
            out[i] = 3
        else:
            out[i] = 4


@cuda.jit
def constants(x, out):
    i = cuda.grid(1)
    if DEBUG:
        out[0] = 7
        out[1] = 8
    if not DEBUG:
        out[i % out.size] = LIMIT
    else:
        out[0] = 9
    if LIMIT > 5:
        return
    for k in range(LIMIT - 3):
        out[0] = 1
    while DEBUG:
        out[0] = 2


@cuda.jit
def loops(x, out):
    i = cuda.grid(1)
    if i >= out.size:
        return
    total = 0.0
    for k in range(4):
        if k == i:
            continue
        if k > 6:
            break
        total += k
    else:
        total += 100
    for k in range(i):
        if k == 2:
            break
    else:
        total -= 1
    out[i] = total


@cuda.jit
def loops_around_loops(x, out):
    i = cuda.grid(1)
    if i >= out.size:
        return
    total = 0
    for a in range(3):
        for b in range(a):
            if (a + b + i) % 2:
                total += 1
                continue
            total += 2
        if total > 90:
            pass
        elif total == 1:
            break
    out[i] = total


@cuda.jit
def while_loops(x, out):
    i = cuda.grid(1)
    if i >= out.size:
        return
    n = i
    while n > 1:
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
    while True:
        n += 1
        if n > 4:
            break
    while n > 100:
        n = 0
    else:
        n += 1
    out[i] = n


@cuda.jit
def several_lines(x, out):
    i = cuda.grid(1)
    if (i < out.size and
            x[i] > 2 or
            i == 0):
        out[i] = max(
            x[i],
            min(
                x[i] * 2,
                4.0,
            ),
        )
    elif i < out.size:
        value = (
            x[i]
            + 1
            if x[i] > 1
            else 0
        )
        out[i] = value


@cuda.jit
def conditions(x, out):
    i = cuda.grid(1)
    if i < out.size and x[i] > 3:
        out[i] = 1 if x[i] > 5 else 2
    if i < out.size and (x[i] < 1 or x[i] > 8 and i % 2 == 0):
        out[i] = 3
    ok = 0 < i < 5
    if not ok:
        return
    assert i < 100, "never"
    out[i] += ok


@cuda.jit(device=True)
def clamp(value, low, high):
    if value < low:
        return low
    if value > high:
        return high
    return value


@cuda.jit(device=True)
def never_called_with_more(value):
    if value > 1000:
        value = 0
    return value


@cuda.jit
def device_functions(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = clamp(x[i], 2, 5) + never_called_with_more(
            clamp(x[i], 0, 100))


@cuda.jit
def nested_functions(x, out):
    i = cuda.grid(1)
    count = 0

    def bump(by):
        nonlocal count
        if by > 50:
            by = 1
        count += by

    def twice(f, value):
        f(value)
        f(value)

    square = lambda v: v * v   # noqa: E731
    unused = lambda v: (       # noqa: E731
        v + 1)
    if i < out.size:
        twice(bump, i)
        out[i] = square(count)
    if i < 0:
        out[i] = unused(i)


def adder(by):
    def add(value):
        if by > 10:
            return value - by
        return value + by
    return add


add_two = adder(2)


@cuda.jit
def closures(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = add_two(x[i])


@cuda.jit(device=True)
def count_up(n):
    k = 0
    while k < n:
        if k == 3:
            yield 10
        yield k
        k += 1
    return


@cuda.jit(device=True)
def count_by_range(n):
    for k in range(n):
        yield k
        if k > 1:
            return


@cuda.jit
def generators(x, out):
    i = cuda.grid(1)
    if i >= out.size:
        return
    total = 0
    for item in count_up(i):
        total += item
    for item in count_by_range(i):
        if item > 5:
            break
        total += item
    total += sum(k * 2 for k in range(i) if k % 2)
    out[i] = total


@cuda.jit
def comprehensions(x, out):
    i = cuda.grid(1)
    if i >= out.size:
        return
    squares = [k * k for k in (1, 2, 3)]
    others = [
        k + squares[0]
        for k in squares
    ]
    total = 0
    for item in others:
        total += item
    out[i] = total


@cuda.jit
def matches(x, out):
    i = cuda.grid(1)
    if i >= out.size:
        return
    match i:
        case 0:
            out[i] = 1
        case 1 | 2:
            out[i] = 2
        case k if k > 100:
            out[i] = 3
        case _:
            out[i] = 4


@cuda.jit
def barriers(x, out):
    tile = cuda.shared.array(16, np.float64)
    i = cuda.grid(1)
    tile[i] = i
    cuda.syncthreads()
    for k in range(2):
        if i < 4:
            tile[i] += 1
        cuda.syncthreads()
    if i < out.size:
        cuda.atomic.add(out, i, tile[i])


@cuda.jit
def tuples(x, out):
    i = cuda.grid(1)
    for item in (1, 2.5, 3):
        if i < out.size:
            out[i] += item
    a, b = 1, (
        2)
    a += b


@cuda.jit
def raises(x, out):
    i = cuda.grid(1)
    if i == 3:
        raise ValueError(
            "three")
    if i < out.size:
        out[i] = 1


KERNELS = [early_return, chain, constants, loops, loops_around_loops, while_loops, several_lines, conditions,
           device_functions, nested_functions, closures, generators, comprehensions, matches, barriers, tuples, raises]


def run():
    for kernel in KERNELS:
        x, out = np.arange(10.0), np.zeros(10)
        if sys.argv[1] == "python":
            for index in range(16):
                cuda.index = index
                try:
                    kernel(x, out)
                except ValueError:
                    pass
        else:
            kernel[1, 16](x, out)


run()
