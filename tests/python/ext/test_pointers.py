"""types.CPointer and types.voidptr: in signatures, as arguments, in kernels; carray and farray over them."""
import ctypes
import pickle

import numpy as np
import pytest

import cujit
from cujit import carray, cuda, errors, farray, types

SIGNATURE = types.void(types.CPointer(types.float64), types.int64, types.float64[:])


def reads(pointer, n, out):
    matrix, transposed, line = carray(pointer, (n, 3)), farray(pointer, (2, 3)), carray(pointer, n)
    out[0] = matrix[1, 2]
    out[1] = transposed[1, 2]
    out[2] = transposed[1, 0]
    out[3] = line.size
    out[4] = carray(pointer, 2, np.int64)[1]
    matrix[0, 0] = 77


def test_views_of_a_pointer(assembles):
    memory, out = np.arange(6.0) * 10, np.zeros(5)
    cuda.jit(SIGNATURE)(reads)[1, 1](memory, 2, out)
    assert list(out) == [50, 50, 10, 2, float(np.float64(10).view(np.int64))] and memory[0] == 77
    assembles(reads, SIGNATURE.args, (8, 0))


def test_on_the_host():
    memory = np.arange(6)
    typed = memory.ctypes.data_as(ctypes.POINTER(ctypes.c_int64))
    for pointer, dtype in ((memory, None), (typed, None), (ctypes.c_void_p(memory.ctypes.data), np.int64)):
        np.testing.assert_array_equal(cujit.carray(pointer, (2, 3), dtype), memory.reshape(2, 3))
        np.testing.assert_array_equal(cujit.farray(pointer, (2, 3), dtype), memory.reshape(3, 2).T)
    carray(typed, 2)[1] = 50
    assert memory[1] == 50
    with pytest.raises(TypeError, match="pass the dtype"):
        carray(ctypes.c_void_p(memory.ctypes.data), 2)
    with pytest.raises(TypeError, match="expected a pointer"):
        carray(7, 2)


def test_what_is_no_pointer():
    @cuda.jit
    def kernel(number, out):
        out[0] = carray(number, 2)[0]

    with pytest.raises(errors.TypingError):
        kernel[1, 1](3, np.zeros(1))


def test_types():
    pointer = types.CPointer(types.float32)
    assert repr(pointer) == "float32*" and pointer.dtype == types.float32 and pointer == types.CPointer(types.float32)
    assert repr(types.voidptr) == "void*" and pointer != types.voidptr != types.CPointer(types.uint8)
    assert isinstance(pointer, types.CPointer) and not isinstance(types.voidptr, types.CPointer)
    assert isinstance(types.voidptr, types.RawPointer) and not isinstance(types.float32[:], types.CPointer)
    assert pickle.loads(pickle.dumps((pointer, types.voidptr))) == (pointer, types.voidptr)
    with pytest.raises(TypeError, match="leads to numbers or records"):
        types.CPointer(types.float32[:])


def moves(pointer, n):
    for i in range(n):
        pointer[i] += pointer[i - 1]
    pointer[-1] = -5


def arguments(memory):
    address = memory[1:].device_ctypes_pointer.value
    yield address
    yield np.uint64(address)
    yield ctypes.c_void_p(address)
    yield ctypes.cast(address, ctypes.POINTER(ctypes.c_double))
    yield memory[1:]


@pytest.mark.parametrize("which", range(5), ids=["int", "NumPy's", "void*", "double*", "array"])
def test_arguments(which):
    kernel = cuda.jit("void(CPointer(float64), int64)")(moves)
    for _ in range(2):
        memory = cuda.to_device(np.arange(5.0) + 1)
        given = list(arguments(memory))[which]
        kernel[1, 1](given, 2)
        assert list(memory.copy_to_host()) == [-5, 3, 6, 4, 5]


def test_a_pointer_of_ctypes_needs_no_signature():
    memory = cuda.to_device(np.arange(3.0))

    @cuda.jit
    def kernel(pointer):
        pointer[1] += 10

    kernel[1, 1](ctypes.cast(memory.device_ctypes_pointer.value, ctypes.POINTER(ctypes.c_double)))
    assert list(memory.copy_to_host()) == [0, 11, 2]


@pytest.mark.parametrize("argument, says", [
    (np.zeros(6)[::2], "does not convert to float64*"), (np.zeros(3, np.float32), "does not convert to float64*"),
    (1.5, "float64 does not convert to float64*"), (-1, "negative"), (ctypes.pointer(ctypes.c_float(1)), "float32*"),
    (1 << 64, "argument 'pointer'")], ids=["strided", "float32", "float", "negative", "float*", "2**64"])
def test_arguments_that_do_not_fit(argument, says):
    kernel = cuda.jit("void(CPointer(float64), int64)")(moves)
    with pytest.raises(errors.LaunchArgumentError) as refusal:
        kernel[1, 1](argument, 0)
    assert says in str(refusal.value) and "'pointer'" in str(refusal.value)


@pytest.mark.parametrize("signature, body, says", [
    ("void(CPointer(int64))", lambda p: p[0.5], "indices are integers"),
    ("void(CPointer(int64))", lambda p: p[1:], "has an end and no step"),
    ("void(CPointer(int64))", lambda p: p[0:4:2], "has an end and no step"),
    ("void(voidptr)", lambda p: p[0], "says what lies there"),
    ("void(voidptr)", lambda p: carray(p, 3), "says what lies there"),
    ("void(CPointer(int64))", lambda p: len(p), "int64*"),
    ("void(CPointer(int64))", lambda p: p.size, "no attribute 'size'"),
    ("void(CPointer(int64))", lambda p: p.view(3), "type of what lies there")], ids=[str(i) for i in range(8)])
def test_what_pointers_have_not(signature, body, says):
    with pytest.raises(errors.TypingError, match="(?s)" + says.replace("*", "[*]")):
        cuda.jit(signature)(body)


def test_slices_views_and_records():
    point = np.dtype([("x", np.float32), ("n", np.int32)])

    @cuda.jit(types.void(types.CPointer(types.from_dtype(point)), types.voidptr, types.int64))
    def kernel(points, raw, n):
        points[1].n = 7
        middle = points[1:n]
        middle[1].x = middle.size
        carray(raw, n, types.int32)[0:2] = 3
        raw.view(np.int32)[2:4] = 4

    points, raw = np.zeros(4, point), np.zeros(4, np.int32)
    kernel[1, 1](points, raw, 4)
    assert points["n"].tolist() == [0, 7, 0, 0] and points["x"].tolist() == [0, 0, 3, 0]
    assert raw.tolist() == [3, 3, 4, 4]


def test_cache_hints_take_pointers(assembles):
    def kernel(out, given):
        cuda.stcs(out, 1, cuda.ldcg(given, 2))

    signature = types.void(types.CPointer(types.float32), types.CPointer(types.float32))
    out, given = np.zeros(2, np.float32), np.arange(3, dtype=np.float32)
    cuda.jit(signature)(kernel)[1, 1](out, given)
    assert out.tolist() == [0, 2]
    text = assembles(kernel, signature.args, (8, 0))
    assert "ld.cg.b32" in text and "st.cs.b32" in text and "param_2" not in text


def test_carray_is_known_whenever_it_is_imported(run_python):
    run_python("""
import numpy as np
from cujit import cuda, types
x = np.zeros(3, np.float32)

@cuda.jit
def first(x):
    x[0] = np.sin(x[0])   # what names mean is found out here

first[1, 1](x)
from cujit import carray, farray

@cuda.jit(types.void(types.CPointer(types.float32), types.int64))
def kernel(pointer, n):
    carray(pointer, (n,))[1] = 5
    farray(pointer, (1, n))[0, 2] = 6

kernel[1, 1](x, 3)
assert x.tolist() == [0, 5, 6], x
""", CUJIT_DEVICE="cpu")


def test_D8_types_of_c_and_arrays_of_arrays():
    """Row D8: void, bool, int, float, double, t*; what C has pointers to pointers for is a tuple of arrays."""
    @cuda.jit("void (bool doubled, int n, float* x, double* y)")
    def copied(doubled, n, x, y):
        i = cuda.grid(1)
        if i < n:
            y[i] = x[i] * 2 if doubled else x[i]
    y = np.zeros(4)
    copied[1, 32](True, 3, np.arange(4, dtype=np.float32), y)
    assert y.tolist() == [0, 2, 4, 0]

    @cuda.jit
    def sums(rows, out):
        i = cuda.grid(1)
        if i < len(rows):
            total = 0.0
            for j in range(rows[i].size):
                total += rows[i][j]
            out[i] = total
    rows, out = tuple(cuda.to_device(np.arange(float(n))) for n in (3, 0, 5, 1)), np.zeros(4)
    sums[1, 32](rows, out)
    assert out.tolist() == [3, 0, 10, 0]
