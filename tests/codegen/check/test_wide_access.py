"""On a GPU a thread's neighbouring accesses are one, in launches whose arrays begin where that may."""
import re

import numpy as np
import pytest

import cujit
from cujit import complex64, complex128, cuda, float32, int64, uint32

POINT = np.dtype([("x", "f4"), ("y", "f4"), ("z", "f4"), ("w", "f4")])
MIXED = np.dtype([("x", "f4"), ("n", "i4"), ("q", "f8"), ("name", "u1", (3,))], align=True)   # 24 bytes


def add(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


def twice(a, out):
    j, i = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = a[i, j] + a[i, j]


def four(a, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = (a[4 * i] + a[4 * i + 1]) * (a[4 * i + 2] - a[4 * i + 3])


def by_loop(a, out):
    i = cuda.grid(1)
    if i < out.size:
        total = float32(0)
        for k in range(4):
            total = total * 3 + a[4 * i + k]
        out[i] = total


def pairs(a, count):
    i = cuda.grid(1)
    if i < count:
        p, q = a[i << 1], a[(i << 1) + 1]
        a[i << 1] = p ^ q
        a[(i << 1) + 1] = p + q


def points(a, out):
    i = cuda.grid(1)
    if i < out.size:
        point = a[i]
        out[i] = point.x * point.y + point.z * point.w


def mixed(a, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i].x + float32(a[i].n)
        a[i].x, a[i].n = float32(i), 7


@cuda.jit(device=True)
def size_of(values, i):
    return values[i].real * values[i].imag


def of_function(a, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = size_of(a, i)


def neighbours(a, out):
    """Which lie next to each other, but begin anywhere."""
    i = cuda.grid(1)
    if i + 1 < out.size:
        out[i] = a[i] + a[i + 1]


def far_apart(a, out):
    """A thread's elements are a block's width from each other."""
    for k in range(cuda.threadIdx.x, 256, 64):
        out[cuda.blockIdx.x * 256 + k] = a[cuda.blockIdx.x * 256 + k]


def ptx_of(function, *types):
    return cuda.jit(function).inspect("asm", types, 90)


def accesses(ptx):
    return re.findall(r"\b((?:ld|st)\.global\S*)", ptx)


@pytest.mark.parametrize("function,types,wide,alone", [
    (add, (complex64[::1],) * 3, 3, 0),
    (add, (complex128[::1],) * 3, 3, 0),
    (twice, (complex64[:, ::1],) * 2, 2, 0),
    (four, (float32[::1],) * 2, 1, 1),
    (by_loop, (float32[::1],) * 2, 1, 1),
    (pairs, (uint32[::1], int64), 2, 0),
    (points, (cujit.from_dtype(POINT)[::1], float32[::1]), 1, 1),
    (mixed, (cujit.from_dtype(MIXED)[::1], float32[::1]), 2, 1),
    (of_function, (complex64[::1], float32[::1]), 1, 1),
], ids=lambda value: getattr(value, "__name__", None))
def test_neighbours_are_one_access(function, types, wide, alone):
    found = accesses(ptx_of(function, *types))
    assert len([access for access in found if ".v" in access]) == wide
    assert len([access for access in found if ".v" not in access]) == alone


@pytest.mark.parametrize("function,types", [
    (add, (float32[::1],) * 3), (neighbours, (float32[::1],) * 2), (far_apart, (float32[::1],) * 2),
    (add, (complex64[:],) * 3),
], ids=["alone", "moved", "far apart", "strides"])
def test_launches_are_not_asked_in_vain(function, types):
    assert " aligned " not in cuda.jit(function).inspect("narrow", types, 90)
    assert ".v2" not in ptx_of(function, *types)


@pytest.mark.parametrize("count", [2, 460])
def test_alignment_is_left_out_first(count):
    """More arrays than a plan has room for: the launch is still asked whether they are small."""
    names = [f"x{k}" for k in range(count)]
    loads = "\n".join(f"    total += {name}[i]" for name in names)
    namespace = {"cuda": cuda}
    exec(f"def kernel({', '.join(names)}):\n    i = cuda.grid(1)\n    total = 0j\n{loads}\n    x0[i] = total",
         namespace)
    head = cuda.jit(namespace["kernel"]).inspect("narrow", (complex64[::1],) * count, 90).split("\n", maxsplit=1)[0]
    assert " limited" in head
    assert (" aligned " in head) == (count == 2)


def test_what_other_launchers_run_holds_for_any_launch():
    assert ".v2" not in cuda.compile_ptx(add, (complex64[::1],) * 3, cc=(9, 0))[0]


# --- results ---------------------------------------------------------------------------------------------------------

def shifted(values, by):
    """As they are on the device, so many bytes behind where memory begins."""
    memory = np.zeros(values.nbytes + by, np.uint8)
    memory[by:] = np.frombuffer(values.tobytes(), np.uint8)
    return cuda.to_device(memory)[by:].view(values.dtype)


@pytest.mark.parametrize("by", [0, 4, 8, 16])
@pytest.mark.parametrize("kind", ["complex", "items", "records"])
def test_arrays_begin_anywhere(kind, by):
    random = np.random.default_rng(by)
    n = 1000
    parts = random.random((n, 4), np.float32)
    if kind == "complex":
        function, given, out = add, [parts.view(np.complex64)[:, 0], parts.view(np.complex64)[:, 1]], np.complex64
        expected = given[0] + given[1]
    elif kind == "items":
        function, given, out = by_loop, [parts.reshape(-1)], np.float32
        expected = ((parts[:, 0] * 3 + parts[:, 1]) * 3 + parts[:, 2]) * 3 + parts[:, 3]
    else:
        function, given, out = points, [parts.view(POINT)[:, 0]], np.float32
        expected = parts[:, 0] * parts[:, 1] + parts[:, 2] * parts[:, 3]
    kernel, result = cuda.jit(function), shifted(np.zeros(n, out), by)
    for place in (0, by, 0):
        kernel[8, 128](*(shifted(np.ascontiguousarray(x), place) for x in given), result)
        np.testing.assert_allclose(result.copy_to_host(), expected, rtol=1e-6)
    is_asked = cuda.get_current_device().kind != "cpu"
    assert sum(kernel.stats.variants.values()) == (is_asked and by % 16 != 0)
