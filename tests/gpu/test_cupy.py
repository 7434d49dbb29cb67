"""CuPy's own arrays, as the first thing that a kernel, a ufunc or a copy gets. test_buffers.py has classes that
answer as they do, for the CPU device."""
import numpy as np
import pytest

from cujit import cuda, guvectorize, vectorize
from cujit.cuda.devicearray import DeviceNDArray

cupy = pytest.importorskip("cupy")
pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("ignore::cujit.errors.PerformanceWarning")]

DTYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]

# What is done with an array of NumPy's and with one of CuPy's: contiguous in C or Fortran order, with gaps, backwards.
PARTS = {
    "C": lambda a: a,
    "F": lambda a: a.copy(order="F"),
    "transposed": lambda a: a.T,
    "sliced": lambda a: a[1:, ::3],
    "backwards": lambda a: a[::-1, ::-2],
    "column as row": lambda a: a[:, :1].T[:, None, :][0],
    "one row": lambda a: a[2:3],
    "nothing": lambda a: a[:0],
}


def copy_matrix(x, out):
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        out[i, j] = x[i, j]


def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2


def matrices(dtype, part=PARTS["C"]):
    """The same part of the same matrix: NumPy's and CuPy's."""
    host = (np.arange(7 * 12) % 100).reshape(7, 12).astype(dtype)
    return part(host), part(cupy.asarray(host))


def same(ours, expected):
    cuda.synchronize()
    ours = cupy.asnumpy(ours) if isinstance(ours, cupy.ndarray) else np.asarray(ours)
    np.testing.assert_array_equal(ours, expected)
    assert ours.dtype == expected.dtype


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_first_argument_of_a_fresh_kernel(dtype, part):
    host, array = matrices(dtype, part)
    out = cupy.zeros(host.shape, dtype)
    cuda.jit(copy_matrix)[(1, 1), (16, 16)](array, out)
    same(out, host)


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_a_kernel_writes_into_a_part(part):
    host, _ = matrices("f4")
    whole, array = host.copy(), cupy.asarray(host)
    part(whole)[...] = 5 if part is not PARTS["F"] else part(whole)

    @cuda.jit
    def fill(out):
        i, j = cuda.grid(2)
        if i < out.shape[0] and j < out.shape[1]:
            out[i, j] = 5

    fill[(1, 1), (16, 16)](part(array))
    same(array, whole)


@pytest.mark.parametrize("launch", [
    lambda kernel, x: kernel[1, 64](x),
    lambda kernel, x: kernel.forall(x.size)(x),
    lambda kernel, x: kernel.launch(x.size)(x),
    lambda kernel, x: kernel.specialize(x)[1, 64](x),
    lambda kernel, x: kernel[1, 64](x=x),
    lambda kernel, x: kernel[1, 64](cuda.InOut(x)),
    lambda kernel, x: cuda.jit("void(float32[:])")(kernel.py_func)[1, 64](x),
], ids=["call", "forall", "launch", "specialize", "keyword", "InOut", "signature"])
def test_every_way_to_launch(launch):
    x = cupy.arange(40, dtype="f4")
    launch(cuda.jit(double), x)
    same(x, np.arange(0, 80, 2, dtype="f4"))


def test_behind_other_arguments():
    @cuda.jit
    def axpy(a, pair, host, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = a * pair[0][i] + pair[1][i] + host[i]

    x, y, out = cupy.arange(10.0), cupy.ones(10), cupy.zeros(10)
    axpy[1, 32](2, (x, y), np.arange(10.0), out)
    same(out, 3 * np.arange(10.0) + 1)


def test_the_same_kernel_with_other_arrays_in_between():
    kernel = cuda.jit(double)
    for array in cupy.ones(8, "f4"), np.ones(8, "f4"), cuda.to_device(np.ones(8, "f4")), cupy.ones(16, "f4")[::2]:
        kernel[1, 8](array)
        same(array, np.full(8, 2, "f4"))


def test_work_of_another_stream_is_waited_for():
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        x = cupy.zeros(1 << 22, "f4")
        for _ in range(200):
            x += 1
        cuda.jit(double)[(1 << 22) // 256, 256](x)
    same(x, np.full(1 << 22, 400, "f4"))


def test_datetimes():
    host = np.arange(5).astype("M8[s]")
    try:
        array, out = cupy.asarray(host), cupy.zeros(5, "M8[s]")
    except ValueError:
        pytest.skip("this CuPy has no datetime64")

    @cuda.jit
    def copy(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = x[i]

    copy[1, 32](array, out)
    same(out, host)


def test_arrays_that_repeat_elements():
    array = cupy.broadcast_to(cupy.arange(4.0), (3, 4))
    out = cupy.zeros((3, 4))
    cuda.jit(copy_matrix)[1, (8, 8)](array, out)
    same(out, np.broadcast_to(np.arange(4.0), (3, 4)))


# --- streams ----------------------------------------------------------------------------------------------------------

def test_a_launch_on_cupys_stream():
    stream = cupy.cuda.Stream(non_blocking=True)
    kernel = cuda.jit(double)
    with stream:
        x = cupy.zeros(1 << 20, "f4")
        for _ in range(5):
            x += 1
            kernel[1 << 12, 256, cupy.cuda.get_current_stream()](x)
    stream.synchronize()
    same(x, np.full(1 << 20, 62, "f4"))


def test_a_launch_in_cupys_graph():
    kernel, x = cuda.jit(double), cupy.ones(1000, "f4")
    kernel[4, 256](x.copy())
    cuda.synchronize()
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        kernel[4, 256, stream](x)
        graph = stream.end_capture()
        for _ in range(3):
            graph.launch()
    stream.synchronize()
    same(x, np.full(1000, 8, "f4"))


def test_copies_and_ufuncs_on_cupys_stream():
    stream = cupy.cuda.Stream(non_blocking=True)
    x = cuda.to_device(np.arange(4.0), stream=stream)
    result = vectorize(lambda a: a + 1)(x, stream=stream)
    assert result.copy_to_host(stream=stream).tolist() == [1, 2, 3, 4]


# --- DLPack -----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_dlpack_both_ways(dtype, part):
    host, array = matrices(dtype, part)
    same(cupy.from_dlpack(cuda.from_dlpack(array)), host)


def test_the_stream_of_a_consumer_waits():
    """CuPy's non-blocking stream sees what kernels of the default stream wrote."""
    ours = cuda.to_device(np.zeros(1 << 22, "f4"))

    @cuda.jit
    def count(x):
        i = cuda.grid(1)
        for _ in range(2000):
            x[i] += 1

    count[1 << 14, 256](ours)
    with cupy.cuda.Stream(non_blocking=True) as stream:
        theirs = cupy.from_dlpack(ours) + 0
        stream.synchronize()
    same(theirs, np.full(1 << 22, 2000, "f4"))


# --- ufuncs -----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("dtype", ["i8", "f4", "f8", "c16"])
def test_ufuncs(dtype, part):
    host, array = matrices(dtype, part)
    name = np.dtype(dtype).name
    for made in vectorize(lambda a, b: a + b), vectorize([f"{name}({name}, {name})"])(lambda a, b: a + b):
        result = made(array, array)
        assert isinstance(result, DeviceNDArray)
        same(result, host + host)
        same(made(array, host), host + host)
        out = cupy.zeros(host.shape, dtype)
        made(array, array, out=out)
        same(out, host + host)


def test_methods_of_ufuncs():
    add = vectorize(["float64(float64, float64)"])(lambda a, b: a + b)
    x = cupy.arange(6.0)
    assert add.reduce(x) == 15
    same(add.outer(x, x[::-1]), np.add.outer(np.arange(6.0), np.arange(6.0)[::-1]))


def test_gufuncs():
    @guvectorize(["void(float64[:], float64[:])"], "(n)->()")
    def total(row, out):
        out[0] = 0
        for value in row:
            out[0] += value

    host, array = matrices("f8", PARTS["backwards"])
    same(total(array), host.sum(axis=1))


def test_reductions():
    host, array = matrices("f8")
    for index in (slice(None), slice(None, None, -1), slice(1, None, 5)):
        assert cuda.reduce(lambda a, b: a + b)(array.ravel()[index]) == host.ravel()[index].sum()


# --- copies -----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("dtype", DTYPES)
def test_to_device_shares_the_memory(dtype):
    for part in PARTS.values():
        host, array = matrices(dtype, part)
        ours = cuda.to_device(array)
        assert ours.shape == host.shape and ours.dtype == dtype
        if host.size:
            assert ours.pointer == array.data.ptr and ours.strides == array.strides
        same(cupy.asarray(ours), host)


def test_copies_and_assignment():
    host, array = matrices("f4")
    ours = cuda.device_array_like(array)
    ours.copy_to_device(array)
    same(ours, host)
    ours[::2, 3:] = array[::2, 3:] * 10
    host[::2, 3:] *= 10
    same(ours, host)
    same(cuda.to_device(array, to=cuda.device_array(host.shape, "f4")), cupy.asnumpy(array))


@pytest.mark.parametrize("is_first", [True, False])
def test_numpys_functions_of_both(is_first):
    """Whichever comes first, the results are cujit's arrays, or both libraries' if CuPy takes the call."""
    host, theirs = matrices("f4")
    pair = (cuda.to_device(host + 1), theirs) if is_first else (theirs, cuda.to_device(host + 1))
    expected = (host + 1, host) if is_first else (host, host + 1)
    for function in (np.concatenate, np.stack, np.vstack):
        same(function(pair), function(expected))
    same(np.where(pair[0] > 2, *pair), np.where(expected[0] > 2, *expected))
    same(np.isclose(*pair), np.isclose(*expected))
    assert not np.array_equal(*pair) and not np.allclose(*pair)
    np.copyto(*pair)
    same(pair[0], expected[1])
