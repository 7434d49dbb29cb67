"""cuda.fuse of functions that fold arrays, beside the functions themselves on NumPy's arrays."""
import pickle

import cloudpickle
import numpy as np
import pytest

from cujit import cuda

THREE = 3


def products(x, y):
    return np.sum(x * y, axis=-1)


def farthest(x, y):
    return (x - y).max()


def distance(x, y):
    """What is not used may be whatever it likes."""
    d = x - y
    unused = np.exp(d)  # noqa: F841
    d = d * d
    return np.sqrt(np.sum(d, axis=0, keepdims=True)) / THREE


def normal(x, y):
    return x / np.sqrt(np.sum(x * x, axis=1, keepdims=True)) + y


def softmax(x, y):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def several(x, y):
    return np.min(x), np.amax(y, axis=0), x + y


def both_hold(x, y):
    return np.any(x > 2, axis=0) & np.all(y > 1, 0)


def totals(x, y):
    total = np.prod(x + 1, axis=(0, 1))
    total += np.amin(y)
    return total * 2


FUNCTIONS = [products, farthest, distance, normal, softmax, several, both_hold, totals]


def same(got, wanted):
    got = got.copy_to_host() if cuda.is_cuda_array(got) else np.asarray(got)
    assert got.shape == np.shape(wanted) and got.dtype == np.asarray(wanted).dtype
    np.testing.assert_allclose(got, wanted, rtol=1e-5)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_as_numpy_has_it(rng, function, dtype):
    x, y = (1 + rng.random((5, 7)) * 3).astype(dtype), (1 + rng.random((5, 7))).astype(dtype)
    wanted = function(x, y)
    fused = cuda.fuse(function)
    for arguments in (x, y), (cuda.to_device(x), cuda.to_device(y)):
        got = fused(*arguments)
        assert isinstance(got, tuple) == isinstance(wanted, tuple)
        for one, other in zip(*((got, wanted) if isinstance(got, tuple) else ([got], [wanted])), strict=True):
            same(one, other)


def test_lambdas_and_captured_values(rng):
    x, k = rng.random((4, 6)), 2.5
    both = [cuda.fuse(lambda x: (x * k).sum(axis=0)), cuda.fuse(lambda x: np.max(x) - THREE)]
    same(both[0](x), (x * k).sum(axis=0))
    same(both[1](x), x.max() - THREE)
    out = cuda.device_array(6, np.float64)
    assert both[0](cuda.to_device(x), out=out) is out
    same(out, (x * k).sum(axis=0))


def test_pickled_with_what_they_are_made_of(rng):
    x = rng.random((4, 6)).astype(np.float32)
    fused = pickle.loads(cloudpickle.dumps(cuda.fuse(lambda x: x / np.sum(x, axis=1, keepdims=True))))
    same(fused(x), x / np.sum(x, axis=1, keepdims=True))


def in_a_branch(x):
    if THREE:
        return np.sum(x)
    return x


def axis_of_the_call(x, n=0):
    return np.sum(x, axis=n)


def with_a_dtype(x):
    return np.sum(x, dtype=np.float32)


def writes(x):
    x += 1
    return np.sum(x)


def without_a_result(x):
    x += 1


@pytest.mark.parametrize(("function", "why"), [
    (in_a_branch, "without branches"), (axis_of_the_call, "known before it is called"),
    (with_a_dtype, "takes an array, axis and keepdims"), (writes, "writes to an argument"),
    (without_a_result, "returns its results")])
def test_what_is_refused_says_why(function, why):
    with pytest.raises(TypeError, match=why):
        cuda.fuse(function)(np.ones((2, 3)))
