"""What programs of numba, CuPy and CudaPy do around their kernels, row by row: Numba's listings (B), CuPy's arrays,
events and caches (C), what CudaPy checks and keeps (D). What kernels may say is in test_seed_language.py; other rows
have files of their own."""
import cmath
import gc
import logging
import math
import types
from dataclasses import dataclass

import numpy as np
import pytest

import cujit
from cujit import _core, cuda, errors, guvectorize, vectorize


def placed_and_not(array):
    return array, cuda.to_device(array)


def on_host(array):
    return array.copy_to_host() if isinstance(array, cuda.DeviceNDArray) else array


# --- Numba ------------------------------------------------------------------------------------------------------------

def test_b1_b2_a_ufunc_of_a_list_of_signatures():
    @vectorize(["int64(int64, int64)", "float32(float32, float32)"], target="cuda")
    def add_ufunc(x, y):
        return x + y

    a, b = np.array([1, 2, 3, 4]), np.array([10, 20, 30, 40])
    got = add_ufunc(a, b)
    assert isinstance(got, np.ndarray) and got.tolist() == [11, 22, 33, 44]
    d = add_ufunc(cuda.to_device(a), b[:, None])
    assert isinstance(d, cuda.DeviceNDArray) and (d.copy_to_host() == a + b[:, None]).all()
    out = np.zeros(4, np.int64)
    assert add_ufunc(a, 1, out=out) is out and out.tolist() == [2, 3, 4, 5]
    assert add_ufunc(np.float32([0.5]), np.float32([1])).dtype == np.float32
    assert vectorize(lambda x, y: x + y)(a, 0.5).tolist() == [1.5, 2.5, 3.5, 4.5]


def test_b3_a_gufunc():
    @guvectorize(["void(float64[:], float64, float64[:])"], "(n),()->(n)")
    def move(x, by, out):
        for i in range(x.shape[0]):
            out[i] = x[i] + by

    for x in placed_and_not(np.arange(6.0).reshape(2, 3)):
        assert on_host(move(x, np.array([1.0, 2.0]))).tolist() == [[1, 2, 3], [5, 6, 7]]


@cuda.jit
def add_kernel(x, y, out):
    tx = cuda.threadIdx.x
    ty = cuda.blockIdx.x
    block_size = cuda.blockDim.x
    grid_size = cuda.gridDim.x
    start = tx + ty * block_size
    stride = block_size * grid_size
    for i in range(start, x.shape[0], stride):
        out[i] = x[i] + y[i]


def test_b4_b8_the_first_listing():
    """With host arrays: what is only read is not copied back."""
    n = 10_000
    x = np.arange(n).astype(np.float32)
    y = 2 * x
    x.flags.writeable = y.flags.writeable = False
    out = np.empty_like(x)
    add_kernel[30, 128](x, y, out)
    assert out[:10].tolist() == [0, 3, 6, 9, 12, 15, 18, 21, 24, 27] and (out == x + y).all()


def test_b5_variables_of_cuda_in_three_dimensions():
    @cuda.jit
    def tell(out):
        i = ((cuda.blockIdx.z * cuda.gridDim.y + cuda.blockIdx.y) * cuda.gridDim.x + cuda.blockIdx.x)
        j = ((cuda.threadIdx.z * cuda.blockDim.y + cuda.threadIdx.y) * cuda.blockDim.x + cuda.threadIdx.x)
        out[i * cuda.blockDim.x * cuda.blockDim.y * cuda.blockDim.z + j] += 1

    out = np.zeros(2 * 3 * 4 * 5 * 2 * 3, np.int32)
    tell[(2, 3, 4), (5, 2, 3)](out)
    assert (out == 1).all()


def test_b10_compiled_at_the_first_use_or_at_once():
    lazy = cuda.jit(lambda x: None)
    assert not lazy.signatures
    lazy[1, 1](np.zeros(1))
    assert len(lazy.signatures) == 1
    eager = cuda.jit("void(float32[:])")(lambda x: None)
    assert len(eager.signatures) == 1


def test_b14_every_function_of_math_and_cmath():
    """Their largest errors: docs/accuracy.md. Values: test_library.py, test_numpy_values.py, test_libdevice.py."""
    known = {path for row in _core.intrinsic_table for path in row["paths"]}
    missing = {f"{module.__name__}.{name}" for module in (math, cmath) for name, value in vars(module).items()
               if isinstance(value, types.BuiltinFunctionType)} - known
    assert missing <= {"math.fsum", "math.sumprod"}   # of as many numbers as there are


# --- CuPy -------------------------------------------------------------------------------------------------------------

def test_c1_c2_to_the_device_and_back():
    for given in ([1, 2, 3], (1, 2, 3), np.array([1, 2, 3]), range(1, 4), np.array([[1, 2, 3]])[0]):
        d = cuda.to_device(given if not isinstance(given, range) else list(given))
        assert d.get().tolist() == d.copy_to_host().tolist() == np.asarray(d).tolist() == [1, 2, 3]
    assert cuda.to_device(2.5).shape == ()


def test_c4_data_stays_on_the_device(monkeypatch):
    x, copies = cuda.to_device(np.ones(256, np.float32)), []
    for name in ("copy_to_host", "copy_to_device"):
        monkeypatch.setattr(_core, name, lambda *arguments, name=name: copies.append(name))
    for _ in range(3):
        add_kernel[1, 256](x, x, x)
    x += 1
    total = x.sum()
    assert copies == []
    monkeypatch.undo()
    assert float(total) == 256 * 9


def test_c22_events_measure():
    start, end = cuda.event(), cuda.event()
    start.record()
    add_kernel[1, 32](*(cuda.device_array(32) for _ in range(3)))
    end.record()
    end.synchronize()
    assert cuda.event_elapsed_time(start, end) >= 0 and start.elapsed_time(end) >= 0


def test_c23_what_the_first_call_costs_is_told_apart(caplog):
    """Compiling and loading; the context is there before."""
    kernel = cuda.jit(lambda x: None)
    with caplog.at_level(logging.INFO, "cujit"):
        kernel[1, 1](np.zeros(3))
    assert "frontend" in caplog.text and "codegen" in caplog.text and "load" in caplog.text


def test_c24_d21_a_second_process_compiles_nothing(run_python, tmp_path):
    program = """
import logging, sys
import numpy as np
logging.basicConfig(level=logging.INFO, stream=sys.stdout)
from cujit import cuda
@cuda.jit
def double(x):
    x[cuda.grid(1)] *= 2
x = np.ones(32)
double[1, 32](x)
print(int(x.sum()))
"""
    first, second = (run_python(program, CUJIT_CACHE="1", CUJIT_CACHE_DIR=str(tmp_path / "cache")) for _ in range(2))
    assert "compiled double" in first and "compiled double" not in second and "64" in second


def test_c29_what_is_out_of_bounds_is_reported_and_what_comes_twice_counts_twice():
    @cuda.jit(check="bounds")
    def far(x, i):
        x[i] = 1

    with pytest.raises(IndexError):
        far[1, 1](cuda.to_device(np.zeros(3)), 7)
        cuda.synchronize()
    x = cuda.to_device(np.zeros(3))
    np.add.at(x, [1, 1, 2], 1.0)
    assert x.copy_to_host().tolist() == [0, 2, 1]


@pytest.mark.parametrize("wrong", ["text", object(), np.array(["text"]), np.array([None])],
                         ids=["text", "object", "array of text", "array of objects"])
def test_c31_what_is_no_number_is_named(wrong):
    with pytest.raises(TypeError, match="'y'"):
        add_kernel[1, 1](np.zeros(1), wrong, np.zeros(1))


def test_c32_arrays_of_other_libraries_are_arguments():
    """Decompositions and random arrays are CuPy's and PyTorch's (docs/interoperability.md); random numbers in kernels
    and products of matrices are here."""
    class Library:
        """What NumPy knows nothing of."""

        def __init__(self, array):
            self.__cuda_array_interface__ = array.__cuda_array_interface__
            self.array = array

    x, out = cuda.to_device(np.arange(3.0)), cuda.device_array(3)
    add_kernel[1, 3](Library(x), x, Library(out))
    assert out.copy_to_host().tolist() == [0, 2, 4]
    states = cuda.random.create_xoroshiro128p_states(2, seed=1)
    assert states is not None and (x.reshape(3, 1) @ x.reshape(1, 3)).shape == (3, 3)


# --- CudaPy -----------------------------------------------------------------------------------------------------------

def test_d11_memory_goes_with_its_object():
    pool = cuda.get_default_memory_pool()
    gc.collect()
    before = pool.used_bytes()
    x = cuda.to_device(np.zeros(1000))
    view = x[10:20]
    del x
    assert pool.used_bytes() >= before + 8000 and view.copy_to_host().sum() == 0
    del view
    assert pool.used_bytes() == before


def test_d19_calls_are_checked_before_the_launch():
    with pytest.raises(errors.LaunchArgumentError, match="takes 3 arguments"):
        add_kernel[1, 1](np.zeros(1))
    with pytest.raises(TypeError, match="'out'"):
        add_kernel[1, 1](np.zeros(1), np.zeros(1), {"no": "array"})


def test_d22_closures_dataclasses_and_code_without_a_source():
    @dataclass
    class Line:
        slope: float
        offset: float

    factor = 3.0
    namespace = {"math": math}
    exec("def half(x):\n    return math.floor(x) * 0.5", namespace)
    half = namespace["half"]

    @cuda.jit
    def kernel(line, x):
        def shifted(value):
            return value * factor + line.offset

        shared = cuda.shared.array(32, cujit.types.float64)
        i = cuda.threadIdx.x
        shared[i] = shifted(x[i] * line.slope)
        cuda.syncthreads()
        x[i] = half(shared[31 - i])

    x = np.arange(32.0)
    kernel[1, 32](Line(2.0, 1.0), x)
    np.testing.assert_array_equal(x, (np.arange(32)[::-1] * 2 * 3 + 1) * 0.5)
