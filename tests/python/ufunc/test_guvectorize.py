"""@guvectorize: layouts, which signature, broadcasting of the batch, outputs of any kind, and what it refuses."""
import pickle

import numpy as np
import pytest

from cujit import cuda, float64, guvectorize, int64, void
from cujit._ufunc import operands
from cujit._ufunc.gufunc import Layout
from cujit.errors import OptionsWarning


@guvectorize(["void(float32[:], float32[:])", "void(float64[:], float64[:])", "void(int32[:], int64[:])"], "(n)->(n)",
             target="cuda")
def running_sum(x, out):
    total = x[0] - x[0]
    for i in range(x.size):
        total += x[i]
        out[i] = total


@guvectorize([void(float64[:], float64, float64[:])], "(n),()->()")
def weighted(x, weight, out):
    out[0] = 0.0
    for item in x:
        out[0] += item * weight


@guvectorize("(m,n),(n)->(m)")
def product(a, x, out):
    for i in range(a.shape[0]):
        total = a[i, 0] * x[0]
        for k in range(1, a.shape[1]):
            total += a[i, k] * x[k]
        out[i] = total


@pytest.mark.parametrize("text, inputs, outputs", [
    ("(n)->()", [("n",)], [()]),
    ("(),()->(),()", [(), ()], [(), ()]),
    (" ( m , n ),(n,p) -> (m,p)", [("m", "n"), ("n", "p")], [("m", "p")]),
    ("(3),(n,3)->(n,2)", [(3,), ("n", 3)], [("n", 2)]),
])
def test_layouts(text, inputs, outputs):
    layout = Layout(text)
    assert (layout.inputs, layout.outputs) == (inputs, outputs)


@pytest.mark.parametrize("text", ["", "(n)", "(n)->", "->(n)", "(n->(n)", "(n,)->(n)", "(n) (m)->(n)", "(n?)->(n)"])
def test_what_is_no_layout(text):
    with pytest.raises(ValueError, match="no layout"):
        Layout(text)


def test_any_layout_of_rows_and_batches(rng):
    for _ in range(40):
        shape = tuple(int(n) for n in rng.integers(1, 5, rng.integers(0, 4))) + (6,)
        base = np.array(rng.integers(-50, 50, [2 * n for n in shape]), np.int32, order=rng.choice(["C", "F"]))
        x = base[tuple(slice(None, None, 2) if rng.random() < 0.5 else slice(0, n) for n in shape)]
        expected = np.cumsum(x, axis=-1)
        out = running_sum(x)
        assert out.dtype == np.int64
        np.testing.assert_array_equal(out, expected)
        d = cuda.to_device(np.asarray(x).copy(rng.choice(["C", "F"])))
        np.testing.assert_array_equal(running_sum(d[..., ::-1]).copy_to_host(), np.cumsum(x[..., ::-1], axis=-1))


def test_batches_broadcast():
    x, weight = np.arange(24.0).reshape(2, 1, 12), np.array([[1.0], [2.0], [3.0]])[None, :, 0]
    np.testing.assert_array_equal(weighted(x, weight), x.sum(axis=-1) * weight)
    np.testing.assert_array_equal(weighted(x[0, 0], 2), x[0, 0].sum() * 2)
    np.testing.assert_array_equal(weighted(cuda.to_device(x), 0.5).copy_to_host(), x.sum(axis=-1) * 0.5)


def test_without_signatures_the_call_says_the_types():
    a, x = np.arange(24, dtype=np.float32).reshape(2, 3, 4), np.arange(4, dtype=np.float32)
    out = np.zeros((2, 3), np.float32)
    assert product(a, x, out) is out
    np.testing.assert_array_equal(out, a @ x)
    d_out = cuda.device_array((2, 3), np.float64)
    product(cuda.to_device(a.astype(np.float64)), x.astype(np.float64), out=d_out)
    np.testing.assert_array_equal(d_out.copy_to_host(), a @ x)
    with pytest.raises(TypeError, match="pass them"):
        product(a, x)


def test_an_input_without_axes_can_be_an_array_of_one():
    @guvectorize(["void(float64[:], int64[:], float64[:])"], "(n),()->(n)")
    def roll(x, k, out):
        for i in range(x.size):
            out[(i + k[0]) % x.size] = x[i]

    x = np.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(roll(x, 1), np.roll(x, 1, axis=-1))
    np.testing.assert_array_equal(roll(x, np.array([0, 1, 2])), [np.roll(row, k) for k, row in enumerate(x)])


def test_fixed_lengths():
    @guvectorize(["void(float64[:], float64[:], float64[:])"], "(3),(3)->(3)")
    def cross(a, b, out):
        out[0] = a[1] * b[2] - a[2] * b[1]
        out[1] = a[2] * b[0] - a[0] * b[2]
        out[2] = a[0] * b[1] - a[1] * b[0]

    a, b = np.arange(12.0).reshape(4, 3), np.array([1.0, -2.0, 3.0])
    np.testing.assert_array_equal(cross(a, b), np.cross(a, b))
    with pytest.raises(ValueError, match="input 1 has 2 where the layout"):
        cross(a, b[:2])


def test_out_may_overlap_an_input():
    x = np.arange(40.0)
    d = cuda.to_device(x)
    running_sum(d[:30].reshape(3, 10), out=d[10:].reshape(3, 10))
    np.testing.assert_array_equal(d.copy_to_host()[10:], np.cumsum(x[:30].reshape(3, 10), axis=-1).ravel())
    host = x.copy()
    running_sum(host[::-1], host)
    np.testing.assert_array_equal(host, np.cumsum(x[::-1]))


@pytest.mark.parametrize("is_in_place", [True, False], ids=["memory of the device", "copied"])
def test_what_is_not_written_stays(monkeypatch, is_in_place):
    @guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
    def every_other(x, out):
        for i in range(0, x.shape[0], 2):
            out[i] += x[i]

    if not is_in_place:
        monkeypatch.setattr(operands, "_can_borrow", lambda: False)   # as on a GPU
    x, out = np.ones((2, 5)), np.arange(10.0).reshape(2, 5)
    expected = out + [1, 0, 1, 0, 1]
    every_other(x, out=out)
    np.testing.assert_array_equal(out, expected)


def test_outputs_on_host_and_device_together():
    @guvectorize(["void(int64[:], int64[:], int64[:])"], "(n)->(),()")
    def ends(x, first, last):
        first[0], last[0] = x[0], x[x.size - 1]

    x = np.arange(12).reshape(3, 4)
    first, last = ends(x)
    assert (first.tolist(), last.tolist()) == ([0, 4, 8], [3, 7, 11])
    given = (np.zeros(3, np.int64), np.zeros(3, np.int64))
    assert ends(x, out=given)[1] is given[1] and given[1].tolist() == [3, 7, 11]
    assert ends.types == ["array(int64, 1d, A) -> array(int64, 1d, A), array(int64, 1d, A)"]
    assert "ends" in repr(ends) and ends.nargs == 3


def test_refusals():
    with pytest.raises(TypeError, match="has 2 arguments, the layout"):
        guvectorize([void(float64[:], float64[:])], "(n),(n)->(n)")(lambda x, y, out: None)
    with pytest.raises(TypeError, match="wants 2 axes"):
        guvectorize([void(float64[:], float64[:])], "(m,n)->(n)")(lambda x, out: None)
    with pytest.raises(TypeError, match="wants 1 axes"):
        guvectorize([void(float64[:], float64)], "(n)->()")(lambda x, out: None)
    with pytest.raises(NameError, match="axis 'k'"):
        guvectorize([void(float64[:], float64[:])], "(n)->(k)")(lambda x, out: None)
    with pytest.raises(TypeError, match="writable_args"):
        guvectorize([void(int64[:], int64[:])], "(n)->(n)", writable_args=(0,))
    with pytest.raises(KeyError, match="no option 'speed'"):
        guvectorize([void(int64[:], int64[:])], "(n)->(n)", speed=1)
    with pytest.raises(ValueError, match="target"):
        guvectorize([void(int64[:], int64[:])], "(n)->(n)", target="tpu")
    with pytest.raises(ValueError, match="out has 1|outputs"):
        running_sum(np.ones(3), out=(np.ones(3), np.ones(3)))
    with pytest.raises(TypeError, match="no signature for"):
        running_sum(cuda.to_device(np.ones(3, np.int16)))
    with pytest.raises(ValueError, match="shape"):
        running_sum(np.ones((2, 3)), out=np.ones(3))
    with pytest.raises(TypeError, match="out is an array"):
        running_sum(np.ones(3), out=[1, 2, 3])
    read_only = np.ones(3)
    read_only.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        running_sum(np.ones(3), out=read_only)


def test_an_output_may_lack_leading_axes_of_length_one():
    @guvectorize(["void(int32[:], int32[:], int32[:])"], "(n),()->(n)", target="cuda")
    def shifted(x, y, out):
        for i in range(x.shape[0]):
            out[i] = x[i] + y[0]

    x, y = np.arange(4, dtype=np.int32), np.array([10], np.int32)
    out = np.zeros(8, np.int32)[::2]
    assert shifted(x, y, out=out) is out
    np.testing.assert_array_equal(out, x + 10)
    on_device = cuda.device_array(4, np.int32)
    assert shifted(cuda.to_device(x), y, out=on_device) is on_device
    np.testing.assert_array_equal(on_device.copy_to_host(), x + 10)
    with pytest.raises(ValueError, match="shape"):
        shifted(x, np.array([1, 2], np.int32), out=out)


def test_pickles():
    def make(k):
        def scaled(x, out):
            for i in range(x.size):
                out[i] = x[i] * k
        return scaled

    made = guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")(make(3))
    again = pickle.loads(pickle.dumps(made))
    assert again.types == made.types and again.signature == "(n)->(n)"
    np.testing.assert_array_equal(again(np.arange(4.0)), 3 * np.arange(4.0))


def test_host_arrays_are_cast_to_a_signature():
    """As by NumPy's ufuncs: without loss if there is such a signature, else within one kind; device arrays are not."""
    @guvectorize(["void(float32[:], float32[:])", "void(float64[:], float64[:])"], "(n)->(n)", target="cuda")
    def double(x, out):
        for i in range(x.size):
            out[i] = 2 * x[i]

    for given, wanted in [("i2", "f4"), ("i4", "f8"), ("f2", "f4"), ("f4", "f4"), ("f8", "f8")]:
        result = double(np.arange(5, dtype=given))
        assert result.dtype == wanted
        np.testing.assert_array_equal(result, 2.0 * np.arange(5))
    with pytest.raises(TypeError, match="has no signature for"):
        double(np.arange(5, dtype=np.complex128))
    with pytest.raises(TypeError, match="has no signature for"):
        double(cuda.to_device(np.arange(5, dtype=np.int16)))

    @guvectorize(["void(int32[:], int32[:])"], "(n)->(n)", target="cuda")
    def negative(x, out):
        for i in range(x.size):
            out[i] = -x[i]

    assert negative(np.arange(3, dtype=np.int64)).dtype == np.int32
    with pytest.raises(TypeError):
        negative(np.arange(3.0))


def test_nopython_is_ignored_with_a_warning():
    with pytest.warns(OptionsWarning, match="nopython"):
        guvectorize(["void(float32[:], float32[:])"], "(n)->(n)", target="cuda", nopython=True)


# --- axes of the operands ---------------------------------------------------------------------------------------------

@guvectorize(["void(float64[:], float64[:], float64[:])"], "(n),(n)->()")
def dot(x, y, out):
    out[0] = 0.0
    for i in range(x.size):
        out[0] += x[i] * y[i]


@guvectorize(["void(float64[:, :], float64[:, :], float64[:, :])"], "(m,n),(n,p)->(m,p)")
def matrix_product(x, y, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = 0.0
            for k in range(x.shape[1]):
                out[i, j] += x[i, k] * y[k, j]


def on_host(array):
    return array if isinstance(array, np.ndarray) else array.copy_to_host()


@pytest.mark.parametrize("placed", [np.asarray, cuda.to_device])
def test_axis_and_keepdims(rng, placed):
    x = rng.random((2, 3, 4))
    for axis in (0, 1, -1):
        for keepdims in (False, True):
            expected = (x * x).sum(axis, keepdims=keepdims)
            found = on_host(dot(placed(x), placed(x), axis=axis, keepdims=keepdims))
            assert found.shape == expected.shape
            np.testing.assert_allclose(found, expected)
            out = placed(np.zeros(expected.shape))
            assert dot(placed(x), placed(x), out=out, axis=axis, keepdims=keepdims) is out
            np.testing.assert_allclose(on_host(out), expected)
        np.testing.assert_allclose(on_host(running_sum(placed(x), axis=axis)), x.cumsum(axis))
    np.testing.assert_allclose(on_host(dot(placed(x), placed(x), axes=[0, (0,)])), (x * x).sum(0))
    kept = dot(placed(x), placed(x), axes=[0, 0], keepdims=True)   # the output's axis is the last one, as NumPy has it
    assert kept.shape == (*x.shape[1:], 1)
    np.testing.assert_allclose(on_host(kept), (x * x).sum(0)[..., None])


@pytest.mark.parametrize("placed", [np.asarray, cuda.to_device])
@pytest.mark.parametrize("axes", [[(0, 1), (0, 1), (0, 1)], [(0, 1), (-3, -2), (-1, -2)]])
def test_axes_of_each_operand(rng, placed, axes):
    x, y = rng.random((3, 4, 6)), rng.random((4, 5, 6))
    expected = np.matmul(x, y, axes=axes)
    found = on_host(matrix_product(placed(x), placed(y), axes=axes))
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected)
    out = placed(np.zeros(expected.shape))
    assert matrix_product(placed(x), placed(y), out, axes=axes) is out
    np.testing.assert_allclose(on_host(out), expected)


@pytest.mark.parametrize("keywords, error, match", [
    ({"axis": 3}, ValueError, "out of bounds"), ({"axes": [0]}, ValueError, r"axes has \[1\]"),
    ({"axes": 0}, TypeError, "a list of a tuple"), ({"axis": 0, "axes": [0, 0]}, TypeError, "axes and axis")])
def test_axes_that_are_wrong(keywords, error, match):
    x = np.ones((2, 3, 4))
    with pytest.raises(error, match=match):
        dot(x, x, **keywords)
    with pytest.raises(TypeError, match="axis is for layouts with one axis"):
        matrix_product(x, x, axis=0)
    with pytest.raises(TypeError, match="keepdims"):
        matrix_product(x, x, keepdims=True)
