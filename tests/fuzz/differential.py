"""Runs a program as a kernel and in CPython, and compares every bit of what they write."""
import math
import random
import warnings

import numpy as np
import reference
import typed_values as tv
from expressions import INPUTS
from grammar import GROUPS, OUTPUTS

import cujit
from cujit import cuda

warnings.simplefilter("ignore")
EDGES = {
    "bool": [False, True],
    "float32": [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -3.5, 100.25, 1e10, -1e30, 3.4e38, 1e-40, math.inf, -math.inf,
                math.nan, 16777216.0, 0.1],
    "float64": [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -3.5, 100.25, 1e10, -1e300, 1.7e308, 5e-324, math.inf,
                -math.inf, math.nan, 9007199254740993.0, 0.1],
}
for _kind, _bits in tv.SIGNED.items():
    EDGES[_kind] = [0, 1, -1, 2, 3, -3, 5, 7, 10, -10, 100, 2 ** (_bits - 1) - 1, -(2 ** (_bits - 1)), 2 ** (_bits - 2)]
for _kind, _bits in tv.UNSIGNED.items():
    EDGES[_kind] = [0, 1, 2, 3, 5, 7, 10, 100, 2 ** _bits - 1, 2 ** (_bits - 1), 2 ** (_bits - 1) - 1]


def number(rng, kind):
    """A number of the type: an edge, a small one, or any."""
    if kind in tv.PARTS:
        return complex(number(rng, tv.PARTS[kind]), number(rng, tv.PARTS[kind]))
    roll = rng.random()
    if kind == "bool" or roll < 0.35:
        return rng.choice(EDGES[kind])
    if kind in tv.FLOATS:
        return rng.choice([rng.uniform(-4, 4), rng.gauss(0, 1e3), float(rng.randrange(-9, 10)),
                           rng.uniform(-1e18, 1e18)])
    if roll < 0.8:
        return rng.randrange(10) if kind in tv.UNSIGNED else rng.randrange(-10, 11)
    return tv.wrap(kind, rng.getrandbits(64))


def make_arguments(program):
    """Inputs, scalars and outputs, from the program's seed."""
    rng = random.Random(program.seed + 1)
    inputs = [np.array([[number(rng, kind) for _ in range(INPUTS)] for _ in range(program.threads)], kind)
              for kind in program.kinds]
    scalars = [np.dtype(kind).type(number(rng, kind)) for kind in program.scalars]
    outputs = [np.zeros((program.threads, OUTPUTS), kind) for kind in GROUPS]
    return [*inputs, *scalars, *outputs, np.zeros(8, np.int64)]


def compile_kernel(text, **options):
    namespace = {"cuda": cuda, "math": math, **{kind: getattr(cujit, kind) for kind in tv.SCALARS if kind != "bool"}}
    exec(compile(text, "<program>", "exec"), namespace)
    return cuda.jit(namespace["kernel"], fmad=False, **options)


def same(a, b):
    """Equal bits; any NaN is equal to any other."""
    if a.dtype.kind == "c":
        return same(a.real.copy(), b.real.copy()) & same(a.imag.copy(), b.imag.copy())
    if a.dtype.kind != "f":
        return a == b
    bits = f"u{a.dtype.itemsize}"
    return (a.view(bits) == b.view(bits)) | (np.isnan(a) & np.isnan(b))


def check(program):
    """None, or what is wrong; and how many of the threads were compared."""
    given, expected = make_arguments(program), make_arguments(program)
    specified = reference.run(program.text, expected, program.threads, program.block_size, program.has_barriers)
    kernel = compile_kernel(reference.kernel_text(program.text))
    kernel[program.threads // program.block_size, program.block_size](*given)
    first = len(program.kinds) + len(program.scalars)
    names = [*GROUPS.values(), "total"]
    for name, ours, theirs in zip(names, given[first:], expected[first:], strict=True):
        if name == "total":
            equal = same(ours, theirs) if all(specified) else np.ones(8, bool)
        else:
            equal = same(ours, theirs) | ~np.array(specified)[:, None]
        if not equal.all():
            place = tuple(int(i) for i in np.argwhere(~equal)[0])
            return f"{name}{list(place)}: kernel {ours[place]!r}, CPython {theirs[place]!r}", sum(specified)
    return None, sum(specified)
