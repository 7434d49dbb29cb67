"""What a launch and a ufunc cost the host with arrays of other libraries: python benchmarks/foreign_arrays.py

On a GPU: three float32 arrays of cujit, PyTorch, CuPy and JAX into the same kernel, beside numba-cuda with its own
arrays and theirs, and CuPy's RawKernel; a ufunc of two of them; and what the parts of it cost. Libraries that are
missing are left out. Microseconds, medians."""
import functools
import importlib
import os
import warnings

import numpy as np
from peers import prepare
from timing import median_call_us

from cujit import cuda, vectorize

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
warnings.filterwarnings("ignore")
SIZE = 1024


def library(name):
    try:
        return importlib.import_module(name)
    except Exception as error:  # a broken installation is a missing one, too
        print(f"{name} is left out: {type(error).__name__}: {error}"[:120])
        return None


def nothing(x, y, out):
    pass


def arrays():
    """What makes an array of each library that is here."""
    made = {"cujit": lambda: cuda.to_device(np.ones(SIZE, "f4"))}
    torch, cupy, jax = library("torch"), library("cupy"), library("jax")
    if torch and torch.cuda.is_available():
        made["PyTorch"] = lambda: torch.ones(SIZE, device="cuda")
    if cupy:
        made["CuPy"] = lambda: cupy.ones(SIZE, "f4")
    if jax:
        made["JAX"] = lambda: importlib.import_module("jax.numpy").ones(SIZE, "float32")
    return made, torch, cupy


def show(title, values, base=None):
    print(f"\n{title}")
    for name, microseconds in values.items():
        more = "" if base is None or name == base else f"   {microseconds - values[base]:+7.2f}"
        print(f"  {name:44s} {microseconds:8.2f}{more}")


def launches(made, cupy):
    values = {}
    for name, make in made.items():
        operands = [make() for _ in range(3)]
        call = functools.partial(cuda.jit(nothing)[4, 256], *operands)
        values[f"cujit, arrays of {name}"] = median_call_us(call, cuda.synchronize)
    if cupy:
        operands = [cupy.ones(SIZE, "f4") for _ in range(3)]
        raw = cupy.RawKernel('extern "C" __global__ void nothing(float *, float *, float *) {}', "nothing")
        values["CuPy RawKernel"] = median_call_us(functools.partial(raw, (4,), (256,), tuple(operands)),
                                                  cuda.synchronize)
    prepare("numba-cuda")
    numba = library("numba.cuda")
    for name in ("numba-cuda", "CuPy", "PyTorch") if numba else ():
        make = made.get(name, lambda: numba.to_device(np.ones(SIZE, "f4")))
        operands = [make() for _ in range(3)]
        call = functools.partial(numba.jit(nothing)[4, 256], *operands)
        values[f"numba-cuda, arrays of {name}"] = median_call_us(call, numba.synchronize, calls=100, repeats=11)
    return values


def ufuncs(made, cupy):
    values = {}
    for name, make in made.items():
        x, y, add = make(), make(), vectorize(["float32(float32, float32)"])(lambda a, b: a + b)
        values[f"cujit, arrays of {name}"] = median_call_us(functools.partial(add, x, y), cuda.synchronize)
        if name in ("cujit", "CuPy", "PyTorch"):
            call = functools.partial(add, x, y, out=make())
            values[f"cujit, arrays of {name}, out="] = median_call_us(call, cuda.synchronize)
    if cupy:
        ones = cupy.ones(SIZE, "f4")
        values["CuPy, x + x"] = median_call_us(lambda: ones + ones, cuda.synchronize)
    return values


def parts(made, torch, cupy):
    """What is asked of each library for one array."""
    values = {}
    if cupy:
        x = cupy.ones(SIZE, "f4")
        current = cupy.cuda.get_current_stream
        values["CuPy: __cuda_array_interface__"] = lambda: x.__cuda_array_interface__
        values["CuPy: data.ptr, dtype, shape, strides"] = lambda: (x.data.ptr, x.dtype, x.shape, x.strides)
        values["CuPy: get_current_stream(0).ptr"] = lambda: current(0).ptr
        values["CuPy: __dlpack__(stream=-1)"] = lambda: x.__dlpack__(stream=-1)
    if torch and torch.cuda.is_available():
        t = torch.ones(SIZE, device="cuda")
        values["PyTorch: __cuda_array_interface__"] = lambda: t.__cuda_array_interface__
        values["PyTorch: __dlpack__(stream=-1)"] = lambda: t.__dlpack__(stream=-1)
        values["PyTorch: current_stream()"] = torch.cuda.current_stream
    return {name: median_call_us(run, lambda: None) for name, run in values.items()}


def main():
    print(f"{cuda.get_current_device()}; arrays of {SIZE} float32")
    made, torch, cupy = arrays()
    if cuda.get_current_device().kind == "cpu":
        cupy = None
        made.pop("CuPy", None)
    base = "cujit, arrays of cujit"
    show("a launch with three arrays, and how much more than with arrays of cujit", launches(made, cupy), base)
    show("a ufunc of two arrays", ufuncs(made, cupy), base)
    show("what an array is asked", parts(made, torch, cupy))


if __name__ == "__main__":
    main()
