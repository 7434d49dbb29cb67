"""Functions of small arrays through shared memory, as GPUs do them: what they compute on the device in use, and PTX."""
import numpy as np
import pytest

from cujit import _core, cuda, guvectorize
from cujit._ufunc import array_loop, staged_call

DTYPES = ["int8", "float16", "float32", "complex128"]


@pytest.fixture(autouse=True)
def plans(monkeypatch):
    """What was planned; None where the function was called with the arrays as they are."""
    made = []

    def planned(*arguments, function=staged_call.planned):
        made.append(function(*arguments))
        return made[-1]
    monkeypatch.setattr(array_loop, "plans_for_gpu", lambda: True)
    monkeypatch.setattr(staged_call, "planned", planned)
    return made


def dot_of(dtype):
    @guvectorize([f"void({dtype}[:], {dtype}[:], {dtype}[:])"], "(n),(n)->()")
    def dot(a, b, out):
        total = a[0] * b[0]
        for k in range(1, a.shape[0]):
            total += a[k] * b[k]
        out[0] = total
    return dot


def product_of(dtype):
    @guvectorize([f"void({dtype}[:, :], {dtype}[:, :], {dtype}[:, :])"], "(m,n),(n,p)->(m,p)")
    def product(a, b, out):
        for i in range(a.shape[0]):
            for j in range(b.shape[1]):
                total = a[i, 0] * b[0, j]
                for k in range(1, a.shape[1]):
                    total += a[i, k] * b[k, j]
                out[i, j] = total
    return product


@guvectorize(["void(float32[:], float32[:])"], "(n)->(n)")
def every_other(x, out):
    for i in range(0, x.shape[0], 2):
        out[i] = 2 * x[i]


# --- values ----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("dtype", DTYPES)
def test_rows(rng, plans, dtype):
    dot = dot_of(dtype)
    for n, batch in [(5, (4, 3)), (8, (5,)), (33, (257,)), (128, (129,)), (16, (7, 40))]:
        x, y = rng.integers(0, 2, (2, *batch, n)).astype(dtype)
        d_x, d_y = cuda.to_device(x), cuda.to_device(y)
        wanted = (x * y).sum(axis=-1, dtype=dtype)
        np.testing.assert_array_equal(dot(d_x, d_y).copy_to_host(), wanted)
        assert plans[-1] is not None or not 16 < n * x.itemsize < 2500
        np.testing.assert_array_equal(dot(d_x[::-1], d_y[::-1]).copy_to_host(), wanted[::-1])
        np.testing.assert_array_equal(dot(d_x[::2], d_y[0]).copy_to_host(),
                                      (x[::2] * y[0]).sum(axis=-1, dtype=dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_matrices(rng, plans, dtype):
    product = product_of(dtype)
    for shape, p in [((500, 4, 4), 4), ((257, 3, 5), 6), ((3, 50, 4, 4), 4)]:
        x, y = rng.integers(0, 3, shape).astype(dtype), rng.integers(0, 3, (*shape[:-2], shape[-1], p)).astype(dtype)
        d_x, d_y = cuda.to_device(x), cuda.to_device(y)
        np.testing.assert_array_equal(product(d_x, d_y).copy_to_host(), np.matmul(x, y))
        assert plans[-1] is not None or dtype == "int8"
        np.testing.assert_array_equal(product(d_x[::2], d_y[::2]).copy_to_host(), np.matmul(x[::2], y[::2]))
        first = y[(0,) * (y.ndim - 2)]
        np.testing.assert_array_equal(product(d_x, cuda.to_device(first)).copy_to_host(), np.matmul(x, first))


@pytest.mark.parametrize("threads", [32, 100, 256, 1024])
def test_any_number_of_threads(rng, threads):
    dot, product = dot_of("float32"), product_of("float32")
    dot.max_blocksize = product.max_blocksize = threads
    x = rng.integers(0, 3, (300, 12)).astype(np.float32)
    np.testing.assert_array_equal(dot(*[cuda.to_device(x)] * 2).copy_to_host(), (x * x).sum(1))
    x = rng.integers(0, 3, (300, 2, 3)).astype(np.float32)
    y = np.ascontiguousarray(x.transpose(0, 2, 1))
    np.testing.assert_array_equal(product(cuda.to_device(x), cuda.to_device(y)).copy_to_host(), x @ y)


def test_what_is_not_written_stays(rng, plans):
    x = rng.integers(0, 9, (100, 11)).astype(np.float32)
    out = np.full((100, 11), 7, np.float32)
    d_out = cuda.to_device(out)
    every_other(cuda.to_device(x), out=d_out)
    out[:, ::2] = 2 * x[:, ::2]
    np.testing.assert_array_equal(d_out.copy_to_host(), out)
    assert plans[-1] is not None


def test_input_and_output_in_one_array(rng):
    x = rng.integers(0, 9, (65, 20)).astype(np.float32)
    both = cuda.to_device(x)
    every_other(both, out=both)
    np.testing.assert_array_equal(both.copy_to_host()[:, ::2], 2 * x[:, ::2])


def test_arrays_that_do_not_fit_or_have_gaps_are_passed_as_they_are(rng, plans):
    dot = dot_of("float64")
    x = rng.integers(0, 3, (20, 4000)).astype(np.float64)
    d_x = cuda.to_device(x)
    np.testing.assert_array_equal(dot(d_x, d_x).copy_to_host(), (x * x).sum(1))
    np.testing.assert_array_equal(dot(d_x[:, :64:2], d_x[:, :64:2]).copy_to_host(), (x[:, :64:2] ** 2).sum(1))
    assert plans == [None, None]


# --- code ------------------------------------------------------------------------------------------------------------

@pytest.fixture
def launched(monkeypatch):
    """(kernel, PTX, threads, bytes of dynamic shared memory) of what would have been launched."""
    seen = []

    def observed(kernel, blocks, threads, stream=0, sharedmem=0):
        def launch(*arguments):
            ptx = cuda.compile_ptx(kernel.py_func, tuple(map(_core.type_of, arguments)), cc=(9, 0), **kernel.options)[0]
            seen.append((kernel, ptx, threads, sharedmem))
        return launch
    monkeypatch.setattr(array_loop, "quiet_launcher", observed)
    return seen


@pytest.mark.parametrize(("make", "shape"), [(dot_of, (64, 128)), (product_of, (64, 4, 4))])
def test_neighbours_read_neighbours(launched, make, shape):
    make("float32")(*[cuda.device_array(shape, np.float32)] * 2)
    _, ptx, threads, shared = launched[0]
    assert not {"div.u64", "div.s64", "rem.u64", "rem.s64"} & set(ptx.split())
    assert "st.shared.b32" in ptx and "ld.shared.b32" in ptx and "\tld.b32" not in ptx
    before_the_barrier, behind = ptx[:ptx.index("bar.sync")], ptx[ptx.index("bar.sync"):]
    assert before_the_barrier.count("ld.global.b32") >= 16 and "ld.global" not in behind
    assert threads == 128 and shared <= 44 * 1024


def test_short_axes_are_constants(launched):
    """Each thread of a product of 4 x 4 reads each element of its operands once, none of its own results."""
    product_of("float32")(*[cuda.device_array((256, 4, 4), np.float32)] * 2)
    _, ptx, _, shared = launched[0]
    reading, computing, writing = ptx.split("bar.sync")
    assert shared == 0 and reading.count("st.shared.b32") < 64
    assert (computing.count("ld.shared.b32"), computing.count("st.shared.b32")) == (32, 16)
    assert computing.count("fma.rn.f32") == 48 and "setp.lt" not in computing


def test_registers_for_as_many_blocks_as_shared_memory_leaves_room_for(launched):
    dot_of("float32")(*[cuda.device_array((64, 128), np.float32)] * 2)
    kernel, ptx, threads, shared = launched[0]
    assert kernel.options["launch_bounds"] == (threads, 224 * 1024 // shared) == (128, 6)
    assert ".minnctapersm 6" in ptx and ".maxntid 128" in ptx
