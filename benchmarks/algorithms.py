"""Algorithms that take functions, beside CuPy: milliseconds on the device in use, one row for each algorithm.

Usage: algorithms.py [LOG2_OF_ELEMENTS] [WORD ...]. Prints a table, of words the rows with one of them in their names;
CuPy's column is there where CuPy and a GPU are. The first column of numbers is the time that the bytes which have to be
moved take at the rate of a copy.
"""
import sys

import numpy as np
import timing

from cujit import cuda

LOG2 = int(sys.argv[1]) if len(sys.argv) > 1 else 27
WORDS = sys.argv[2:] or [""]


def cupy_or_none():
    try:
        import cupy
    except ImportError:
        return None
    return cupy if cuda.get_current_device().kind == "cuda" else None


def rows(cp, n):
    """(name, bytes moved, cujit's call, CuPy's or None) of each algorithm."""
    rng = np.random.default_rng(1)
    x, y = (cuda.to_device(a) for a in rng.random((2, n), np.float32))
    z, keys = (cuda.to_device(rng.random(n, np.float32)) for _ in range(2))
    out = cuda.device_array(n, np.float32)
    side = 1 << (LOG2 // 2)
    matrix = x.reshape(n // side, side)
    c = None
    if cp:
        c = {name: cp.asarray(a) for name, a in (("x", x), ("y", y), ("z", z), ("out", out), ("matrix", matrix))}
        squared = cp.ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", "squared_diff")
        fused = cp.fuse(kernel_name="fused")(lambda x, y, z: cp.sin(x) + cp.cos(y) / cp.sqrt(z))
        norm = cp.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm_of")

    def by(call):
        return (lambda: call(cp, c)) if cp else None

    own_squared = cuda.elementwise(lambda x, y: (x - y) * (x - y))
    own_fused = cuda.fuse(lambda x, y, z: np.sin(x) + np.cos(y) / np.sqrt(z))
    own_norm = cuda.reduction(lambda x: x * x, lambda a, b: a + b, lambda a: a ** 0.5, 0.0)
    total, result = cuda.reduce(lambda a, b: a + b), cuda.device_array(1, np.float32)
    yield "elementwise (x - y)^2", 12 * n, lambda: own_squared(x, y, out=out), by(
        lambda cp, c: squared(c["x"], c["y"], c["out"]))
    yield "fuse sin(x) + cos(y) / sqrt(z)", 16 * n, lambda: own_fused(x, y, z, out=out), by(
        lambda cp, c: fused(c["x"], c["y"], c["z"]))
    yield "the same, not fused", 16 * n, None, by(
        lambda cp, c: cp.sin(c["x"]) + cp.cos(c["y"]) / cp.sqrt(c["z"]))
    yield "reduce, all", 4 * n, lambda: total(x, res=result), by(lambda cp, c: c["x"].sum())
    yield "reduce, rows", 4 * n, lambda: cuda.reduce("a + b", matrix, axis=1), by(lambda cp, c: c["matrix"].sum(1))
    yield "reduce, columns", 4 * n, lambda: cuda.reduce("a + b", matrix, axis=0), by(lambda cp, c: c["matrix"].sum(0))
    yield "reduction norm, all", 4 * n, lambda: own_norm(x), by(lambda cp, c: norm(c["x"]))
    yield "reduction norm, rows", 4 * n, lambda: own_norm(matrix, axis=1), by(lambda cp, c: norm(c["matrix"], axis=1))
    yield "scan", 8 * n, lambda: cuda.scan("a + b", x, out=out), by(lambda cp, c: cp.cumsum(c["x"], out=c["out"]))
    yield "filter x > 0.5", 6 * n, lambda: cuda.filter("x > 0.5", x), by(lambda cp, c: c["x"][c["x"] > 0.5])
    yield "sort", 8 * n, lambda: cuda.sort(x), by(lambda cp, c: cp.sort(c["x"]))
    yield "argsort", 12 * n, lambda: cuda.argsort(x), by(lambda cp, c: cp.argsort(c["x"]))
    yield "top_k, 100", 4 * n, lambda: cuda.top_k(x, 100), by(lambda cp, c: cp.argpartition(c["x"], -100)[-100:])
    few = cuda.to_device(rng.integers(0, 1000, n).astype(np.int32))
    numbers = cp.asarray(few) if cp else None
    yield "unique, 1000 of int32", 4 * n, lambda: cuda.unique(few), by(lambda cp, c: cp.unique(numbers))
    yield "histogram, 256 bins", 4 * n, lambda: cuda.histogram(x, 256, (0, 1)), by(
        lambda cp, c: cp.histogram(c["x"], 256, (0, 1)))
    offsets = cuda.to_device(np.arange(0, n + 1, 1000))
    yield "segmented_reduce, 1000 each", 4 * n, lambda: cuda.segmented_reduce("a + b", x, offsets, 0.0), by(
        lambda cp, c: cp.add.reduceat(c["x"], cp.asarray(offsets)[:-1]) if hasattr(cp.add, "reduceat") else None)
    yield "argmax", 4 * n, lambda: x.argmax(), by(lambda cp, c: c["x"].argmax())
    yield "std, rows", 8 * n, lambda: matrix.std(1), by(lambda cp, c: c["matrix"].std(1))
    for dtype in np.int8, np.float16, np.int32, np.float64, np.complex64:
        typed = x.astype(dtype)
        theirs = cp.asarray(typed) if cp else None
        for axis, what in (None, "all"), (1, "rows"), (0, "columns"):
            own = typed if axis is None else typed.reshape(n // side, side)
            other = theirs if axis is None or not cp else theirs.reshape(n // side, side)
            yield f"sum of {np.dtype(dtype)}, {what}", typed.nbytes, lambda own=own, axis=axis: own.sum(axis), by(
                lambda cp, c, other=other, axis=axis: other.sum(axis))


def milliseconds(call, synchronize):
    return "-" if call is None else f"{timing.median_seconds(call, synchronize, 5) * 1e3:.3f}"


def main():
    cp = cupy_or_none()
    n = 1 << LOG2
    source, target = (cuda.device_array(n, np.float32) for _ in range(2))
    rate = 8 * n / timing.median_seconds(lambda: target.copy_to_device(source), cuda.synchronize, 5)
    print(f"{cuda.get_current_device().name}, 2^{LOG2} float32, milliseconds; a copy moves {rate / 1e9:.0f} GB/s\n")
    print("| | floor | cujit | CuPy |\n|---|---:|---:|---:|")
    for name, moved, own, others in rows(cp, n):
        if not any(word in name for word in WORDS):
            continue
        theirs = milliseconds(others, lambda: cp.cuda.Device().synchronize())
        print(f"| {name} | {moved / rate * 1e3:.3f} | {milliseconds(own, cuda.synchronize)} | {theirs} |", flush=True)


if __name__ == "__main__":
    main()
