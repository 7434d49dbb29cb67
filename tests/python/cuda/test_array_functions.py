"""NumPy's functions on device arrays: what they give, what is on the host still, and programs that count on that."""
import inspect
import io
import warnings

import numpy as np
import pytest

from cujit import cuda, errors

RESHAPE_COPIES = "copy" in inspect.signature(np.reshape).parameters   # since NumPy 2.1
ON_DEVICE = {   # name: a call of arrays of float64 and int64, 4 x 3
    "where": lambda a, b: np.where(a > 0.5, a, 0),
    "where, places": lambda a, b: np.where(a > 0.5),
    "where, a host's mask": lambda a, b: np.where(np.ones(3, bool), a, b),
    "concatenate": lambda a, b: np.concatenate([a, b]),
    "concatenate, axis 1": lambda a, b: np.concatenate((a, b, a), axis=1),
    "concatenate, flat": lambda a, b: np.concatenate([a.T, b], axis=None),
    "concatenate, dtype": lambda a, b: np.concatenate([a, np.ones((1, 3))], dtype=np.float32),
    "stack": lambda a, b: np.stack([a, b], axis=-1),
    "vstack": lambda a, b: np.vstack([a, b[0]]),
    "hstack": lambda a, b: np.hstack([a, b]),
    "hstack, one axis": lambda a, b: np.hstack([a[0], b[1]]),
    "dstack": lambda a, b: np.dstack([a, b]),
    "column_stack": lambda a, b: np.column_stack([a[:, 0], b[:, 0], b]),
    "zeros_like": lambda a, b: np.zeros_like(b),
    "zeros_like, shape": lambda a, b: np.zeros_like(b, shape=(2, 5), order="F"),
    "ones_like": lambda a, b: np.ones_like(a, dtype=np.int8),
    "full_like": lambda a, b: np.full_like(a.T, 7),
    "sum": lambda a, b: np.sum(b, axis=0),
    "sum, out": lambda a, b: np.sum(b, 0, out=np.zeros_like(b[0])),
    "prod": lambda a, b: np.prod(b, 1, keepdims=True),
    "min": lambda a, b: np.min(a, axis=1),
    "amax": lambda a, b: np.amax(a),
    "mean": lambda a, b: np.mean(b, axis=1),
    "std": lambda a, b: np.std(a),
    "var": lambda a, b: np.var(a, 0, ddof=1),
    "any": lambda a, b: np.any(b > 8),
    "all": lambda a, b: np.all(b >= 0, axis=1),
    "argmin": lambda a, b: np.argmin(a),
    "argmax": lambda a, b: np.argmax(a, axis=1),
    "cumsum": lambda a, b: np.cumsum(b),
    "cumprod": lambda a, b: np.cumprod(b, axis=1),
    "sort": lambda a, b: np.sort(a),
    "sort, flat": lambda a, b: np.sort(b.T, axis=None),
    "argsort": lambda a, b: np.argsort(a, axis=0),
    "unique": lambda a, b: np.unique(np.ravel(b), return_counts=True, return_inverse=True),
    "histogram": lambda a, b: np.histogram(b, 5),
    "histogram, edges": lambda a, b: np.histogram(a, [0.0, 0.3, 1.0]),
    "histogram, density": lambda a, b: np.histogram(a, 4, (0, 1), density=True),
    "histogram, auto": lambda a, b: np.histogram(a, "auto"),
    "clip": lambda a, b: np.clip(b, 2, 5),
    "reshape": lambda a, b: np.reshape(a, (3, 4)),
    "reshape, a copy": lambda a, b: np.reshape(a.T, (12,)),
    "ravel": lambda a, b: np.ravel(a.T),
    "transpose": lambda a, b: np.transpose(np.stack([a, b]), (2, 0, 1)),
    "swapaxes": lambda a, b: np.swapaxes(a, 0, -1),
    "moveaxis": lambda a, b: np.moveaxis(np.stack([a, b]), 0, -1),
    "expand_dims": lambda a, b: np.expand_dims(a, (0, 2)),
    "broadcast_to": lambda a, b: np.broadcast_to(a[0], (5, 3)),
    "flip": lambda a, b: np.flip(a, 0),
    "squeeze": lambda a, b: np.squeeze(a[:1]),
    "isclose": lambda a, b: np.isclose(a, b / 9),
    "copy": lambda a, b: np.copy(a.T, order="C"),
    "nonzero": lambda a, b: np.nonzero(b),
    "ptp": lambda a, b: np.ptp(a),
    "around": lambda a, b: np.around(a, 1),
    "dot": lambda a, b: np.dot(a, b.T),
    "zeros, like": lambda a, b: np.zeros(3, like=a),
    "arange, like": lambda a, b: np.arange(3, like=a),
    "linspace": lambda a, b: np.linspace(a[0], b[0], 5),
    "linspace, along an axis": lambda a, b: np.linspace(a[0], b[0], 5, axis=1),
    "linspace, its numbers and step": lambda a, b: np.linspace(a[0], b[0], 5, False, True, np.float32)[0],
}


@pytest.fixture
def pairs(rng):
    a, b = rng.random((4, 3)), rng.integers(0, 9, (4, 3))
    return (a, b), (cuda.to_device(a), cuda.to_device(b))


@pytest.fixture(autouse=True)
def warnings_are_errors():
    cuda.get_current_device()   # says once which device that is
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize("name", ON_DEVICE)
def test_functions_give_device_arrays(pairs, name):
    hosts, devices = pairs
    expected, got = ON_DEVICE[name](*hosts), ON_DEVICE[name](*devices)
    if not isinstance(expected, tuple):
        expected, got = (expected,), (got,)
    for e, g in zip(expected, got, strict=True):
        assert isinstance(g, cuda.DeviceNDArray) and g.dtype == np.asarray(e).dtype and g.shape == np.shape(e)
        np.testing.assert_allclose(np.asarray(g, order="C"), e, rtol=1e-12)


def test_answers_are_pythons(pairs):
    (a, b), (d, e) = pairs
    assert np.array_equal(d, a) is True and np.array_equal(a, d) is True and np.array_equal(d, e) is False
    assert np.array_equal(d, a[:2]) is False and np.allclose(d, a + 1e-9) is True and np.allclose(a + 1, d) is False
    x = np.array([1.0, np.nan, np.inf])
    dx = cuda.to_device(x)
    assert np.array_equal(dx, x) is False and np.array_equal(dx, x, equal_nan=True) is True
    assert np.allclose(dx, x) is False and np.allclose(dx, x, equal_nan=True) is True
    assert np.shape(d) == (4, 3) and np.ndim(d) == 2 and np.size(d) == 12 and not np.iscomplexobj(d)
    assert np.result_type(d, np.int8) == np.float64


def test_copyto(pairs):
    (a, b), (d, e) = pairs
    host, device = np.zeros_like(a), cuda.zeros(a.shape)
    np.copyto(host, d)
    np.copyto(device, a)
    np.testing.assert_array_equal(host, a)
    np.testing.assert_array_equal(device, a)
    np.copyto(device, e)
    np.copyto(device, 2.5, where=e > 4)
    np.testing.assert_array_equal(device, np.where(b > 4, 2.5, b))
    with pytest.raises(TypeError, match="casting|cast"):
        np.copyto(e, a)
    with pytest.raises(TypeError, match="cast"):
        np.copyto(e, d)


def test_records_and_texts_are_joined_and_compared():
    r = np.array([(1, 2.5), (3, 4.5)], "i4,f8")
    d = cuda.to_device(r)
    np.testing.assert_array_equal(np.concatenate([d, d]), np.concatenate([r, r]))
    assert np.array_equal(d, r) and not np.array_equal(d, d[::-1].copy())
    words = cuda.to_device(np.array([b"one", b"two"]))
    assert np.array_equal(np.stack([words, words])[1], [b"one", b"two"])


def test_programs_for_numba_work_on(pairs, tmp_path):
    """DeviceNDArray of numba-cuda has __array__ alone."""
    (a, b), (d, e) = pairs
    for check in (np.testing.assert_allclose, np.testing.assert_array_equal, np.testing.assert_almost_equal,
                  np.testing.assert_array_almost_equal, np.testing.assert_equal):
        check(d if check is not np.testing.assert_equal else np.asarray(d), a)
        check(a, d if check is not np.testing.assert_equal else np.asarray(d))
    np.testing.assert_array_less(d, a + 1)
    with pytest.raises(AssertionError):
        np.testing.assert_allclose(d, a + 1)
    assert type(np.asarray(d)) is type(np.array(d)) is type(np.ascontiguousarray(d)) is np.ndarray
    assert (np.zeros((4, 3)) + np.asarray(d) == a).all()


HOSTS = {
    "numpy.median": lambda a, b: np.median(a),
    "numpy.linalg.norm": lambda a, b: np.linalg.norm(a),
    "numpy.unique": lambda a, b: np.unique(b, axis=0),   # a keyword that device arrays have not
    "numpy.sort": lambda a, b: np.sort(np.array([b"b", b"a"]) if isinstance(a, np.ndarray) else
                                       cuda.to_device(np.array([b"b", b"a"]))),
    "numpy.percentile": lambda a, b: np.percentile(a, 30, axis=0),
    "numpy.tensordot": lambda a, b: np.tensordot(a, b, 2),
}


@pytest.mark.parametrize("name", HOSTS)
def test_other_functions_work_on_the_host_and_say_so(pairs, name):
    hosts, devices = pairs
    with pytest.warns(errors.PerformanceWarning, match=rf"{name} works on the host.*copy_to_host"):
        got = HOSTS[name](*devices)
    assert isinstance(got, (np.ndarray, np.generic))
    np.testing.assert_allclose(got, HOSTS[name](*hosts)) if name != "numpy.sort" else None


def test_files_are_written(pairs):
    (a, _), (d, _) = pairs
    file = io.BytesIO()
    with pytest.warns(errors.PerformanceWarning, match="numpy.save works on the host"):
        np.save(file, d)
    file.seek(0)
    np.testing.assert_array_equal(np.load(file), a)


def test_errors_are_numpys(pairs):
    _, (d, e) = pairs
    without_copy = [(lambda: np.reshape(np.transpose(d), 12, copy=False), ValueError)]
    for call, error in (*(without_copy if RESHAPE_COPIES else []),
                        (lambda: np.concatenate([d, e[:, :2]]), ValueError), (lambda: np.concatenate([]), ValueError),
                        (lambda: np.concatenate([d, e], axis=2), np.exceptions.AxisError),
                        (lambda: np.concatenate([d], dtype=np.int8), TypeError),
                        (lambda: np.concatenate([d, d], out=cuda.zeros((3, 3))), ValueError),
                        (lambda: np.stack([d, d[:2]]), ValueError), (lambda: np.reshape(d, (5, 5)), ValueError),
                        (lambda: np.transpose(d, (0, 0)), ValueError), (lambda: np.moveaxis(d, (0, 1), 0), ValueError),
                        (lambda: np.broadcast_to(d, (2, 3)), ValueError),
                        (lambda: np.expand_dims(d, (0, 0)), ValueError),
                        (lambda: np.zeros_like(d, order="X"), ValueError), (lambda: np.copy(d, "X"), ValueError)):
        with pytest.raises(error):
            call()


def test_types_that_nobody_knows_have_their_turn():
    class Other:
        def __array_function__(self, function, types, args, keywords):
            return function.__name__

    d = cuda.to_device(np.ones(3))
    assert np.concatenate([d, Other()]) == "concatenate" and np.where(Other(), d, d) == "where"


def test_arrays_are_made():
    for made, expected in ((cuda.zeros((2, 3), order="F"), np.zeros((2, 3))),
                           (cuda.ones(4, np.int8), np.ones(4, np.int8)),
                           (cuda.full(3, 2.5), np.full(3, 2.5)), (cuda.full((2, 2), 7, "f4"), np.full((2, 2), 7, "f4")),
                           (cuda.arange(5), np.arange(5)), (cuda.arange(1, 2, 0.25), np.arange(1, 2, 0.25)),
                           (cuda.asarray([1, 2]), np.array([1, 2])), (cuda.asarray(3), np.asarray(3))):
        assert isinstance(made, cuda.DeviceNDArray) and made.dtype == expected.dtype and made.shape == expected.shape
        np.testing.assert_array_equal(made, expected)
    d = cuda.zeros(3)
    assert cuda.asarray(d) is d and cuda.asarray(d, np.int32).dtype == np.int32


def test_one_module_for_both(pairs):
    hosts, devices = pairs
    for a, b in (hosts, devices):
        xp = cuda.get_array_module(a)
        x = xp.concatenate([xp.stack([a, b]), xp.zeros_like(xp.expand_dims(a, 0))])
        assert xp.reshape(xp.transpose(x), (4, -1)).shape == (4, 9) and xp.array_equal(x[0], a)
        assert xp.unique(b).ndim == xp.ravel(x).ndim == 1


def test_the_step_of_linspace_is_the_hosts():
    numbers, step = np.linspace(cuda.to_device(np.float64([1, 2])), 5.0, 3, True, True)
    assert isinstance(numbers, cuda.DeviceNDArray) and isinstance(step, np.ndarray)
    assert step.tolist() == [2, 1.5] and numbers.copy_to_host().tolist() == [[1, 2], [3, 3.5], [5, 5]]
