"""What a kernel could say in the systems that this one follows, row by row of their features: CUDA Python's SAXPY (A),
Numba's listings (B), CuPy's kernels (C) and CudaPy's language (D). Rows that have tests of their own are not repeated:
libraries of functions (B14) in test_library.py, test_numpy_values.py, test_libdevice.py; helpers (B11) and recursion
(D6) in test_language.py, too.
"""
import array
import cmath
import ctypes
import math
import re

import numpy as np
import pytest

from cujit import _core, cuda, errors, float32, int32, uint32

N = 1000


def launched(function, count, *args, **options):
    cuda.jit(**options)(function).launch(count)(*args)
    return args


# --- CUDA Python ------------------------------------------------------------------------------------------------------

def saxpy(a, x, y, out, n):
    i = cuda.grid(1)
    if i < n:
        out[i] = a * x[i] + y[i]


def test_a6_contraction_and_architecture_are_options_of_a_kernel(assembles):
    signature = "void(float32, float32[::1], float32[::1], float32[::1], uint64)"
    for fmad in True, False:
        for cc in (7, 5), (9, 0), (12, 0):
            ptx = assembles(saxpy, signature, cc, fmad=fmad)
            assert ("fma.rn.f32" in ptx) == fmad
            assert f".target sm_{cc[0]}{cc[1]}" in ptx


def test_a14_scalars_have_the_type_of_their_value(rng):
    """uint32 into a size_t: the kernel is made for four bytes, no neighbour is read."""
    x, y = (rng.random(N, np.float32) for _ in range(2))
    expected = np.float32(2) * x + y
    for n in N, np.uint32(N), np.int16(N), np.uint64(N):
        kernel, out = cuda.jit(fmad=False)(saxpy), np.zeros(N, np.float32)
        kernel[4, 256](np.float32(2), x, y, out, n)
        np.testing.assert_array_equal(out, expected)
        assert str(kernel.signatures[0][4]) == (np.dtype(type(n)).name if n is not N else "int64")


# --- Numba ------------------------------------------------------------------------------------------------------------

def strided(x, y, out):
    start, stride = cuda.grid(1), cuda.gridsize(1)
    for i in range(start, x.shape[0], stride):
        out[i] = x[i] + y[i]


def test_b6_a_grid_stride_loop_asks_for_no_sign(rng):
    x, y, out = rng.random(N), rng.random(N), np.zeros(N)
    cuda.jit(strided)[3, 32](x, y, out)
    np.testing.assert_array_equal(out, x + y)
    ptx, _ = cuda.compile_ptx(strided, "void(float64[::1], float64[::1], float64[::1])")
    loop = re.search(r"(\$L__BB0_\d+):((?:(?!\$L__BB0_\d+:).)*?bra \s*\1;)", ptx, re.DOTALL)[2]
    assert loop.count("setp") == loop.count("bra") == 1, ptx


def test_b7_arrays_tell_their_layout():
    @cuda.jit
    def kernel(x, out):
        rows, columns = x.shape
        out[0], out[1], out[2], out[3] = rows, columns, x.ndim, x.size
        out[4], out[5] = x.strides[0], x.strides[1]
        out[6] = x.dtype.type(2.75) + x.shape[0] * x.itemsize

    out = np.zeros(7)
    kernel[1, 1](np.zeros((3, 5), np.int16), out)
    assert out.tolist() == [3, 5, 2, 15, 10, 2, 2 + 6]


def polynomial(x, *coefficients):
    total = x * 0
    for c in coefficients:
        total = total * x + c
    return total


def test_b11_helpers_need_no_decorator(rng):
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = polynomial(x[i], 2, -1, 0.5)

    x, out = rng.random(64), np.zeros(64)
    kernel[2, 32](x, out)
    np.testing.assert_allclose(out, 2 * x * x - x + 0.5, rtol=1e-14)


def test_b12_the_subset_of_the_language():
    def kernel(out, n):
        t = (n, 2.5)
        k = 0
        while True:
            k += 1
            if k % 2:
                continue
            elif k > n:
                break
            else:
                out[k] = t[0] * t[1] + math.sqrt(k) + abs(cmath.exp(1j * k))
        for k in range(n):
            out[0] += k
        else:
            out[0] += 100

    got, want = np.zeros(8), np.zeros(8)
    cuda.jit(kernel)[1, 1](got, 6)
    kernel(want, 6)
    np.testing.assert_allclose(got, want, rtol=1e-14)


@pytest.mark.parametrize("dtype", "? i1 u1 i2 u2 i4 u4 i8 u8 f2 f4 f8 c8 c16".split())
def test_b13_the_types_of_numbers(dtype):
    """The row of CuPy's dtypes (C3), too."""
    def kernel(x, y, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = x[i] * y[i] + x[i]

    x = np.array([0, 1, 1, 0] if dtype == "?" else [3, 1, 7, 5], dtype)
    y = x[::-1].copy()
    out = np.zeros(4, "i8" if dtype == "?" else dtype)
    launched(kernel, 4, x, y, out)
    np.testing.assert_array_equal(out, (x.astype(out.dtype) * y.astype(out.dtype) + x.astype(out.dtype)))


# --- CuPy -------------------------------------------------------------------------------------------------------------

@cuda.jit
def elementwise_square(x, y, size):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    for k in range(i, size, cuda.gridDim.x * cuda.blockDim.x):
        y[k] = x[k] * x[k]


def test_c11_both_ways_to_launch(rng):
    x, size = cuda.to_device(rng.random(N, np.float32)), np.uint32(N)
    for launch in (lambda y: elementwise_square((4,), (64,), (x, y, size)),
                   lambda y: elementwise_square((4, 1), (64, 1, 1), (x, y, size), shared_mem=64, stream=cuda.stream()),
                   lambda y: elementwise_square[4, 64](x, y, size)):
        y = cuda.device_array(N, np.float32)
        launch(y)
        cuda.synchronize()
        np.testing.assert_array_equal(y.copy_to_host(), x.copy_to_host() ** 2)
    with pytest.raises(errors.LaunchConfigurationError):
        elementwise_square(x, y, size)


def test_c12_types_come_from_the_call_and_are_kept():
    kernel = cuda.jit(elementwise_square.py_func)
    for size in np.uint32(4), np.uint32(2), 4:
        kernel[1, 4](np.ones(4), np.ones(4), size)
    assert [str(types[2]) for types in kernel.signatures] == ["uint32", "int64"]


def test_c13_first_assignments_in_branches_and_loops():
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        if x[i] > 0:
            sign, label = 1, 10.5
        elif x[i] < 0:
            sign, label = -1, 20
        else:
            sign, label = 0, 30
        for k in range(3):
            last = k * sign
        out[i] = last + label

    out = np.zeros(3)
    kernel[1, 3](np.array([5.0, -5.0, 0.0]), out)
    assert out.tolist() == [12.5, 18, 30]


def test_c14_functions_that_have_no_source(run_python):
    scope = {"cuda": cuda}
    exec("def kernel(x):\n    x[cuda.grid(1)] += 1", scope)
    x = np.zeros(3)
    cuda.jit(scope["kernel"])[1, 3](x)
    cuda.jit(eval("lambda x: x.fill(x[0] * 5)"))[1, 1](x)
    assert x.tolist() == [5, 5, 5]
    told = run_python("import code\ncode.InteractiveConsole().push('''exec(open(0).read()) if 0 else None''')\n"
                      "shell = code.InteractiveConsole()\n"
                      "for line in ['import numpy as np', 'from cujit import cuda', '@cuda.jit', 'def kernel(x):',\n"
                      "             '    x[cuda.grid(1)] = 7', '', 'x = np.zeros(2)', 'kernel[1, 2](x)', 'print(x)']:\n"
                      "    shell.push(line)\n")
    assert "[7. 7.]" in told


def test_c28_floats_out_of_range_saturate_and_can_wrap():
    @cuda.jit
    def kernel(x, low, high, wrapped):
        i = cuda.grid(1)
        low[i], high[i], wrapped[i] = uint32(x[i]), int32(x[i]), uint32(int(x[i]))

    x = np.array([-1, np.inf, -np.inf, np.nan, 3e9, -2.7], np.float32)
    low, high, wrapped = np.zeros(6, np.uint32), np.zeros(6, np.int32), np.zeros(6, np.uint32)
    kernel[1, 6](x, low, high, wrapped)
    most = 2**31 - 1
    assert low.tolist() == [0, 2**32 - 1, 0, 0, 3000000000, 0]
    assert high.tolist() == [-1, most, -most - 1, 0, most, -2]
    assert wrapped[[0, 5]].tolist() == [2**32 - 1, 2**32 - 2]


# --- CudaPy -----------------------------------------------------------------------------------------------------------

def test_d1_d24_launches_by_the_number_of_threads():
    def place(out):
        if idx < out.shape[0] and idy < out.shape[1] and idz < out.shape[2]:  # noqa: F821
            out[idx, idy, idz] += 1 + idx + 100 * idy + 10000 * idz  # noqa: F821

    kernel = cuda.jit(place)
    for shape in (1, 1, 1), (300, 1, 1), (7, 1, 1), (33, 9, 1), (5, 6, 70):
        out = np.zeros(shape)
        kernel.launch(*shape)(out)
        x, y, z = np.indices(shape)
        np.testing.assert_array_equal(out, 1 + x + 100 * y + 10000 * z)
    kernel.launch(0)(out)
    assert out[0, 0, 0] == 1
    with pytest.raises(errors.LaunchConfigurationError, match="-3"):
        kernel.launch(4, -3)


def test_d2_d3_bare_names():
    def kernel(out):
        i = blockIdx.x * blockDim.x + threadIdx.x  # noqa: F821
        out[i, 0], out[i, 1] = idx, gridDim.x * 1000 + warpSize  # noqa: F821

    out = np.zeros((64, 2))
    cuda.jit(kernel)[2, 32](out)
    np.testing.assert_array_equal(out, np.stack([np.arange(64), np.full(64, 2032)], 1))


def test_d2_names_of_the_program_come_first():
    scope = {"idx": 40, "cuda": cuda}
    exec("def kernel(out, threadIdx):\n    out[0] = idx + threadIdx", scope)
    out = np.zeros(1)
    cuda.jit(scope["kernel"])[1, 1](out, 2)
    assert out[0] == 42
    with pytest.raises(errors.TypingError, match="'idw' is not defined"):
        exec("def kernel(out):\n    out[0] = idw", scope)
        cuda.jit(scope["kernel"])[1, 1](out)


def add_one(x):
    return x + 1


def plus(x, y):
    return x + y


def test_d4_d5_compiled_by_a_call():
    scope = {}
    exec("def kernel(x):\n    if idx < len(x):\n        x[idx] = plus(x[idx], add_one(2))", scope)
    kernel = cuda.compile([scope["kernel"], plus, add_one])
    x = np.zeros(5)
    kernel.launch(5)(x)
    assert x.tolist() == [3] * 5 and kernel.py_func.__name__ == "kernel"
    cuda.compile(add_to_all)[1, 5](x)
    assert x.tolist() == [4] * 5


def add_to_all(x):
    x[cuda.grid(1)] = add_one(x[cuda.grid(1)])


def test_d5_functions_of_the_list_find_each_other():
    first, second = {}, {}
    exec("def even(n):\n    return True if n == 0 else odd(n - 1)\n"
         "def kernel(out):\n    out[idx] = even(idx)", first)
    exec("def odd(n):\n    return False if n == 0 else even(n - 1)", second)
    out = np.zeros(6, np.bool_)
    cuda.compile([first["kernel"], first["even"], second["odd"]])[1, 6](out)
    assert out.tolist() == [True, False] * 3


def is_even(n):
    if n == 0:
        return True
    return is_odd(n - 1)


def is_odd(n):
    if n == 0:
        return False
    return is_even(n - 1)


def test_d6_functions_call_each_other():
    @cuda.jit
    def kernel(out):
        out[cuda.grid(1)] = is_even(cuda.grid(1))

    out = np.zeros(9)
    kernel[1, 9](out)
    assert out.tolist() == [1, 0] * 4 + [1]


def axpy(alpha, x, y):
    if idx < len(y):  # noqa: F821
        y[idx] += alpha * x[idx]  # noqa: F821


READ_ONLY = _core.array_type(float32, 1, "C", True)


@pytest.mark.parametrize("declaration, types", [
    ("void (float alpha, float* X, float* Y)", (float32, float32[::1], float32[::1])),
    ("void axpy(double alpha, const float *x, float * y);", (cuda.float64, READ_ONLY, float32[::1])),
    ("void (unsigned int alpha, short int* x, uint64_t* y)", (uint32, cuda.int16[::1], cuda.uint64[::1])),
    ("void (char, unsigned char*, size_t* y)", (cuda.int8, cuda.uint8[::1], cuda.uint64[::1])),
    ("void (signed char a, unsigned long long* x, long *y)", (cuda.int8, cuda.uint64[::1], cuda.int64[::1])),
])
def test_d7_signatures_of_c(declaration, types):
    for kernel in cuda.jit(declaration)(axpy), cuda.jit(axpy, sig=declaration), cuda.jit(sig=declaration)(axpy):
        assert kernel.signatures == [types]
    x, y = np.arange(4).astype(types[1].dtype.dtype), np.ones(4, types[2].dtype.dtype)
    kernel.launch(4)(2, x, y)
    np.testing.assert_array_equal(y, 1 + 2 * np.arange(4))


@pytest.mark.parametrize("declaration", ["void (float** x)", "void (node* x)", "void (float* x y)",
                                         "node (float x)", "void (float x, node y)"])
def test_d7_what_c_has_and_kernels_have_not(declaration):
    with pytest.raises(errors.SignatureError):
        cuda.jit(sig=declaration)(axpy)


def test_d13_d14_lengths_literals_and_operators():
    def values(x, a, b, f):
        x[0], x[1], x[2], x[3] = len(x), a + b, a - b, a * b
        x[4], x[5], x[6], x[7] = a / b, a // b, a % b, a ** 2
        x[8], x[9], x[10], x[11] = a & b, a | b, a ^ b, ~a
        x[12], x[13], x[14], x[15] = a << 3, a >> 1, -f, +f
        x[16], x[17], x[18], x[19] = a < b, a <= b or a == b, a > b and not a != b, a >= b
        x[20], x[21], x[22] = (a if f > 1 else b), 0x1F + 0b11 + 0o17, 1e3 + .5

    for a, b, f in (7, 3, 0.25), (-7, 3, 1.5):
        got, want = np.zeros(23), np.zeros(23)
        cuda.jit(values)[1, 1](got, a, b, f)
        values(want, a, b, f)
        np.testing.assert_array_equal(got, want)


def test_d15_the_loop_variable_after_the_loop():
    """As in Mandelbrot's loop; one that never ran leaves what the variable was."""
    def escapes(out, count):
        for k in range(out.size):
            z, c, i = 0j, complex(k / 4 - 2, 0.5), -1
            for i in range(0, count):
                if i == 1:
                    continue
                z = z * z + c
                if abs(z) > 2:
                    break
            out[k] = i

    for count in 20, 1, 0:
        got, want = np.zeros(12), np.zeros(12)
        cuda.jit(escapes, fmad=False)[1, 1](got, count)
        escapes(want, count)
        np.testing.assert_array_equal(got, want)


def test_d16_functions_of_single_precision():
    def kernel(x, out):
        out[0], out[1], out[2] = math.sinf(x[0]), math.powf(x[0], 2.5), math.fmaf(x[0], x[0], 1)
        out[3] = math.sin(x[0])

    x, out = np.array([0.75], np.float32), np.zeros(4)
    cuda.jit(kernel)[1, 1](x, out)
    np.testing.assert_allclose(out, [math.sin(0.75), 0.75 ** 2.5, 0.75 ** 2 + 1, math.sin(0.75)], rtol=5e-7)
    assert out[0] == np.float32(out[0]) and out[1] == np.float32(out[1])
    ptx, _ = cuda.compile_ptx(lambda x: math.expf(x), (float32,), device=True)
    assert "f64" not in ptx
    with pytest.raises(errors.TypingError, match="math has no attribute 'nof'"):
        cuda.jit(lambda out: out.fill(math.nof(1)))[1, 1](out)


def test_d17_casts():
    def kernel(x, out):
        out[0], out[1], out[2] = int(x[0]), float(x[1]), double(x[0])  # noqa: F821
        out[3] = double(1) / 3 - float(1) / 3  # noqa: F821

    out = np.zeros(4)
    cuda.jit(kernel)[1, 1](np.array([-2.75, 9], np.float32), out)
    assert out.tolist() == [-2, 9, -2.75, 0]


def test_d18_names_change_their_type():
    @cuda.jit
    def kernel(x, out):
        value = len(x)
        out[0] = value / 2
        value = x[0] * 0.5
        out[1] = value
        value = value > 1
        out[2] = 5 if value else 6
        value = (value, x[1])
        out[3] = value[1]

    out = np.zeros(4)
    kernel[1, 1](np.array([3.0, 8.0, 1.0]), out)
    assert out.tolist() == [1.5, 1.5, 5, 8]


def total_of(x, out):
    if cuda.grid(1) == 0:
        for value in x:
            out[0] += value


@pytest.mark.parametrize("x", [array.array("f", [0.5, 4]), bytearray(b"\x01\x02"), memoryview(np.arange(4.0))[::2],
                               (ctypes.c_int * 3)(5, 6, 7)], ids=["array", "bytearray", "memoryview", "ctypes"])
def test_d9_buffers_are_arrays(x):
    kernel = cuda.jit(total_of)
    for launch in kernel[1, 1], kernel[1, 1], kernel.forall(1), kernel.launch(1):
        out = np.zeros(1)
        launch(x, out)
        assert out[0] == sum(np.asarray(x))


def test_d9_buffers_are_copied_back():
    @cuda.jit
    def kernel(x):
        x[0] = 9

    buffer = array.array("d", [1.0, 2.0])
    kernel[1, 1](buffer)
    assert list(buffer) == [9, 2]


def test_d9_lists_are_what_the_signature_says():
    kernel = cuda.jit(axpy, sig="void (float alpha, float* x, float* y)")
    x, y = [1, 2, 3.5], np.ones(3, np.float32)
    kernel.launch(3)(2, x, y)
    kernel[1, 3](2, x, y)
    assert y.tolist() == [5, 9, 15] and x == [1, 2, 3.5]
    for bad in [[1, 2], [3]], ["a"], b"ab", "ab":
        with pytest.raises((TypeError, ValueError)):
            kernel[1, 1](2, bad, y)
    with pytest.raises(TypeError, match="list"):   # nothing says which numbers are meant
        cuda.jit(axpy)[1, 1](2, x, y)
