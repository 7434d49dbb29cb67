"""x.view(dtype) of a number: its bits as another number of the same size, as NumPy's scalars have it."""
import numpy as np
import pytest

from cujit import cuda, errors, float32, int64

SIGNED, UNSIGNED, FLOATS = ("int8", "int16", "int32", "int64"), ("uint8", "uint16", "uint32", "uint64"), \
    ("float16", "float32", "float64")
PAIRS = [(a, b) for a in SIGNED + UNSIGNED + FLOATS for b in SIGNED + UNSIGNED + FLOATS
         if np.dtype(a).itemsize == np.dtype(b).itemsize]


@pytest.mark.parametrize("before, after", PAIRS)
def test_bits_stay(before, after):
    values = np.frombuffer(np.random.default_rng(7).bytes(64 * np.dtype(before).itemsize), before)

    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = x[i].view(after)

    out = np.zeros(64, after)
    kernel[1, 64](values, out)
    kept = ~np.isnan(values) if before in FLOATS else np.full(64, True)   # the payload of a NaN is nobody's promise
    assert out[kept].tobytes() == values[kept].view(after).tobytes()


def test_as_an_index_and_in_formulas():
    """What checks of indices prove does not take the number for its bits."""
    @cuda.jit(check="bounds,overflow")
    def kernel(x, roots, picked):
        i = cuda.grid(1)
        if i < x.size:
            half = float32(0.5) * x[i]
            guess = np.int32(0x5F3759DF - (x[i].view(np.int32) >> 1)).view(np.float32)
            roots[i] = guess * (float32(1.5) - half * guess * guess)
            picked[i] = x[(x[i].view(np.uint32) >> 20) & 3]

    x = np.array([0.25, 1, 2.5, 9, 1e6], np.float32)
    roots, picked = np.zeros(5, np.float32), np.zeros(5, np.float32)
    kernel[1, 32](x, roots, picked)
    assert np.allclose(roots, x ** -0.5, rtol=2e-3)
    assert picked.tolist() == x[(x.view(np.uint32) >> 20) & 3].tolist()


def test_an_index_that_is_out_of_bounds_is_found():
    @cuda.jit(check="bounds")
    def kernel(x, out):
        out[x[0].view(np.int64)] = 1

    with pytest.raises(IndexError):
        kernel[1, 1](np.array([2.0]), np.zeros(4))
    kernel[1, 1](np.array([3]).view(np.float64), np.zeros(4))


@pytest.mark.parametrize("call", ["x[0].view(np.int32)", "x[0].view(np.complex64)", "x[0].view()", "x[0].view(3)",
                                  "x[0].view(np.bool_)", "x[0].view(dtype=np.int64)"])
def test_what_is_no_view(call):
    names = {"np": np}
    exec(f"def kernel(x, out):\n    out[0] = {call}", names)
    with pytest.raises(errors.TypingError, match="it takes a dtype of integers or floats of the number's size"):
        cuda.jit(names["kernel"])[1, 1](np.zeros(1), np.zeros(1, np.int64))


def test_ptx():
    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = x[i].view(np.int32) & 0x7FFFFFFF

    ptx, _ = cuda.compile_ptx(kernel, (float32[:], int64[:]), cc=(8, 0))
    assert "cvt.rzi" not in ptx
