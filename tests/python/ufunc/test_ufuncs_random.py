"""Random calls of ufuncs on device arrays beside NumPy's own: shapes, strides, dtypes, broadcasting, overlap, axes,
where, out, casting. CUJIT_EXAMPLES says how many of each kind; without it few, which are the same in every run.

Values are small integers, so that floats are exact in any order of operations.
"""
import os

import numpy as np
import pytest

from cujit import cuda

pytest.importorskip("hypothesis")
from hypothesis import HealthCheck, given, settings, strategies as st  # noqa: E402

pytestmark = pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.0.0",
                                reason="NumPy 1 chooses types by the values of numbers and arrays without axes")

EXAMPLES = int(os.environ.get("CUJIT_EXAMPLES", "60"))
DTYPES = ["?", "i1", "u2", "i8", "f4", "F"]
BINARY = [np.add, np.subtract, np.multiply, np.maximum, np.less, np.not_equal, np.logical_and, np.bitwise_or, np.fmin]
UNARY = [np.negative, np.square, np.isfinite, np.logical_not, np.conjugate, np.floor]
FOLDS = [np.add, np.multiply, np.maximum, np.minimum, np.logical_or, np.bitwise_and, np.subtract]

random_calls = settings(max_examples=EXAMPLES, deadline=None, derandomize="CUJIT_EXAMPLES" not in os.environ,
                        database=None, suppress_health_check=list(HealthCheck))


class Pair:
    """The same memory twice, for NumPy and on the device, and views of both."""

    def __init__(self, host):
        self.host, self.device = host, cuda.to_device(host)

    def view(self, index):
        if not self.host.shape:
            return self
        made = Pair.__new__(Pair)
        made.host, made.device = self.host[index], self.device[index]
        return made


@st.composite
def index_of(draw, shape):
    """Slices with steps of either sign, one for each axis."""
    items = []
    for n in shape:
        step = draw(st.sampled_from([1, 1, 1, 2, -1, -2]))
        start, stop = sorted(draw(st.tuples(st.integers(0, n), st.integers(0, n)))) if draw(st.booleans()) else (0, n)
        items.append(slice(start, stop, step) if step > 0 else slice(stop - 1 if stop else None, None, step)
                     if start == 0 else slice(stop - 1, start - 1, step))
    return tuple(items)


@st.composite
def arrays(draw, shape, dtypes=DTYPES):
    """A Pair of that shape: of random order, with gaps, and with repeated elements."""
    dtype = draw(st.sampled_from(dtypes))
    kept = tuple(1 if draw(st.integers(0, 5)) == 0 else n for n in shape)[draw(st.integers(0, len(shape))):]
    steps = [draw(st.sampled_from([1, 1, 2, -1, 3])) for _ in kept]
    whole = [max(n * abs(s), 1) for n, s in zip(kept, steps, strict=True)]
    low = 0 if np.dtype(dtype).kind in "u?" else -3
    rng = np.random.default_rng(draw(st.integers(0, 1 << 30)))
    base = np.array(rng.integers(low, 4, whole), dtype, order=draw(st.sampled_from("CF")))
    index = tuple(slice(None, n * s, s) if s > 0 else slice(n * -s - 1, None, s) if n else slice(0, 0)
                  for n, s in zip(kept, steps, strict=True))
    return Pair(base).view(index)


shapes = st.lists(st.integers(0, 7), max_size=4).map(tuple)
castings = st.sampled_from(["no", "safe", "same_kind", "same_kind", "unsafe"])


def outcome(call):
    """What it gives, and whether it raised an error that stands for wrong operands."""
    try:
        with np.errstate(all="ignore"):
            return call(), False
    except (TypeError, ValueError, OverflowError):   # which one comes first where several things are wrong is free
        return None, True


def check(ours, numpys, *written):
    (got, failure), (expected, wanted) = outcome(ours), outcome(numpys)
    assert failure == wanted
    if not wanted and not written:
        assert got.dtype == expected.dtype and got.shape == np.shape(expected)
        np.testing.assert_array_equal(got.copy_to_host(), expected)
    for pair in written:
        np.testing.assert_array_equal(pair.device.copy().copy_to_host(), pair.host)


@random_calls
@given(st.data())
def test_calls(data):
    shape, ufunc = data.draw(shapes), data.draw(st.sampled_from(BINARY + UNARY))
    pairs = [data.draw(arrays(shape)) for _ in range(ufunc.nin)]
    devices, hosts = [pair.device for pair in pairs], [pair.host for pair in pairs]
    if ufunc.nin == 2 and data.draw(st.integers(0, 3)) == 0:   # a number beside an array
        number = data.draw(st.sampled_from([2, 1.5, True, 1j, -1, 200, np.float32(2), np.int64(3), np.uint8(1)]))
        k = data.draw(st.integers(0, 1))
        devices[k] = hosts[k] = number
    keywords = {}
    if data.draw(st.integers(0, 4)) == 0:
        keywords["dtype"] = data.draw(st.sampled_from(["f4", "f8", "i8", "D"]))
    if data.draw(st.integers(0, 4)) == 0:
        keywords["casting"] = data.draw(castings)
    check(lambda: ufunc(*devices, **keywords), lambda: ufunc(*hosts, **keywords))


@random_calls
@given(st.data())
def test_outputs_and_masks(data):
    shape, ufunc = data.draw(shapes), data.draw(st.sampled_from(BINARY + UNARY))
    pairs = [data.draw(arrays(shape)) for _ in range(ufunc.nin)]
    out, casting = data.draw(arrays(shape)), data.draw(castings)
    if casting == "unsafe" and np.dtype(out.host.dtype).kind != "F":
        casting = "same_kind"   # what floats out of range become differs
    masks = [data.draw(arrays(shape, ["?"]))] if data.draw(st.booleans()) else []
    check(lambda: ufunc(*(p.device for p in pairs), out=out.device, casting=casting,
                        **{"where": mask.device for mask in masks}),
          lambda: ufunc(*(p.host for p in pairs), out=out.host, casting=casting,
                        **{"where": mask.host for mask in masks}), out)


@random_calls
@given(st.data())
def test_overlap(data):
    """Operands and output in the same memory, as NumPy treats it."""
    n, ufunc = data.draw(st.integers(1, 12)), data.draw(st.sampled_from([np.add, np.subtract, np.maximum]))
    shape = data.draw(st.sampled_from([(24,), (4, 6), (2, 3, 4)]))
    whole = Pair(np.random.default_rng(n).integers(-3, 4, shape).astype(data.draw(st.sampled_from(["i4", "f8"]))))

    first, second, out = (whole.view(data.draw(index_of(shape))) for _ in range(3))
    check(lambda: ufunc(first.device, second.device, out=out.device),
          lambda: ufunc(first.host, second.host, out=out.host), whole)


@random_calls
@given(st.data())
def test_reductions(data):
    shape, ufunc = data.draw(shapes), data.draw(st.sampled_from(FOLDS))
    x = data.draw(arrays(shape))
    axis = data.draw(st.one_of(st.none(), st.integers(-3, 3), st.lists(st.integers(-3, 3), max_size=3).map(tuple)))
    keywords = {"axis": axis, "keepdims": data.draw(st.booleans())}
    if data.draw(st.integers(0, 3)) == 0:
        keywords["initial"] = data.draw(st.sampled_from([0, 2, 1]))
    if data.draw(st.integers(0, 4)) == 0:
        keywords["dtype"] = "D" if x.host.dtype.kind == "c" else data.draw(st.sampled_from(["f4", "f8", "i8"]))
    mask = data.draw(arrays(x.host.shape, ["?"])) if data.draw(st.integers(0, 3)) == 0 else None
    if mask is not None:
        mask_shape = np.broadcast_shapes(mask.host.shape, x.host.shape)
        mask = mask if mask_shape == x.host.shape else None
    check(lambda: ufunc.reduce(x.device, **keywords, **({} if mask is None else {"where": mask.device})),
          lambda: ufunc.reduce(x.host, **keywords, **({} if mask is None else {"where": mask.host})))


@random_calls
@given(st.data())
def test_accumulate_reduceat_and_at(data):
    shape, ufunc = data.draw(shapes), data.draw(st.sampled_from(FOLDS))
    x, axis = data.draw(arrays(shape, ["i8", "f8", "?"])), data.draw(st.integers(-2, 2))
    check(lambda: ufunc.accumulate(x.device, axis), lambda: ufunc.accumulate(x.host, axis))
    if x.host.ndim:
        length = x.host.shape[data.draw(st.integers(0, x.host.ndim - 1))]
        indices = data.draw(st.lists(st.integers(0, max(length - 1, 0)), min_size=1, max_size=5))
        if all(-x.host.ndim <= axis < x.host.ndim and k < x.host.shape[axis] for k in indices):
            check(lambda: ufunc.reduceat(x.device, indices, axis), lambda: ufunc.reduceat(x.host, indices, axis))
        if all(k < x.host.shape[0] for k in indices):
            value = data.draw(st.sampled_from([1, True, 2.0]))
            check(lambda: ufunc.at(x.device, indices, value), lambda: ufunc.at(x.host, indices, value), x)


@random_calls
@given(st.data())
def test_methods(data):
    name = data.draw(st.sampled_from(["sum", "prod", "min", "max", "any", "all", "mean"]))
    x = data.draw(arrays(data.draw(shapes), ["?", "i1", "u2", "i8", "f4"]))
    axis, keepdims = data.draw(st.one_of(st.none(), st.integers(-2, 2))), data.draw(st.booleans())
    if name == "mean" and (x.host.size == 0 or x.host.ndim == 0):   # NumPy's has rules of its own there
        return
    (got, failure), (expected, wanted) = (outcome(lambda each=each: getattr(each, name)(axis=axis, keepdims=keepdims))
                                          for each in (x.device, x.host))
    assert failure == wanted
    if not wanted:
        assert got.dtype == expected.dtype and got.shape == expected.shape
        np.testing.assert_allclose(got.copy_to_host(), expected, rtol=1e-6)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q"]))
