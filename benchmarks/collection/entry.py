"""What a kernel of the collection is: a class below Entry, never made an instance of; its functions have no self.

The same algorithm stands there twice, with the same work for each thread: as Python that runs unchanged with
cujit.cuda and numba.cuda, and as CUDA C whose kernel has the Python function's name. Nothing is tuned for one compiler:
indices are int in C and what the library makes of them in Python."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

ENTRIES = []


@dataclass
class Problem:
    """One launch: the kernel's arguments as host arrays and NumPy scalars, in order."""

    arguments: list
    grid: tuple
    block: tuple
    extents: tuple = ()     # what CUDA C has as parameters behind them: extents and strides
    views: dict = field(default_factory=dict)   # by place: the index that makes the argument of the array on the device
    outputs: tuple = (-1,)  # the places of the arrays that are compared


class Entry:
    name: str
    c: str                  # CUDA C
    gpu: int                # what problem() takes: a size that fills a GPU, one of milliseconds on the CPU device, and
    cpu: int = None         # one for tests, which the CPU device has where no other is given
    small: int
    tolerance = 0.0         # relative to the value and to the largest; 0: the same bits
    mismatches = 0.0        # the share of items that may be outside of it, where rounding decides a branch
    loops: Callable = None  # numba -> the function with the kernel's arguments for numba's `parallel`

    def __init_subclass__(cls):
        cls.cpu = cls.cpu or cls.small
        ENTRIES.append(cls)

    @classmethod
    def c_name(cls):
        """The name of the kernel, in CUDA C and in Python."""
        return re.search(r"__global__ void (\w+)", cls.c).group(1)

    def problem(size, random):
        """The Problem of that size; random: a numpy.random.Generator."""
        raise NotImplementedError

    def kernel(cuda):
        """The Python function."""
        raise NotImplementedError

    def reference(*arguments):
        """By NumPy or plain Python: the output, or a list of them."""
        raise NotImplementedError


def loops_of(entry):
    """Marks a function as the entry's `loops`, where the entry has none beside its kernel."""

    def attach(loops):
        entry.loops = loops
        return loops

    return attach


def blocks(items, block=256):
    """The grid for so many items."""
    return (-(-items // block),)


def tiles(width, height, block=(32, 8)):
    return (-(-width // block[0]), -(-height // block[1]))


def uniform(random, *shape, low=0.0, high=1.0, dtype=np.float32, distinct=1 << 22):
    """Numbers between low and high; only so many are drawn, since drawing takes longer than the kernels."""
    count = int(np.prod(shape))
    drawn = (low + (high - low) * random.random(min(count, distinct))).astype(dtype)
    return np.resize(drawn, shape)


def integers(random, low, high, *shape, dtype=np.int32, distinct=1 << 22):
    """Integers from low to high - 1, likewise."""
    return np.resize(random.integers(low, high, min(int(np.prod(shape)), distinct)).astype(dtype), shape)


def agree(entry, result, expected):
    """Whether an output is the expected one, within what the entry allows."""
    result, expected = np.asarray(result), np.asarray(expected)
    if expected.dtype.kind == "V" or result.dtype.kind == "V":  # records, of which CuPy has the bytes
        kind = result.dtype if result.dtype.kind == "V" else expected.dtype
        pairs = [each.view(kind).reshape(-1) for each in (result, expected)]
        return all(agree(entry, *(each[name] for each in pairs)) for name in kind.names)
    if not entry.tolerance:
        different = np.count_nonzero(result != expected)
    else:
        if result.dtype == np.float16:
            result, expected = result.astype(np.float32), expected.astype(np.float32)
        allowed = entry.tolerance * (np.abs(expected) + np.abs(expected).max(initial=0))
        different = np.count_nonzero(~(np.abs(result - expected) <= allowed))
    return different <= entry.mismatches * expected.size
