"""Vector types such as cuda.float32x4: making, components, arithmetic, arrays of them, and how they move."""
import re

import numpy as np
import pytest

from cujit import _core, cuda, errors, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64

SCALARS = {"int8": int8, "int16": int16, "int32": int32, "int64": int64, "uint8": uint8, "uint16": uint16,
           "uint32": uint32, "uint64": uint64, "float32": float32, "float64": float64}
ALIASES = {"char": "int8", "short": "int16", "int": "int32", "long": "int64", "longlong": "int64", "uchar": "uint8",
           "ushort": "uint16", "uint": "uint32", "ulong": "uint64", "ulonglong": "uint64", "float": "float32",
           "double": "float64"}


def launch(kernel, *arguments, n=8, dtype=float):
    out = np.full(n, -99, dtype)
    cuda.jit(kernel)[1, 1](out, *arguments)
    return out.tolist()


def test_all_names():
    for count in range(1, 5):
        for name in SCALARS:
            assert str(getattr(cuda, f"{name}x{count}")) == f"{name}x{count}"
        for alias, name in ALIASES.items():
            assert getattr(cuda, f"{alias}{count}") == getattr(cuda, f"{name}x{count}")
    assert len(_core.vector_types) == 4 * (len(SCALARS) + len(ALIASES))


@pytest.mark.parametrize("name", SCALARS)
def test_components_of_each_type(name):
    one, two, three, four = (getattr(cuda, f"{name}x{count}") for count in range(1, 5))

    @cuda.jit
    def kernel(out, a, b):
        v = four(one(a), two(b, 3), 4.0)
        out[0], out[1], out[2], out[3] = v.x, v.y, v.z, v.w
        w = three(v.w, two(v.x, v.y))
        out[4] = w.x * 100 + w.y * 10 + w.z

    out = np.zeros(5, name)
    kernel[1, 1](out, 1, 2)
    assert out.tolist() == [1, 2, 3, 4, np.array(412).astype(name)]


def test_numbers_are_converted_and_vectors_mixed():
    def kernel(out, x):
        v = cuda.int2(x, -1.9)
        d = cuda.double3(v, x)
        f = cuda.float32x2(cuda.uchar2(300, 2))
        out[0] = v.x * 10 + v.y
        out[1] = d.x + d.z
        out[2] = f.x
        out[3] = v[1] + d[-1]
        total = 0.0
        for k in range(3):
            total += d[k]
        out[4] = total

    assert launch(kernel, 2.75)[:5] == [19, 4.75, 44, 1.75, 3.75]


def test_arithmetic_is_by_component():
    def kernel(out, s):
        a, b = cuda.float4(1, 2, 3, 4), cuda.float4(4, 3, 2, 1)
        c = a * s + b / 2 - 1
        out[0] = c.x * 1000 + c.y * 100 + c.z * 10 + c.w
        i = cuda.int2(7, -7) // 2
        out[1] = i.x * 10 + i.y
        h = cuda.int2(1, 2) / cuda.int2(2, 4)
        out[2] = h.x + h.y
        n = -cuda.char2(5, -6)
        out[3] = n.x * 10 + n.y
        out[4] = a == b
        out[5] = a != b
        out[6] = (2 * cuda.uint2(3, 4) << 1).y

    assert launch(kernel, 10)[:7] == [11000 + 2050 + 300 + 39.5, 26, 1, -44, 0, 1, 16]


def test_float32_stays_float32():
    def scale(a, s):
        v = a.view(cuda.float4)
        v[0] = v[0] * 2.5 + s

    ptx, _ = cuda.compile_ptx(scale, (float32[::1], float32), cc=(9, 0))
    assert ".f64" not in ptx and "f64" not in ptx


def test_functions_tuples_and_branches():
    @cuda.jit(device=True)
    def cross(a, b):
        return cuda.float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)

    def kernel(out, flag):
        v = cross(cuda.float3(1, 2, 3), cuda.float3(4, 5, 6))
        pair = (v, 7)
        out[0], out[1], out[2] = pair[0].x, pair[0].y, pair[0].z
        chosen = cuda.int2(1, 2) if flag else cuda.int2(3, 4)
        for _ in range(3):
            chosen = chosen + cuda.int2(1, 10)
        out[3] = chosen.x * 100 + chosen.y

    assert launch(kernel, False)[:4] == [-3, 6, -3, 634]


def test_shared_and_local_arrays():
    @cuda.jit
    def kernel(out, a):
        tile = cuda.shared.array(32, cuda.float4)
        mine = cuda.local.array((2, 2), cuda.short3)
        t = cuda.threadIdx.x
        tile[t] = cuda.float4(a[t], a[t] * 2, t, tile.itemsize)
        mine[1, 1] = cuda.short3(t, -t, mine.itemsize)
        mine[0] = mine[1, 1]
        cuda.syncthreads()
        v = tile[31 - t]
        out[t, 0] = v.x + v.y
        out[t, 1] = v.z + v.w
        out[t, 2] = mine[0, 1].y + mine[0, 0].z

    a, out = np.arange(32, dtype=np.float32) + 0.5, np.zeros((32, 3))
    kernel[1, 32](out, a)
    t = np.arange(32)
    np.testing.assert_array_equal(out, np.stack([3 * a[::-1], 31 - t + 16, 6 - t], axis=1))


@pytest.mark.parametrize("name, sizes", [("float4", 4), ("double2", 2), ("int2", 2), ("uchar4", 4), ("float3", 3)])
def test_views_of_arrays(name, sizes):
    vector, dtype = getattr(cuda, name), np.dtype(ALIASES[name[:-1]])

    @cuda.jit
    def reverse(out, a):
        to, source = out.view(vector), a.view(vector)
        for i in range(cuda.grid(1), source.size, cuda.gridsize(1)):
            to[to.size - 1 - i] = source[i]

    a = np.arange(sizes * 10).astype(dtype)
    out = np.zeros_like(a)
    reverse[2, 8](out, a)
    np.testing.assert_array_equal(out.reshape(10, sizes), a.reshape(10, sizes)[::-1])


@pytest.mark.parametrize("name, pattern", [
    ("float4", r"v4\.b32"), ("float2", r"v2\.b32|\.b64"), ("double2", r"v2\.b64"), ("uint2", r"v2\.b32|\.b64"),
])
def test_vectors_move_at_once(name, pattern):
    vector = getattr(cuda, name)

    def copy(out, a):
        i = cuda.grid(1)
        out.view(vector)[i] = a.view(vector)[i]

    scalar = SCALARS[ALIASES[name[:-1]]]
    ptx, _ = cuda.compile_ptx(copy, (scalar[::1], scalar[::1]), cc=(9, 0))
    assert len(re.findall(rf"(?:ld|st)\.global[\w.]*?(?:{pattern})", ptx)) == 2, ptx


@pytest.mark.parametrize("source, says", [
    ("cuda.float4(1, 2)", "it has 4 components, not 2"), ("cuda.int2(1, 2j)", "numbers and vectors"),
    ("cuda.int2(1, 2).z", "'z'"), ("cuda.int2(1, 2) * 1.5", r"operator \*"),
    ("cuda.int2(1, 2) + (1, 2)", r"operator \+"),
    ("cuda.int2(1, 2) + cuda.int3(1, 2, 3)", r"operator \+"), ("cuda.int2(1, 2) < cuda.int2(1, 2)", "operator <"),
])
def test_what_vectors_refuse(source, says):
    names = {"cuda": cuda}
    exec(f"def kernel(out):\n    out[0] = {source}", names)
    with pytest.raises(errors.TypingError, match=says):
        launch(names["kernel"])


def test_vectors_do_not_store_into_numbers():
    def kernel(out):
        out[0] = cuda.int2(1, 2)

    with pytest.raises(errors.TypingError, match="cannot store int32x2"):
        launch(kernel)


def test_types_of_vectors_tell_their_parts():
    for name, base, count in (("float32x4", "float32", 4), ("int8x1", "int8", 1)):
        vector = _core.vector_types[name]
        assert vector.base_type is _core.scalar_types[base] and vector.num_elements == count
    with pytest.raises(AttributeError, match="base_type"):
        _core.scalar_types["float32"].base_type
