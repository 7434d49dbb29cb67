"""Structured dtypes: by reference as arguments, array fields, whole records, packed records."""
import numpy as np
import pytest

from cujit import cuda, errors, float32, float64, from_dtype, int64, void

point = np.dtype([("x", np.float32), ("y", np.float32)])
shape = np.dtype([("id", np.int32), ("corner", point, (2, 3)),
                  ("weights", np.float64, (3,)), ("centre", point)], align=True)
odd = np.dtype([("d", np.float64), ("z", np.complex64), ("f", np.float32), ("h", np.float16), ("i", np.int16),
                ("ok", np.bool_)])
assert odd.itemsize % 2 == 1


def shapes(n):
    a = np.zeros(n, shape)
    a["id"] = np.arange(n) + 10
    a["corner"]["x"] = np.arange(6 * n).reshape(n, 2, 3)
    a["corner"]["y"] = -np.arange(6 * n).reshape(n, 2, 3)
    a["weights"] = np.arange(3 * n).reshape(n, 3) + 0.5
    a["centre"]["x"] = np.arange(n) + 0.25
    return a


def odds(n):
    a = np.zeros(n, odd)
    a["d"] = np.arange(n) / 3 + 1
    a["z"] = np.arange(n) * (1 - 2j) + 0.1
    a["f"] = np.arange(n) * 1.7 - 3
    a["h"] = np.arange(n) * 0.3
    a["i"] = np.arange(n) * 1001 - 2000
    a["ok"] = np.arange(n) % 2
    return a


# Arguments


def test_a_record_from_the_host_is_written_back():
    @cuda.jit
    def kernel(r, scale):
        r.centre.x += scale
        r.weights[1] = 7
        r["id"] = 3

    a = shapes(3)
    kernel[1, 1](a[1], 2.0)
    assert (a["id"].tolist(), a["weights"][1].tolist(), a["centre"]["x"].tolist()) == (
        [10, 3, 12], [3.5, 7, 5.5], [0.25, 3.25, 2.25])


def test_a_read_only_record_cannot_be_written():
    @cuda.jit
    def reads(out, r):
        out[0] = r.x

    @cuda.jit
    def writes(out, r):
        r.x = out[0]

    a, out = np.array([(1.5, 2)], point), np.zeros(1)
    a.flags.writeable = False
    reads[1, 1](out, a[0])
    assert out[0] == 1.5
    with pytest.raises(errors.TypingError, match="read-only"):
        writes[1, 1](out, a[0])


def test_records_of_the_recarray_and_in_tuples():
    @cuda.jit
    def kernel(out, pair, scale):
        out[0] = pair[0].x * scale[0] + pair[1].y * scale[1]

    a = np.rec.array([(1.0, 2.0), (3.0, 4.0)], point)
    out = np.zeros(1)
    kernel[1, 1](out, (a[0], a[1]), (10, 100))
    assert out[0] == 410


def test_record_parameters_of_signatures():
    record = from_dtype(shape)

    @cuda.jit(void(record, record[:], float64))
    def kernel(one, many, x):
        many[1].centre.y = one.weights[2] * x
        one.id = many.size

    a, one = shapes(2), shapes(3)[2]
    kernel[1, 1](one, a, 2)
    assert (a[1]["centre"]["y"], one["id"]) == (17, 2)
    with pytest.raises(TypeError, match="one"):
        kernel[1, 1](np.zeros(1, point)[0], a, 2)


def test_places_and_names_of_fields():
    @cuda.jit
    def kernel(out, r):
        out[0] = r[0]
        out[1] = r[2][1]
        out[2] = r[-1].x
        r[0] = 99
        r[-1][1] = 5

    a, out = shapes(2), np.zeros(3)
    kernel[1, 1](out, a[1])
    assert out.tolist() == [11, 4.5, 1.25] and a[1]["id"] == 99 and a[1]["centre"]["y"] == 5


# Array fields


def test_array_fields_have_axes_and_strides():
    @cuda.jit
    def kernel(out, a):
        c = a.corner
        out[0] = c.ndim * 100 + c.shape[1] * 10 + c.shape[2]
        out[1] = c.strides[0] * 1000 + c.strides[1] * 10 + c.strides[2]
        out[2] = a[1].corner[1, -1].x
        out[3] = a["corner"]["y"][1, 0, 2]
        out[4] = a[2].corner.x[1][::2][1]
        a[0].corner[1, 2].y = 3
        for w in a[2].weights:
            out[5] += w
        a.weights[0, 1:] = -1
        a[1].weights[:] = a[2].weights

    a, out = shapes(3), np.zeros(6)
    want = [323, a["corner"].strides[0] * 1000 + a["corner"].strides[1] * 10 + 8, a[1]["corner"][1, 2]["x"],
            a["corner"]["y"][1, 0, 2], a["corner"]["x"][2, 1, 2], a["weights"][2].sum()]
    kernel[1, 1](out, a)
    assert out.tolist() == want
    assert a["corner"]["y"][0, 1, 2] == 3
    assert a["weights"].tolist() == [[0.5, -1, -1], [6.5, 7.5, 8.5], [6.5, 7.5, 8.5]]


# Whole records


def test_records_are_copied_whole():
    @cuda.jit
    def kernel(out, a, r):
        mine = cuda.local.array(2, from_shape)
        mine[0] = a[1]
        mine[1] = mine[0]
        mine[0].weights[0] = 1000
        out[0] = mine[1]
        out[1:3] = a[2:]
        out[3:] = r
        out[0].corner[0] = a[2].corner[1]
        out[1].centre = a[0].corner[1, 2]

    from_shape = from_dtype(shape)
    a, out = shapes(4), np.zeros(6, shape)
    kernel[1, 1](out, a, a[0])
    want = np.concatenate([a[1:], a[:1], a[:1], a[:1]])
    want[0]["corner"][0] = a[2]["corner"][1]
    want[1]["centre"] = a[0]["corner"][1, 2]
    np.testing.assert_array_equal(out, want)


def test_records_through_branches_and_device_functions():
    @cuda.jit(device=True)
    def larger(p, q):
        return p if p.x > q.x else q

    @cuda.jit
    def kernel(out, a):
        i = cuda.grid(1)
        if i < a.size:
            pair = (a[i], larger(a[i], a[0]))
            out[i] = pair[1].y + pair[0].x

    a = np.array([(3, 1), (1, 20), (7, 300)], point)
    out = np.zeros(3)
    kernel[1, 4](out, a)
    assert out.tolist() == [4, 2, 307]


# Packed records


def test_packed_records_of_an_odd_size():
    @cuda.jit
    def kernel(out, a):
        i = cuda.grid(1)
        if i < a.size:
            out[i] = a[a.size - 1 - i]
            out[i].d *= 2
            out[i].z += 1j
            out[i].f = -out[i].f
            out[i].h = out[i].h + out[i].h
            out[i].i += 1
            out[i].ok = not out[i].ok

    a, out = odds(7), np.zeros(7, odd)
    kernel[1, 8](out, a)
    want = a[::-1].copy()
    want["d"] *= 2
    want["z"] += np.complex64(1j)
    want["f"] *= -1
    want["h"] += want["h"]
    want["i"] += 1
    want["ok"] ^= True
    np.testing.assert_array_equal(out, want)


def test_field_arrays_of_packed_records():
    @cuda.jit(device=True)
    def total(x):
        s = 0.0
        for v in x:
            s += v
        return s

    @cuda.jit
    def kernel(out, a, plain):
        out[0] = total(a.d)
        out[1] = total(plain)
        out[2] = total(a.d[1::2])
        out[3] = total(a.d if out[3] > 0 else plain)
        a.f[:] = a.i
        a.z.imag[2] = 9

    a, plain, out = odds(5), np.arange(4.0), np.ones(4)
    want = [a["d"].sum(), 6, a["d"][1::2].sum(), a["d"].sum()]
    kernel[1, 1](out, a, plain)
    np.testing.assert_allclose(out, want, rtol=1e-15)
    assert a["f"].tolist() == a["i"].tolist() and a["z"][2].imag == 9


def test_atomics_need_aligned_fields():
    @cuda.jit
    def kernel(a):
        cuda.atomic.add(a.f, 0, 1)

    with pytest.raises(errors.TypingError, match="aligned"):
        kernel[1, 1](odds(2))


def test_misplaced_fields_are_refused_by_name():
    @cuda.jit
    def kernel(a):
        a[0].late = 1

    dtype = np.dtype([("small", np.int8), ("late", np.float64)])
    with pytest.raises(errors.UnsupportedError, match="late.*align=True"):
        kernel[1, 1](np.zeros(2, dtype))


def test_types_of_records_keep_their_layout():
    for dtype in (point, shape, odd):
        record = from_dtype(dtype)
        assert record.dtype.fields == dtype.fields and record.dtype.itemsize == dtype.itemsize
        assert from_dtype(np.dtype(dtype.descr) if not dtype.isalignedstruct else dtype) == record
    assert int64 != from_dtype(point) != from_dtype(odd)
    assert "x: float32" in str(from_dtype(point)) and "[2, 3]" in str(from_dtype(shape))
    assert float32 == from_dtype(point["x"])
