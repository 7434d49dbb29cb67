"""Structs by value between kernels and code from elsewhere: tuples, records, complex numbers, vectors. The CPU device
calls C for real; for GPUs declarations are compared with those that NVRTC makes, and all is linked."""
import re
import shutil

import numpy as np
import pytest
from toolkit_libraries import has_library

from cujit import _core, cuda, types
from cujit.errors import TypingError, UnsupportedError
from cujit.types import (
    Tuple,
    UniTuple,
    bfloat16,
    boolean,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint16,
)

needs_cc = pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")
on_cpu = pytest.mark.skipif(cuda.is_available() and _core.gpu_count() > 0, reason="kernels run on a GPU")


needs_nvrtc = pytest.mark.skipif(not has_library(lambda: _core.compile_source("", "empty.cu", 90, "ptx")),
                                 reason="NVRTC is not installed")
needs_nvjitlink = pytest.mark.skipif(not has_library(lambda: _core.link((cuda.PTXSource("no PTX"),), 90)),
                                     reason="nvJitLink is not installed")

SOURCE = r"""
#include <complex.h>
typedef struct { float x, y; } Pair;
typedef struct { double x, y, z; } Triple;
typedef struct { int a; double b; } Record;
typedef struct { signed char a; short b; float c; } Small;
typedef struct { float x; int n; double d; } Mixed;
typedef struct __attribute__((packed)) { char a; float b; } Packed;
Pair swap(Pair p) { Pair q = {p.y, p.x}; return q; }
Triple scale(Triple t, double by) { Triple r = {t.x * by, t.y * by, t.z * by}; return r; }
Record next(Record r, int k) { r.a += k; r.b *= 2; return r; }
Packed packed(Packed r) { r.a++; r.b *= 2; return r; }
Small step(Small s) { s.a++; s.b *= 2; s.c += 0.5f; return s; }
void many(double *o, int b, int c, int d, int e, Mixed m, int f, Mixed n, Pair p, Triple t, double z)
{
    double v[] = {b, c, d, e, m.x, m.n, m.d, f, n.x, n.n, n.d, p.x, p.y, t.x, t.y, t.z, z};
    for (int i = 0; i < 17; i++)
        o[i] = v[i];
}
double floats(Pair a, Pair b, Pair c, Pair d, Pair e, Pair f, Triple t, _Complex double g, _Complex double h, int last)
{
    return a.x + b.y + c.x + d.y + e.x + f.y + t.z + creal(g) + cimag(h) + last;
}
float _Complex turned(float _Complex z, double _Complex w) { return conjf(z) * (float _Complex)w; }
double _Complex square(double _Complex z) { return z * z; }
int numbas(Mixed *result, float x, int n, double d, const Record *r)
{
    result->x = x + r->a;
    result->n = n + 1;
    result->d = d + r->b;
    return 0;
}
int numbas_record(Record *result, const Record *r) { result->a = -r->a; result->b = -r->b; return 0; }
"""
DTYPE = np.dtype([("a", "i4"), ("b", "f8")], align=True)
PACKED = np.dtype([("a", "i1"), ("b", "f4")])
RECORD, PACKED_RECORD = types.from_dtype(DTYPE), types.from_dtype(PACKED)
PAIR, TRIPLE = UniTuple(float32, 2), UniTuple(float64, 3)
SMALL, MIXED = Tuple((int8, int16, float32)), Tuple((float32, int32, float64))


def declared(name, signature, abi="c"):
    return cuda.declare_device(name, signature, link=cuda.CSource(SOURCE, "structs.c"), abi=abi)


# --- calls -----------------------------------------------------------------------------------------------------------

@on_cpu
@needs_cc
def test_tuples():
    swap, step = declared("swap", PAIR(PAIR)), declared("step", SMALL(SMALL))
    scale = declared("scale", TRIPLE(TRIPLE, float64))

    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        out[i, 0], out[i, 1] = swap((i, 2.5))
        t = scale((1.0, i, 3.0), 2)
        s = step((i, 3, 1.5))
        for k in range(3):
            out[i, 2 + k] = t[k]
        out[i, 5], out[i, 6], out[i, 7] = s

    out = np.zeros((8, 8))
    kernel[2, 4](out)
    assert out.tolist() == [[2.5, i, 2, 2 * i, 6, i + 1, 6, 2] for i in range(8)]


@on_cpu
@needs_cc
def test_records():
    following, packed = declared("next", RECORD(RECORD, int32)), declared("packed", PACKED_RECORD(PACKED_RECORD))

    @cuda.jit
    def kernel(x, y):
        i = cuda.grid(1)
        first = following(x[i], 5)
        x[i].a = first.a + 100
        x[i].b += first.b          # the call had a copy
        y[i] = packed(y[i])

    x, y = np.zeros(8, DTYPE), np.zeros(8, PACKED)
    x["a"] = x["b"] = y["a"] = y["b"] = np.arange(8)
    kernel[2, 4](x, y)
    assert x.tolist() == [(105 + i, 3 * i) for i in range(8)]
    assert y.tolist() == [(i + 1, 2 * i) for i in range(8)]


@on_cpu
@needs_cc
def test_read_only_records_and_vectors():
    following, swap = declared("next", RECORD(RECORD, int32)), declared("swap", cuda.float32x2(cuda.float32x2))
    table = np.array([(1, 2.0), (3, 4.0)], DTYPE)

    @cuda.jit
    def kernel(out):
        for i in range(2):
            r = following(table[i], 1)
            out[i] = r.a + r.b
        v = swap(cuda.float32x2(5, 6))
        out[2] = 10 * v.x + v.y

    out = np.zeros(3)
    kernel[1, 1](out)
    assert out.tolist() == [2 + 4, 4 + 8, 65]


@on_cpu
@needs_cc
def test_complex_numbers():
    turned, square = declared("turned", complex64(complex64, complex128)), declared("square", complex128(complex128))

    @cuda.jit
    def kernel(z):
        i = cuda.grid(1)
        z[i] = turned(z[i], 2j) + square(z[i])

    z = np.arange(8) + 1j
    want = np.conj(z) * 2j + z * z
    kernel[2, 4](z)
    assert z.tolist() == want.tolist()


@on_cpu
@needs_cc
def test_registers_run_out():
    many = declared("many", types.void(types.CPointer(float64), int32, int32, int32, int32, MIXED, int32, MIXED, PAIR,
                                       TRIPLE, float64))
    floats = declared("floats", float64(PAIR, PAIR, PAIR, PAIR, PAIR, PAIR, TRIPLE, complex128, complex128, int32))

    @cuda.jit
    def kernel(out):
        many(out, 2, 3, 4, 5, (0.5, 1, 2.0), 6, (0.25, 7, 8.0), (1.5, 2.5), (3.5, 4.5, 5.5), 0.125)
        p = (1.0, 10.0)
        out[17] = floats(p, p, p, p, p, p, (0.0, 0.0, 100.0), 1000 + 7j, 7 + 10000j, 100000)

    out = np.zeros(18)
    kernel[1, 1](out)
    assert out.tolist() == [2, 3, 4, 5, 0.5, 1, 2, 6, 0.25, 7, 8, 1.5, 2.5, 3.5, 4.5, 5.5, 0.125, 111133]


@on_cpu
@needs_cc
def test_numbas_convention():
    numbas = declared("numbas", MIXED(MIXED, RECORD), "numba")
    negative = declared("numbas_record", RECORD(RECORD), "numba")

    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        out[i, 0], out[i, 1], out[i, 2] = numbas((0.5, i, 2.0), x[i])
        x[i] = negative(x[i])

    x, out = np.zeros(4, DTYPE), np.zeros((4, 3))
    x["a"] = x["b"] = np.arange(4)
    kernel[1, 4](x, out)
    assert out.tolist() == [[i + 0.5, i + 1, i + 2] for i in range(4)]
    assert x.tolist() == [(-i, -i) for i in range(4)]


def test_what_does_not_fit():
    f = cuda.declare_device("f", float32(RECORD, SMALL), abi="c")

    def refused(body, says):
        with pytest.raises(TypingError, match=says):
            cuda.jit(body).compile(types.void(types.Array(PACKED_RECORD, 1, "C"), types.Array(RECORD, 1, "C")))

    def another(x, y): f(x[0], (1, 2, 3.0))
    def number(x, y): f(1, (1, 2, 3.0))
    def fraction(x, y): f(y[0], (1, 2.5, 3.0))
    def length(x, y): f(y[0], (1, 2))

    refused(another, "a record of this type is taken")
    refused(number, "cannot convert int64 to parameter 1 of f")
    refused(fraction, "to parameter 2 of f")
    refused(length, "cannot convert")
    for signature in (int32(Tuple((RECORD, int8))), int32(Tuple(())), int32(types.Optional(int64))):
        with pytest.raises(TypeError, match="cannot be passed"):
            cuda.declare_device("f", signature, abi="c")
    with pytest.raises(TypeError, match="cannot return Tuple"):
        cuda.declare_device("f", Tuple((float32[:], int8))(int32), abi="c")


# --- for GPUs --------------------------------------------------------------------------------------------------------

def record(*fields, align=True):
    return types.from_dtype(np.dtype(list(fields), align=align))


# C's name of a type, and the type.
FORMS = [
    ("float2", cuda.float32x2), ("float3", cuda.float32x3), ("float4", cuda.float32x4), ("double4", cuda.float64x4),
    ("char4", cuda.int8x4), ("longlong2", cuda.int64x2), ("uint1", cuda.uint32x1),
    ("struct { float x, y; }", PAIR), ("struct { int x; }", UniTuple(int32, 1)),
    ("struct { signed char a; double b; bool c; }", Tuple((int8, float64, boolean))),
    ("struct { struct { double a; char b; } x; char c; }", Tuple((Tuple((float64, int8)), int8))),
    ("struct { float *p; int n; }", Tuple((types.CPointer(float32), int32))),
    ("struct { __half a, b; }", UniTuple(float16, 2)),
    ("struct { int a; double b; }", RECORD), ("struct { char a; float b[3]; }", record(("a", "i1"), ("b", "f4", 3))),
    ("struct __attribute__((packed)) { char a; float b; }", record(("a", "i1"), ("b", "f4"), align=False)),
    ("float2", complex64), ("double2", complex128), ("struct { double2 z; float f; }", Tuple((complex128, float32))),
    ("__half", float16), ("__nv_bfloat16", bfloat16), ("bool", boolean), ("signed char", int8),
    ("unsigned short", uint16),
]


def declaration(ptx, name):
    """How PTX declares a function, without names."""
    text = re.search(rf"\.func\s+(\([^()]*\))?\s*{name}\s*\([^()]*\)", ptx)[0]
    return re.sub(r"\s|func_retval0|\w*param_\d+", "", text)


def identity(x):
    return x


@needs_nvrtc
@pytest.mark.parametrize("form, type", FORMS, ids=str)
def test_functions_are_declared_as_in_cuda_c(form, type):
    source = (f'#include <cuda_fp16.h>\n#include <cuda_bf16.h>\ntypedef {form} T;\n'
              'extern "C" __device__ T elsewhere(T x);\nextern "C" __device__ T identity(T x) { return elsewhere(x); }')
    theirs = _core.compile_source(source, "form.cu", 90, "ptx", relocatable=True)[0].decode()
    ours, result = cuda.compile(identity, (type,), cc=(9, 0))
    assert result == type
    assert declaration(ours, "identity") == declaration(theirs, "identity")
    elsewhere = cuda.declare_device("elsewhere", type(type), abi="c")
    calling = cuda.compile(lambda x: elsewhere(x), (type,), cc=(9, 0), abi_info={"abi_name": "identity"})[0]
    assert declaration(calling, "elsewhere") == declaration(theirs, "elsewhere")


CUDA = r"""
struct Record { int a; double b; };
extern "C" __device__ float2 swap(float2 p) { return make_float2(p.y, p.x); }
extern "C" __device__ Record next(Record r, int k) { r.a += k; r.b *= 2; return r; }
extern "C" __device__ double2 doubled(double2 z);
extern "C" __device__ Record after(Record r, float4 v);
extern "C" __global__ void caller(double2 *z, Record *r) { *z = doubled(*z); *r = after(*r, make_float4(1, 2, 3, 4)); }
"""


@needs_nvrtc
@needs_nvjitlink
@pytest.mark.parametrize("sm", [80, 90, 100])
@pytest.mark.parametrize("as_ltoir", [False, True])
def test_both_ways_are_linked(sm, as_ltoir):
    swap = cuda.declare_device("swap", complex64(complex64), abi="c")
    following = cuda.declare_device("next", RECORD(RECORD, int32), abi="c")
    cc = divmod(sm, 10)

    def kernel(z, x):
        i = cuda.grid(1)
        z[i] = swap(z[i])
        x[i] = following(x[i], i)

    def doubled(z):
        return 2 * z

    def after(r, v):
        r.a += 1
        r.b += v.x + v.w
        return r

    signature = types.void(complex64[::1], types.Array(RECORD, 1, "C"))
    items = [cuda.PTXSource(cuda.compile_ptx(kernel, signature, cc=cc)[0]),
             cuda.PTXSource(cuda.compile(doubled, (complex128,), cc=cc)[0]),
             cuda.PTXSource(cuda.compile(after, (RECORD, cuda.float32x4), cc=cc)[0])]
    code, _ = _core.compile_source(CUDA, "structs.cu", sm, "ltoir" if as_ltoir else "ptx", relocatable=True)
    items.append(cuda.LTOIR(code) if as_ltoir else cuda.PTXSource(code))
    machine, _ = _core.link(tuple(items), sm)
    assert b"caller" in machine and b"kernel" in machine


# The parameters of numba-cuda 0.24 for the same functions, compiled with abi="numba": letters are bits, "l" 64, "i" 32;
# the result's pointer comes first, the function's own result is an int32.
NUMBAS = [
    ((int32, float64), "lil"), ((boolean,), "li"), ((complex64,), "lii"), ((complex128,), "lll"), ((PAIR,), "lii"),
    ((Tuple((int8, float64, boolean)), int32), "lilii"), ((float32[:, :], int16), "l" + 9 * "l" + "i"),
    ((int64[::1], int16), "l" + 7 * "l" + "i"), ((RECORD,), "ll"), ((types.CPointer(float32),), "ll"),
]


@pytest.mark.parametrize("arguments, want", NUMBAS, ids=str)
def test_functions_are_declared_as_numbas(arguments, want):
    def first(a): return a
    def first_of_two(a, b): return a

    function = first if len(arguments) == 1 else first_of_two
    ptx, _ = cuda.compile(function, arguments, cc=(9, 0), abi="numba", abi_info={"abi_name": "first"})
    found = declaration(ptx, "first")
    letters = {".param.b64": "l", ".param.b32": "i"}
    result, _, parameters = found.removeprefix(".func(").removesuffix(")").partition(")first(")
    assert result == ".param.b32"
    assert "".join(letters[each] for each in parameters.split(",")) == want


def test_arrays_by_numbas_convention():
    def trace(x):
        return x.size * x.shape[0] + x[0, 1] + x.strides[1]

    general, _ = cuda.compile(trace, (float32[:, :],), cc=(9, 0), abi="numba")
    for used in (5, 6, 7, 9):   # data, extents, the stride of the last axis
        assert f"trace_param_{used}]" in general
    for unused in (1, 2, 3, 4, 8):
        assert f"trace_param_{unused}]" not in general

    def itself(x):
        return x

    code, result = cuda.compile(itself, (float32[:, ::1],), cc=(9, 0), abi="numba")
    assert result == float32[:, ::1]
    assert "+64]" in code and "+72]" not in code   # (meminfo, parent, items, itemsize, data, 2 extents, 2 strides)


def test_what_cannot_be_called_from_elsewhere():
    with pytest.raises(UnsupportedError, match=r'(?s)abi "c", which has no array\(float32, 1d, C\)'):
        cuda.compile(identity, (float32[::1],))
    with pytest.raises(UnsupportedError, match=r'(?s)abi "c", which has no optional\(int64\)'):
        cuda.compile(identity, (types.Optional(int64),))
    with pytest.raises(ValueError, match="'pascal' is no calling convention"):
        cuda.jit(device=True)(identity).inspect("asm", (int32,), 90, "pascal")


def test_recursive_functions_can_be_called_from_elsewhere():
    def factorial(x, n):
        return x if n <= 1 else factorial((x[0] * n, x[1] + 1), n - 1)

    made = cuda.jit(device=True)(factorial)
    factorial_ = made.inspect("asm", (Tuple((int64, int64)), int64), 90, "c")
    assert ".visible .func  (.param .align 8 .b8 func_retval0[16]) factorial(" in factorial_
