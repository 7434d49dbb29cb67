"""cuda.elementwise and cuda.fuse beside NumPy: shapes, layouts, dtypes, raw arguments, several results, errors."""
import operator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

from cujit import cuda, vectorize
from cujit._algorithms import loops
from cujit.errors import LaunchArgumentError, TypingError

SHAPES = [(), (0,), (1,), (5,), (257,), (3, 0), (4, 5), (2, 3, 4)]
DTYPES = [np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.float16,
          np.float32, np.float64, np.complex64, np.complex128]


class Point(NamedTuple):
    x: float
    y: float


@dataclass
class Span:
    low: float
    high: float


def on_device(*arrays):
    return [cuda.to_device(a) for a in arrays]


def test_C7_elementwise_kernel(rng):
    """Row C7: typed, broadcasting, raw arguments, the index."""
    squared_diff = cuda.elementwise(lambda x, y: (x - y) ** 2, name="squared_diff")
    x, y = rng.random((5, 4), np.float32), rng.random(4, np.float32)
    np.testing.assert_array_equal(squared_diff(x, y), (x - y) ** 2)
    d_x, d_y = on_device(x, y)
    got = squared_diff(d_x, d_y)
    assert isinstance(got, cuda.DeviceNDArray) and got.dtype == np.float32 and squared_diff.__name__ == "squared_diff"
    np.testing.assert_array_equal(got.copy_to_host(), (x - y) ** 2)
    reverse = cuda.elementwise(lambda i, x, y: x[x.size - 1 - i] * y, raw="x", index="i")
    np.testing.assert_array_equal(reverse(d_y, d_x[0]).copy_to_host(), y[::-1] * x[0])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_shape_and_dtype(shape, dtype):
    x = (np.arange(np.prod(shape, dtype=int)) % 5).astype(dtype).reshape(shape)
    same = cuda.elementwise("x", dtype=dtype)
    for given in (x, np.array(x, order="F"), np.repeat(x, 2, -1)[..., ::2] if shape else x, x[::-1] if shape else x):
        got = same(given)
        assert got.dtype == dtype and np.shape(got) == shape
        np.testing.assert_array_equal(got, given)


def test_expressions_name_their_parameters_in_order():
    f = cuda.elementwise("y - 2 * x + math.floor(z)")
    assert f(10.0, 3.0, 0.5) == 4.0   # y, x, z
    assert cuda.elementwise("a - b", "b, a")(1, 10) == 9
    assert cuda.elementwise("sum(e * k for e in (x, 2))", "x k")(np.array([1, 2]), 3).tolist() == [9, 12]
    with pytest.raises(SyntaxError):
        cuda.elementwise("x +")
    with pytest.raises(TypeError, match="of an expression"):
        cuda.elementwise(lambda x: x, "x")


def test_functions_of_any_kind():
    x, y = np.array([1, 5, 2]), np.array([4, 3, 2])
    plus = vectorize(lambda a, b: a + b)
    larger = cuda.jit(lambda a, b: a if a > b else b, device=True)
    for function, expected in ((operator.mul, x * y), (np.maximum, np.maximum(x, y)), (max, np.maximum(x, y)),
                               (plus, x + y), (larger, np.maximum(x, y))):
        assert cuda.elementwise(function)(x, y).tolist() == expected.tolist()

    @cuda.elementwise(dtype=np.float32)
    def half(x):
        return x / 2
    assert half(x).dtype == np.float32
    with pytest.raises(TypeError, match="expected a function, not int"):
        cuda.elementwise(3)
    with pytest.raises(TypeError, match="no option 'fastmth'"):
        cuda.elementwise(lambda x: x, fastmth=True)


@pytest.mark.parametrize("n", [1, 1000, 4097])
def test_several_results(rng, n):
    x, y = rng.random(n, np.float32), rng.integers(1, 9, n)
    divided = cuda.elementwise(lambda x, y: (x // y, (x % y, y > 3)))
    quotient, (rest, is_large) = divided(x, y)
    np.testing.assert_array_equal(quotient, x // y)
    np.testing.assert_array_equal(rest, x % y)
    np.testing.assert_array_equal(is_large, y > 3)
    out = np.empty(n), (np.empty(n), np.empty(n, np.bool_))
    got = divided(x, y, out=out)
    assert got[0] is out[0] and got[1][1] is out[1][1]
    np.testing.assert_array_equal(out[1][1], y > 3)


@pytest.mark.parametrize("n", [1, 7, 8, 1003])
def test_reads_of_sixteen_bytes(rng, monkeypatch, n):
    """The kernels that a GPU has for packed arrays, on the device in use."""
    monkeypatch.setattr(loops, "need_device", lambda: SimpleNamespace(kind="cuda"))
    x, y = on_device(rng.random(n, np.float32), rng.integers(0, 9, n).astype(np.int16))
    f = cuda.elementwise(lambda i, x, y, s: (x * y + i, y > s), index="i", dtype=(np.float32, np.bool_))
    total, is_large = f(x, y, 3)
    assert [key[-1] for key in f._kernels] == [4]
    np.testing.assert_allclose(total, x.copy_to_host() * y.copy_to_host() + np.arange(n), rtol=1e-6)
    np.testing.assert_array_equal(is_large, y.copy_to_host() > 3)


def test_tuples_and_dataclasses_of_arrays(rng):
    x, y = rng.random((2, 50))
    turned = cuda.elementwise(lambda p, s: Point(-p.y * s, p.x * s))(Point(x, y), 2.0)
    assert type(turned).__name__ == "Point" and turned._fields == ("x", "y")
    np.testing.assert_array_equal(turned.x, -y * 2)
    np.testing.assert_array_equal(turned.y, x * 2)
    length = cuda.elementwise(lambda span: span.high - span.low)
    np.testing.assert_array_equal(length(Span(x, 2.0)), 2.0 - x)
    np.testing.assert_array_equal(cuda.elementwise(lambda t: t[0] + t[1][0])((x, (y,))), x + y)


def test_records():
    a = np.zeros(7, np.dtype([("x", np.float32), ("n", np.int32)], align=True))
    a["x"], a["n"] = np.arange(7), 3
    np.testing.assert_array_equal(cuda.elementwise(lambda r: r.x * r.n)(a), a["x"] * 3)
    copied = cuda.elementwise(lambda r: r)(cuda.to_device(a)[::2]).copy_to_host()
    np.testing.assert_array_equal(copied, a[::2])


def test_out_may_overlap_and_convert():
    x = np.arange(10.0)
    d = cuda.to_device(x)
    plus = cuda.elementwise(lambda x, y: x + y)
    plus(d[:-1], d[1:], out=d[1:])
    np.testing.assert_array_equal(d.copy_to_host(), np.concatenate([[0], x[:-1] + x[1:]]))
    single = np.zeros((10, 2), np.float32)[:, 0]
    assert plus(x, 1.0, out=single) is single and single[9] == 10
    swapped = cuda.elementwise(lambda x, y: (y, x))
    a, b = on_device(np.arange(5), np.arange(5) * 7)
    swapped(a, b, out=(a, b))
    assert a.copy_to_host()[4] == 28 and b.copy_to_host()[4] == 4
    with pytest.raises(TypeError, match="int32; the result has float64"):
        plus(x, 1.0, out=np.zeros(10, np.int32))
    with pytest.raises(ValueError, match="shape"):
        plus(x, 1.0, out=np.zeros(9))
    with pytest.raises(TypeError, match="out is a tuple of 2"):
        swapped(a, b, out=a)


def test_raw_arguments_can_be_written(rng):
    x = rng.integers(0, 5, 1000)
    count = cuda.elementwise(lambda x, bins: cuda.atomic.add(bins, x, 1) * 0, raw=["bins"])
    bins = cuda.to_device(np.zeros(5, np.int64))
    count(x, bins)
    np.testing.assert_array_equal(bins.copy_to_host(), np.bincount(x, minlength=5))

    @cuda.elementwise(raw="out", index="i")
    def put(i, x, out):
        out[i] = 2 * x
    host = np.zeros(1000, np.int64)
    assert put(x, host) is None
    np.testing.assert_array_equal(host, 2 * x)
    with pytest.raises(TypeError, match="has no out"):
        put(x, host, out=host)


def test_the_index_counts_in_c_order_whatever_the_layout():
    x = np.asfortranarray(np.zeros((3, 4, 5)))
    number = cuda.elementwise(lambda i, x: x + i, index="i")
    np.testing.assert_array_equal(number(cuda.to_device(x)).copy_to_host(), np.arange(60.0).reshape(3, 4, 5))
    np.testing.assert_array_equal(cuda.elementwise("i * i", index="i", dtype=np.int16)(size=(2, 3)),
                                  np.arange(6).reshape(2, 3) ** 2)


def test_refusals():
    f = cuda.elementwise(lambda x, y: x + y)
    with pytest.raises(LaunchArgumentError, match=r"takes 2 arguments \(x, y\), 1 given"):
        f(1)
    with pytest.raises(ValueError, match="broadcast|shape"):
        f(np.zeros(3), np.zeros(4))
    with pytest.raises(ValueError, match="no parameter 'z'; it has x, y"):
        cuda.elementwise(lambda x, y: x, raw="z")
    with pytest.raises(ValueError, match="needs a size"):
        cuda.elementwise(lambda x: x[0], raw="x")(np.zeros(3))
    with pytest.raises(ValueError, match="only where no argument has a shape"):
        f(np.zeros(3), 1, size=3)
    with pytest.raises(TypeError, match="the result of '<lambda>': no array holds values of type Tuple"):
        cuda.elementwise(lambda x: (x, None))(np.zeros(3))
    with pytest.raises(TypingError, match="(?s)test_elementwise.py.*x.nothing"):
        cuda.elementwise(lambda x: x.nothing)(np.zeros(3))


def test_C10_fuse_makes_one_kernel_with_the_chosen_name(rng):
    """Row C10: a NumPy-style function as one kernel."""
    @cuda.fuse(kernel_name="squared_diff")
    def f(x, y):
        return np.square(x - y)
    x, y = rng.random((2, 100), np.float32)
    got = f(*on_device(x, y))
    assert f.__name__ == "squared_diff" and len(f._kernels) == 1 and got.dtype == np.float32
    np.testing.assert_array_equal(got.copy_to_host(), np.square(x - y))
    kernel, = f._kernels.values()
    assert kernel.__name__ == "squared_diff" and kernel.signatures


@pytest.mark.parametrize("dtype", [np.int16, np.float32, np.float64])
def test_C33_a_fused_function_gives_what_numpy_gives(rng, dtype):
    """Row C33: sin(x) + cos(y) / sqrt(z); its time is in benchmarks/algorithms.py."""
    def f(x, y, z):
        t = np.sin(x) + np.cos(y) / np.sqrt(z)
        return np.where(t > 1, t, x * 2), x * 2 + 1
    x, y, z = (rng.random((3, 40)) * 9 + 1).astype(dtype)
    for got, expected in zip(cuda.fuse(f)(x, y, z), f(x, y, z), strict=True):
        assert got.dtype == expected.dtype
        np.testing.assert_allclose(got, expected, rtol=1e-5 if got.dtype == np.float32 else 1e-12)


def test_fused_results_have_numpys_dtypes():
    x = np.arange(5, dtype=np.float32)
    assert cuda.fuse(lambda x: x * 2.5 + 1)(x).dtype == np.float32
    assert cuda.fuse(lambda x, y: x + y)(np.arange(3, dtype=np.int8), 3).dtype == np.int8
    assert cuda.fuse(lambda x: cuda.popc(x))(np.arange(3)).tolist() == [0, 1, 1]   # NumPy cannot run it

    def changes(x):
        x += 1
        return x
    with pytest.raises(TypeError, match="'changes' writes to an argument"):
        cuda.fuse(changes)(x)


def test_outputs_behind_the_arguments(rng):
    """As NumPy's ufuncs and CuPy's kernels take them."""
    x = rng.random((3, 4), np.float32)
    d, out, other = cuda.to_device(x), cuda.device_array((3, 4), np.float32), cuda.device_array((3, 4), np.float32)
    squared_diff = cuda.elementwise(lambda x, y: (x - y) * (x - y))
    assert squared_diff(d, 1, out) is out
    np.testing.assert_allclose(out.copy_to_host(), (x - 1) ** 2, rtol=1e-6)
    both = cuda.elementwise(lambda x: (x + 1, x - 1))(d, out, other)
    assert both[0] is out and both[1] is other
    sums = cuda.device_array(3, np.float32)
    assert cuda.reduction("x * x", "a + b", identity=0.0)(d, sums, axis=1) is sums
    np.testing.assert_allclose(sums.copy_to_host(), (x * x).sum(1), rtol=1e-6)
    with pytest.raises(TypeError, match="out is an array, not tuple"):
        squared_diff(d, 1, out, other)


def test_numbers_as_another_type(rng):
    """x.astype() of arrays is one of numbers in a fused function, and so in any kernel."""
    x = rng.random(5, np.float32) * 9

    @cuda.fuse
    def whole(x):
        return x.astype("i4") + x.astype(np.float64) * 0

    for given in (x, cuda.to_device(x)):
        got = np.asarray(whole(given))
        assert got.dtype == np.float64 and (got == np.trunc(x)).all()
    with pytest.raises(TypingError, match="it takes a dtype of numbers"):
        cuda.map(lambda x: x.astype(3), x)
