"""Device arrays: transfers, views, items; and the arithmetic on layouts below them, against NumPy."""
import gc
import weakref

import numpy as np
import pytest

from cujit import cuda
from cujit._ufunc.array_loop import merge_axes
from cujit.cuda._array import layout

RECORD = np.dtype([("tag", "i1"), ("value", "f8"), ("pair", "i4", (2,))])


def random_index(rng, shape):
    """A basic index of fewer or as many axes: integers, slices, Ellipsis, None."""
    index = []
    for n in shape[:rng.integers(0, len(shape) + 1)]:
        if n and rng.random() < 0.4:
            index.append(int(rng.integers(-n, n)))
        else:
            start, stop = (None if rng.random() < 0.3 else int(rng.integers(-n - 2, n + 3)) for _ in range(2))
            index.append(slice(start, stop, rng.choice([None, 1, 2, 3, -1, -2])))
    if rng.random() < 0.2:
        index.insert(int(rng.integers(0, len(index) + 1)) if len(index) == len(shape) else len(index), Ellipsis)
    if rng.random() < 0.2:
        index.insert(int(rng.integers(0, len(index) + 1)), None)
    return tuple(index)


def random_array(rng, order):
    shape = tuple(int(n) for n in rng.integers(0, 6, rng.integers(1, 4)))
    return np.array(rng.integers(-100, 100, shape), np.int32, order=order)


@pytest.mark.parametrize("order", ["C", "F"])
def test_views_are_those_of_numpy(rng, order):
    for _ in range(300):
        host = random_array(rng, order)
        index = random_index(rng, host.shape)
        expected = host[(*index, Ellipsis)] if Ellipsis not in index else host[index]
        got = cuda.to_device(host)[(*index, Ellipsis)] if Ellipsis not in index else cuda.to_device(host)[index]
        if expected.ndim == 0:
            assert got == expected, index
            continue
        assert got.shape == expected.shape, index
        if expected.size and all(s >= 0 for s in expected.strides):
            assert got.strides == expected.strides, index
            np.testing.assert_array_equal(got.copy_to_host(), expected)


def test_assignment_is_that_of_numpy(rng):
    for _ in range(60):
        host = random_array(rng, rng.choice(["C", "F"]))
        index = random_index(rng, host.shape)
        part = host[index]
        value = rng.integers(0, 9, [1 if rng.random() < 0.3 else n for n in part.shape])
        device = cuda.to_device(host)
        device[index] = value if rng.random() < 0.5 or not value.size else cuda.to_device(value)
        host[index] = value
        np.testing.assert_array_equal(device.copy_to_host(), host)


@pytest.mark.parametrize("index", [[0, 1], np.array([0, 1]), True, np.array(True), 1.0, "field", (0, [1])], ids=repr)
def test_other_indices_are_errors(index):
    with pytest.raises((IndexError, KeyError)):
        cuda.to_device(np.zeros((3, 4)))[index]


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8", "c16", RECORD], ids=str)
def test_strided_assignment_of_every_dtype(rng, dtype):
    dtype = np.dtype(dtype)
    count = 6000  # too many bytes for a block made on the host
    source = rng.integers(0, 2, count * dtype.itemsize, np.uint8).view(dtype)
    target = cuda.to_device(np.zeros(3 * count, dtype))
    target[::3] = source
    expected = np.zeros(3 * count, dtype)
    expected[::3] = source
    assert target.copy_to_host().tobytes() == expected.tobytes()
    matrix = cuda.to_device(expected.reshape(3, -1))
    assert matrix.T.copy_to_host().tobytes() == np.ascontiguousarray(expected.reshape(3, -1).T).tobytes()


def test_device_to_device_assignment_converts():
    target = cuda.to_device(np.zeros((2, 3), np.int32))
    target[:, 1:] = cuda.to_device(np.array([1.9, -2.9]))
    np.testing.assert_array_equal(target.copy_to_host(), [[0, 1, -2], [0, 1, -2]])


def test_one_value_fills_a_large_view():
    target = cuda.to_device(np.zeros((300, 400)))
    target[:, 7] = 3.5
    target[5] = 1.5
    target[100:] = -1
    expected = np.zeros((300, 400))
    expected[:, 7] = 3.5
    expected[5] = 1.5
    expected[100:] = -1
    np.testing.assert_array_equal(target.copy_to_host(), expected)


def test_copy_from_a_strided_device_array_keeps_what_lies_between():
    base = np.arange(12.0)
    out = np.full(12, -1.0)
    cuda.to_device(base)[::3].copy_to_host(out[::3])
    np.testing.assert_array_equal(out, np.where(np.arange(12) % 3, -1, base))


def test_views_keep_the_memory_alive_and_the_last_one_frees_it():
    array = cuda.to_device(np.arange(100.0))
    owner = weakref.ref(array)
    view = array[10:20].reshape(2, 5)[1]
    del array
    gc.collect()
    assert owner() is not None
    np.testing.assert_array_equal(view.copy_to_host(), np.arange(15.0, 20))
    del view
    gc.collect()
    assert owner() is None


def test_shapes_and_strides_that_are_no_arrays():
    for shape in (-1, (2, -3)):
        with pytest.raises(ValueError):
            cuda.device_array(shape)
    with pytest.raises(TypeError):
        cuda.device_array((2, 2.5))
    with pytest.raises(TypeError):
        cuda.device_array(3, dtype=object)
    with pytest.raises(TypeError):
        cuda.to_device(np.array([object()]))


def test_too_much_memory():
    with pytest.raises(MemoryError):
        cuda.device_array(1 << 55, np.uint8)


def test_records():
    host = np.zeros(3, RECORD)
    host["value"], host["tag"], host["pair"] = [1, 2, 3], 7, [[1, 2], [3, 4], [5, 6]]
    device = cuda.to_device(host)
    np.testing.assert_array_equal(device["value"].copy_to_host(), [1, 2, 3])
    np.testing.assert_array_equal(device["pair"][1].copy_to_host(), [3, 4])
    device[1]["value"] = 20
    device["tag"] = 9
    host["value"][1], host["tag"] = 20, 9
    assert device.copy_to_host().tobytes() == host.tobytes()
    with pytest.raises(KeyError):
        device["no such field"]


def test_get_is_copy_to_host():
    np.testing.assert_array_equal(cuda.to_device([1, 2, 3]).get(), [1, 2, 3])
    np.testing.assert_array_equal(cuda.copy_to_host(cuda.to_device([1, 2, 3])), [1, 2, 3])


def test_the_interface_round_trip_shares_memory():
    base = cuda.to_device(np.arange(6))
    view = cuda.as_cuda_array(type("Foreign", (), {"__cuda_array_interface__": base[1:].__cuda_array_interface__})())
    view[0] = 100
    np.testing.assert_array_equal(base.copy_to_host(), [0, 100, 2, 3, 4, 5])


# --- layout.py against NumPy -----------------------------------------------------------------------------------------

def test_contiguity_is_numpys(rng):
    for _ in range(500):
        host = random_array(rng, rng.choice(["C", "F"]))
        part = host[random_index(rng, host.shape)]
        if part.ndim == 0:
            continue
        about = (part.shape, part.strides, part.itemsize)
        assert layout.is_contiguous(*about, "C") == part.flags.c_contiguous, about
        assert layout.is_contiguous(*about, "F") == part.flags.f_contiguous, about


def test_like_strides_are_numpys(rng):
    for _ in range(300):
        host = random_array(rng, "C")
        host = host.transpose(rng.permutation(host.ndim))
        if host.size:
            assert layout.like_strides(host.shape, host.strides, 4) == np.empty_like(host).strides


byte_bounds = getattr(np.lib, "array_utils", np).byte_bounds  # NumPy 1.26 has it at the top


def test_extent_is_the_span_of_addresses(rng):
    for _ in range(200):
        host = random_array(rng, "C")
        part = host[random_index(rng, host.shape)]
        if part.ndim and all(s >= 0 for s in part.strides):
            low, high = byte_bounds(part)
            assert layout.extent(part.shape, part.strides, 4) == (high - low if part.size else 0)


@pytest.mark.parametrize("shape, to", [((), (2, 3)), ((3,), (2, 3)), ((1, 3), (4, 3)), ((4, 1), (4, 3)), ((1,), (0,))])
def test_broadcast_strides_are_numpys(shape, to):
    host = np.zeros(shape, np.int16)
    assert layout.broadcast_strides(host.shape, host.strides, to) == np.broadcast_to(host, to).strides


@pytest.mark.parametrize("shape, to", [((2,), (3,)), ((2, 1), (3, 3)), ((2, 3), (3,)), ((0,), (1,))])
def test_shapes_that_do_not_broadcast(shape, to):
    with pytest.raises(ValueError):
        layout.broadcast_strides(shape, (8,) * len(shape), to)


def test_merged_axes_reach_the_same_elements_in_the_same_pairs(rng):
    """Every element of the operands is met once, together with the one it belongs to."""
    for _ in range(200):
        first = random_array(rng, "C")
        first = first.transpose(rng.permutation(first.ndim))
        second = np.broadcast_to(rng.integers(0, 9, [1 if rng.random() < 0.3 else n for n in first.shape]), first.shape)
        if not first.size:
            continue
        shape, (a, b) = merge_axes(first.shape, [first.strides, second.strides])
        assert np.prod(shape) == first.size and len(shape) <= max(first.ndim, 1)
        as_strided = np.lib.stride_tricks.as_strided
        pairs = zip(as_strided(first, shape, a).ravel(), as_strided(second, shape, b).ravel(), strict=True)
        assert sorted(pairs) == sorted(zip(first.ravel(), second.ravel(), strict=True))


def test_arrays_without_gaps_merge_to_one_axis():
    for order in "CF":
        strides = np.zeros((3, 4, 5), order=order).strides
        assert merge_axes((3, 4, 5), [strides, strides]) == ((60,), [(8,), (8,)])


@pytest.mark.not_under("address", "AddressSanitizer keeps freed memory for a while")
def test_deferred_memory_is_freed_at_the_end():
    freed = []

    def drop():
        array = cuda.device_array(1000)
        freed.append(array.pointer)

    with cuda.defer_cleanup():
        drop()
        with cuda.defer_cleanup():
            drop()
        drop()
        arrays = [cuda.device_array(1000) for _ in range(20)]
        assert len(set(freed) | {array.pointer for array in arrays}) == 23
    with pytest.raises(KeyError), cuda.defer_cleanup():
        raise KeyError
    assert len({cuda.device_array(1000).pointer for _ in range(20)}) < 20


def test_deferred_memory_under_numbas_names():
    waiting = cuda.current_context().deallocations
    assert len(waiting) == 0 and not waiting.is_disabled
    with waiting.disable():
        cuda.device_array(10)
        waiting.clear()
        assert waiting.is_disabled and len(waiting) == 1
    assert len(waiting) == 0


# --- what other code asks device arrays -------------------------------------------------------------------------------

def test_arrays_made_of_shape_and_strides():
    array = cuda.DeviceNDArray(shape=(2, 3), strides=(12, 4), dtype=np.float32)
    array[...] = 7
    assert array.copy_to_host().tolist() == [[7] * 3] * 2
    column = cuda.DeviceNDArray(shape=(2,), strides=(12,), dtype=np.float32, gpu_data=array.gpu_data)
    column[:] = 1
    assert array.copy_to_host().tolist() == [[1, 7, 7]] * 2
    assert column.gpu_data is array.gpu_data is array[1:].reshape(3).gpu_data


def test_addresses_and_types():
    array = cuda.to_device(np.arange(6.0).reshape(2, 3))
    assert array.device_ctypes_pointer.value == array.__cuda_array_interface__["data"][0]
    assert array[:0].device_ctypes_pointer.value is None
    assert array._numba_type_ == cuda.float64[:, ::1]


def test_streams_in_the_interface():
    stream = cuda.stream()
    array = cuda.device_array(3, stream=stream)
    assert array.__cuda_array_interface__["stream"] == int(stream)
    assert cuda.device_array(3).__cuda_array_interface__["stream"] is None
    foreign = type("Foreign", (), {"__cuda_array_interface__": array.__cuda_array_interface__})()
    imported = cuda.as_cuda_array(foreign)
    assert int(imported.stream) == int(stream) and imported.stream.external and not stream.external
    if cuda.get_current_device().kind == "cpu":   # there mapped arrays are the device's, too
        mapped = cuda.mapped_array(3, stream=stream)
        assert mapped.__cuda_array_interface__["stream"] == int(stream)
        assert cuda.managed_array(3).__cuda_array_interface__["stream"] is None


def test_copies_to_arrays_with_repeated_axes():
    """Axes that a broadcast array repeats are in device memory once."""
    core = np.arange(6.0).reshape(2, 3)
    for shape, index in ((4, 2, 3), np.s_[None]), ((2, 4, 3), np.s_[:, None]), ((2, 3, 4), np.s_[:, :, None]):
        array = cuda.to_device(np.broadcast_to(core[index], shape))
        other = np.broadcast_to(np.asfortranarray(-core)[index], shape)
        array.copy_to_device(other)
        np.testing.assert_array_equal(array.copy_to_host(), other)
        array.copy_to_device(cuda.to_device(np.broadcast_to(core[index], shape)))
        np.testing.assert_array_equal(array.copy_to_host(), np.broadcast_to(core[index], shape))


def test_from_array_like_is_numbas_name():
    from cujit.cuda.cudadrv.devicearray import from_array_like

    made = from_array_like(np.zeros((2, 3), np.int16, order="F"))
    assert made.shape == (2, 3) and made.dtype == np.int16 and made.is_f_contiguous()
