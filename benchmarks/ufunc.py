"""Functions over whole arrays beside CuPy, torch, numba-cuda and NumPy, on the device in use: dtypes, layouts, small
arrays, host arrays, calls.

Prints Markdown tables, each row as soon as it is measured; a library that is not installed, or that cannot do a row, or
whose time is up, has a dash. The floor is the time that the bytes which have to be moved take at the rate of a copy.
"""
import argparse
import functools
import importlib
import math
import sys
import time

import numpy as np
import timing
from peers import prepare

from cujit import cuda, guvectorize, vectorize

SLOW = ("NumPy", "numba-cuda")   # called a few times only
NUMPYS_PART = 32   # NumPy does so much less, and what it takes is multiplied


# --- libraries -------------------------------------------------------------------------------------------------------

class Own:
    """cujit; numba-cuda has the same calls. A part of all elements is computed."""

    name, part = "cujit", 1

    def __init__(self, namespace=cuda, ufuncs=(vectorize, guvectorize), options=None):
        self.cuda, (self.vectorize, self.guvectorize) = namespace, ufuncs
        self.options = options or {}
        self.made = {}

    def array(self, shape, dtype, order="C"):
        return self.cuda.device_array(shape, np.dtype(dtype), order=order)

    def add(self, dtype):
        t = str(np.dtype(dtype))

        def add(a, b):   # numba writes its name into source: no lambda
            return a + b

        return self._made(f"add {t}", lambda: self.vectorize([f"{t}({t}, {t})"], **self.options)(add))

    def dot(self):
        def dot(a, b, out):
            total = np.float32(0)
            for k in range(a.shape[0]):
                total += a[k] * b[k]
            out[0] = total

        return self._made("dot", lambda: self.guvectorize(["void(float32[:], float32[:], float32[:])"], "(n),(n)->()",
                                                          **self.options)(dot))

    def product(self):
        def product(a, b, out):
            for i in range(a.shape[0]):
                for j in range(b.shape[1]):
                    total = np.float32(0)
                    for k in range(a.shape[1]):
                        total += a[i, k] * b[k, j]
                    out[i, j] = total

        return self._made("product", lambda: self.guvectorize(
            ["void(float32[:, :], float32[:, :], float32[:, :])"], "(m,n),(n,p)->(m,p)", **self.options)(product))

    def _made(self, key, make):
        if key not in self.made:
            self.made[key] = make()
        return self.made[key]

    def call(self, function, x, y, out):
        return lambda: function(x, y, out=out)

    def small(self, function, x, y, out):
        return lambda: function(x, y)

    def finish(self):
        self.cuda.synchronize()

    def of_host(self, dtype):
        return self.add(dtype)


class Numba(Own):
    """It is given cujit's arrays by the CUDA array interface: to slice one of its own, it lists all in Python."""

    name = "numba-cuda"

    def __init__(self):
        prepare("numba-cuda")
        numba = importlib.import_module("numba")
        super().__init__(importlib.import_module("numba.cuda"), (numba.vectorize, numba.guvectorize),
                         {"target": "cuda"})
        if not self.cuda.is_available():
            raise ImportError("numba-cuda without a GPU")

    def array(self, shape, dtype, order="C"):
        return cuda.device_array(shape, np.dtype(dtype), order=order)

    def call(self, function, x, y, out):
        if out.ndim > 1 and not out.flags["C_CONTIGUOUS"]:
            raise NotImplementedError("the result would be that of a copy")
        return super().call(function, *map(self.cuda.as_cuda_array, (x, y, out)))

    def small(self, function, x, y, out):
        return super().small(function, *map(self.cuda.as_cuda_array, (x, y)), out)


class NumpyLike:
    """NumPy, and CuPy."""

    name, part = "NumPy", NUMPYS_PART

    def __init__(self, module=np):
        self.xp = module

    def array(self, shape, dtype, order="C"):
        return self.xp.ones(shape, dtype, order)

    def add(self, dtype):
        return self.xp.add

    def dot(self):
        return lambda a, b: self.xp.einsum("ij,ij->i", a, b)

    def product(self):
        return self.xp.matmul

    def call(self, function, x, y, out):
        return lambda: function(x, y, out=out)

    def small(self, function, x, y, out):
        return lambda: function(x, y)

    def finish(self):
        pass

    def of_host(self, dtype):
        return np.add


class Cupy(NumpyLike):
    name, part = "CuPy", 1

    def __init__(self):
        super().__init__(importlib.import_module("cupy"))
        self.xp.cuda.runtime.getDeviceCount()

    def finish(self):
        self.xp.cuda.runtime.deviceSynchronize()

    def dot(self):
        return lambda a, b: (a * b).sum(axis=1)

    def of_host(self, dtype):
        return lambda a, b: self.xp.asnumpy(self.xp.asarray(a) + self.xp.asarray(b))


class Torch:
    name, part = "torch", 1

    def __init__(self):
        self.torch = importlib.import_module("torch")
        if not self.torch.cuda.is_available():
            raise ImportError("torch without a GPU")

    def array(self, shape, dtype, order="C"):
        made = functools.partial(self.torch.ones, dtype=getattr(self.torch, str(np.dtype(dtype))), device="cuda")
        return made(shape[::-1]).T if order == "F" else made(shape)

    def add(self, dtype):
        return self.torch.add

    def dot(self):
        return self.torch.linalg.vecdot

    def product(self):
        return self.torch.matmul

    def call(self, function, x, y, out):
        return lambda: function(x, y, out=out)

    def small(self, function, x, y, out):
        return lambda: function(x, y)

    def finish(self):
        self.torch.cuda.synchronize()

    def of_host(self, dtype):
        t = self.torch
        return lambda a, b: (t.from_numpy(a).to("cuda") + t.from_numpy(b).to("cuda")).cpu().numpy()


def libraries(without):
    """Those that are here, cujit first, NumPy last."""
    found = [Own()]
    on_gpu = cuda.get_current_device().kind == "cuda"
    for library in (Cupy, Torch, Numba) if on_gpu else ():
        if library.name in without:
            continue
        try:
            found.append(library())
        except Exception as error:  # a broken installation is one that is not there
            print(f"skipped: {library.name}: {type(error).__name__}: {error}".splitlines()[0])
    return [*found, NumpyLike()]


class Budget:
    """The seconds that each library but cujit may still take, rows that it has begun not counted."""

    def __init__(self, seconds):
        self.seconds, self.left = seconds, {}

    def measured(self, library, measure):
        """What measure() returns; None where it raises, which is told, or where the library's time is up."""
        left = self.left.setdefault(library.name, math.inf if library.name == "cujit" else self.seconds)
        if left <= 0:
            return None
        start = time.perf_counter()
        try:
            return measure()
        except Exception as error:
            print(f"({library.name}: {type(error).__name__}: {str(error).splitlines()[0][:100]})", file=sys.stderr,
                  flush=True)
            return None
        finally:
            self.left[library.name] = left - (time.perf_counter() - start)


# --- the table -------------------------------------------------------------------------------------------------------

def sides(n):
    rows = 1 << (int(math.log2(n)) // 2)
    return rows, n // rows


def flat(library, dtype, n):
    x, y, out = (library.array(n, dtype) for _ in range(3))
    return x, y, out


def shifted(library, dtype, n):
    x, y, out = (library.array(n + 3, dtype) for _ in range(3))
    return x[1:n + 1], y[2:n + 2], out[3:n + 3]


def strided(library, dtype, n):
    x, y, out = (library.array(n, dtype) for _ in range(3))
    return x[::2], y[::2], out[::2]


def with_gaps(library, dtype, n):
    rows, columns = sides(n)
    x, y, out = (library.array((rows, columns), dtype) for _ in range(3))
    return x[:, :-64], y[:, 64:], out[:, :-64]


def and_row(library, dtype, n):
    shape = sides(n)
    return library.array(shape, dtype), library.array(shape[1], dtype), library.array(shape, dtype)


def and_column(library, dtype, n):
    shape = sides(n)
    return library.array(shape, dtype), library.array((shape[0], 1), dtype), library.array(shape, dtype)


def transposed(library, dtype, n):
    shape = sides(n)
    return library.array(shape, dtype), library.array(shape, dtype, "F"), library.array(shape, dtype)


def transposed_result(library, dtype, n):
    shape = sides(n)
    return library.array(shape, dtype), library.array(shape, dtype), library.array(shape, dtype, "F")


# (name, operands, how many arrays of all elements are moved, dtypes)
LAYOUTS = [
    ("a + b", flat, 3, ("float32", "float64", "float16", "int8", "complex64")),
    ("a + b, not aligned", shifted, 3, ("float32", "float64", "float16", "int8", "complex64")),
    ("a[::2] + b[::2]", strided, 3, ("float32", "float64", "float16", "int8", "complex64")),
    ("columns of matrices", with_gaps, 3, ("float32",)),
    ("matrix + row", and_row, 2, ("float32", "float64", "float16", "int8", "complex64")),
    ("matrix + column", and_column, 2, ("float32", "float64", "float16", "int8", "complex64")),
    ("transposed operand", transposed, 3, ("float32", "float64", "float16", "int8", "complex64")),
    ("transposed result", transposed_result, 3, ("float32",)),
]


def cases(n, only):
    """(name, bytes moved, what makes a library's call for so many elements) of rows with one of the words in them."""
    return (case for case in all_cases(n) if any(word in case[0] for word in only))


def all_cases(n):
    for name, operands, arrays, dtypes in LAYOUTS:
        for dtype in dtypes:
            def call(library, n, operands=operands, dtype=dtype):
                x, y, out = operands(library, dtype, n)
                return library.call(library.add(dtype), x, y, out)
            yield f"{name}, {dtype}", arrays * n * np.dtype(dtype).itemsize, call

    def dot(library, n):
        x, y = (library.array((n // 128, 128), "float32") for _ in range(2))
        return library.small(library.dot(), x, y, None)

    def product(library, n):
        x, y = (library.array((n // 64, 4, 4), "float32") for _ in range(2))
        return library.small(library.product(), x, y, None)

    yield "dot of rows of 128", 8 * n, dot
    yield f"4x4 products, 2^{int(math.log2(n)) - 6}", 3 * 16 * 4 * (n // 64), product


def milliseconds(library, make, n):
    """Of all n elements."""
    call = make(library, n // library.part)
    measured = timing.brief_seconds if library.name in SLOW else functools.partial(
        timing.median_seconds, repeats=5, least=0.01)
    return measured(call, library.finish) * library.part * 1e3


def layouts(found, n, only, budget):
    source, target = (cuda.device_array(n, np.float32) for _ in range(2))
    rate = 8 * n / timing.median_seconds(functools.partial(target.copy_to_device, source), cuda.synchronize, 5)
    del source, target
    parts = []

    def rows():
        for name, moved, make in cases(n, only):
            times = [budget.measured(library, functools.partial(milliseconds, library, make, n))
                     for library in found]
            floor = moved / rate * 1e3
            parts.append((name, [None if t is None else floor / t for t in times[:-1]]))
            yield [name, floor, times[0], None if times[0] is None else f"{floor / times[0]:.2f}", *times[1:]]

    header = ["", "floor", "cujit", "of the copy's rate", *(library.name for library in found[1:])]
    timing.print_markdown(f"{cuda.get_current_device().name}, 2^{int(math.log2(n))} elements, milliseconds; a copy "
                          f"moves {rate / 1e9:.0f} GB/s; NumPy {NUMPYS_PART} times a part", header, rows())
    return parts


def hosts(found, budget):
    timing.print_markdown("Arrays of the host, float32, microseconds", ["", *(each.name for each in found)],
                          host_rows(found, budget))


def host_rows(found, budget):
    def microseconds(library, x, y):
        measured = timing.brief_seconds if x.size > 1 << 20 else functools.partial(
            timing.median_seconds, repeats=5, least=0.01)
        return measured(functools.partial(library.of_host("float32"), x, y), library.finish) * 1e6

    for size in (1000, 1 << 16, 1 << 20, 1 << 26):
        x, y = np.ones((2, size), np.float32)
        yield [f"a + b of {size if size == 1000 else f'2^{int(math.log2(size))}'}",
               *(budget.measured(library, functools.partial(microseconds, library, x, y)) for library in found)]


def calls(found, budget):
    timing.print_markdown("The host's time of a call, 1000 elements of the device, microseconds",
                          ["", *(each.name for each in found)], call_rows(found, budget))


def call_rows(found, budget):
    """The host's time of a call on arrays of 1000 elements."""
    def microseconds(library, giver):
        x, y, out = (giver.array(1000, "float32") for _ in range(3))
        return timing.median_call_us(library.call(library.add("float32"), x, y, out), library.finish, 200, 9)

    own = found[0]
    yield ["a + b on its own arrays",
           *(budget.measured(library, functools.partial(microseconds, library, library)) for library in found)]
    for giver in found[1:-1]:
        if giver.name != "numba-cuda":
            yield [f"a + b on {giver.name}'s arrays", budget.measured(own, functools.partial(microseconds, own, giver)),
                   *[None] * (len(found) - 1)]


def draw(found, parts, path):
    try:
        import matplotlib
    except ImportError:
        print("no picture: matplotlib is not installed", file=sys.stderr)
        return
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = [name for name, _ in parts][::-1]
    figure, axes = plt.subplots(figsize=(9, 0.42 * len(names)))
    height = 0.8 / len(found[:-1])
    for k, library in enumerate(found[:-1]):
        values = [own[k] or 0 for _, own in parts][::-1]
        axes.barh(np.arange(len(names)) + 0.4 - k * height, values, height, label=library.name)
    axes.set_yticks(np.arange(len(names)), names, fontsize=8)
    axes.axvline(1, color="grey", linewidth=0.8)
    axes.set_xlabel("part of the rate of a copy")
    axes.legend(loc="lower right")
    figure.tight_layout()
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log2", type=int, nargs="?", default=27, help="of the number of elements (%(default)s)")
    parser.add_argument("picture", nargs="?", help="draw parts of the copy's rate into this file (needs matplotlib)")
    parser.add_argument("--only", default="", metavar="WORDS",
                        help="rows of the first table that have one of these, by commas, in their names")
    parser.add_argument("--without", default="", metavar="LIBRARIES", help="of CuPy, torch, numba-cuda, by commas")
    parser.add_argument("--budget", type=float, default=60, metavar="SECONDS",
                        help="for each library but cujit; then it has dashes (%(default)g)")
    chosen = parser.parse_args()
    found, budget = libraries(chosen.without.split(",")), Budget(chosen.budget)
    calls(found, budget)   # before the long table, in which a slow library's time ends
    hosts(found, budget)
    parts = layouts(found, 1 << chosen.log2, chosen.only.split(","), budget)
    if chosen.picture:
        draw(found, parts, chosen.picture)


if __name__ == "__main__":
    main()
