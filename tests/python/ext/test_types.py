"""Type objects: names, equality, array types, and the types of values."""
import numpy as np
import pytest

import cujit
from cujit import cuda, types

SCALARS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
           "complex64", "complex128"]


@pytest.mark.parametrize("name", SCALARS)
def test_a_scalar_type_is_one_object_everywhere(name):
    scalar = getattr(cujit, name)
    assert scalar is getattr(types, name) is getattr(cuda.types, name)
    assert str(scalar) == name and scalar.dtype == np.dtype(name)
    assert cujit.from_dtype(np.dtype(name)) == scalar
    assert scalar.bitwidth == 8 * np.dtype(name).itemsize


def test_aliases():
    assert cujit.boolean is cujit.bool_ is cujit.b1
    assert cujit.intp is cujit.int64 is cujit.i8 and cujit.uintp is cujit.uint64
    assert cujit.double is cujit.float64 is cujit.f8
    assert cujit.void is cujit.none
    assert cujit.from_dtype(bool) == cujit.boolean


def test_equality_and_hash_follow_the_structure():
    assert cujit.float32[:] == cujit.float32[:] and hash(cujit.float32[:]) == hash(cujit.float32[:])
    assert cujit.float32[:] != cujit.float32[::1] and cujit.float32[:] != cujit.float64[:]
    assert cujit.float32[:] != cujit.float32[:, :] and cujit.int32 != cujit.uint32
    assert len({cujit.float32[::1], cujit.float32[::1], cujit.float32[:]}) == 2
    assert (cujit.float32 == "float32") is False


@pytest.mark.parametrize("made, ndim, layout", [
    (cujit.float32[:], 1, "A"), (cujit.float32[::1], 1, "C"), (cujit.float32[:, :], 2, "A"),
    (cujit.float32[:, ::1], 2, "C"), (cujit.float32[::1, :], 2, "F"), (cujit.float32[:, :, ::1], 3, "C"),
], ids=str)
def test_array_types_by_slices(made, ndim, layout):
    assert (made.ndim, made.layout, made.dtype) == (ndim, layout, cujit.float32)
    assert made == types.Array(cujit.float32, ndim, layout)


def test_spelling_is_numbas():
    assert str(cujit.float32[:, ::1]) == "array(float32, 2d, C)"
    assert str(cujit.void) == "none"
    assert str(types.UniTuple(cujit.int64, 2)) == "UniTuple(int64 x 2)"


@pytest.mark.parametrize("value, expected", [
    (3, cujit.int64), (True, cujit.boolean), (2.5, cujit.float64), (1j, cujit.complex128), (None, cujit.none),
    (np.int8(3), cujit.int8), (np.uint64(3), cujit.uint64), (np.float16(1), cujit.float16),
    (np.float32(1), cujit.float32), (np.complex64(1), cujit.complex64), (np.bool_(True), cujit.boolean),
    (np.zeros(3), cujit.float64[::1]), (np.zeros((3, 4), np.int16), cujit.int16[:, ::1]),
    (np.zeros((3, 4), order="F"), cujit.float64[::1, :]), (np.zeros((3, 4))[::2, ::2], cujit.float64[:, :]),
    ((1, 2), types.UniTuple(cujit.int64, 2)), ((1, 2.0), types.Tuple([cujit.int64, cujit.float64])),
], ids=repr)
def test_typeof(value, expected):
    assert cujit.typeof(value) == expected


def test_typeof_a_device_array_is_that_of_its_host_array():
    for host in (np.zeros(3), np.zeros((2, 3), np.int8), np.zeros((2, 3), order="F")):
        assert cujit.typeof(cuda.to_device(host)) == cujit.typeof(host)
    assert cujit.typeof(cuda.to_device(np.zeros(6))[::2]) == cujit.float64[:]


@pytest.mark.parametrize("value", ["text", object(), {1: 2}, np.array([object()]), np.array([1], ">f8")],
                         ids=["str", "object", "dict", "object array", "foreign bytes"])
def test_values_that_have_no_type(value):
    with pytest.raises(TypeError):
        cujit.typeof(value)


def test_dtypes_that_have_no_type():
    for dtype in (object, ">f8"):
        with pytest.raises(TypeError):
            cujit.from_dtype(dtype)


def test_calling_a_scalar_type_converts_as_numpy_does():
    assert float(cujit.float32(0.1)) == float(np.float32(0.1)) != 0.1
    assert cujit.int32(7.9) == 7 and cujit.boolean(3) == True  # noqa: E712
    assert cujit.complex64(1 + 2j) == np.complex64(1 + 2j)


def test_names_that_are_not_there():
    with pytest.raises(AttributeError):
        cujit.float128
    with pytest.raises(AttributeError):
        cuda.no_such_function
    assert "vectorize" in dir(cujit) and "threadIdx" in dir(cuda)


def test_every_intrinsic_of_the_table_is_a_name_of_the_cuda_namespace():
    from cujit import _core

    paths = {path for row in _core.intrinsic_table for path in _paths(row) if path.startswith("cuda.")}
    assert "cuda.grid" in paths and "cuda.atomic.add" in paths
    for path in paths:
        found = cuda
        for name in path.split(".")[1:]:
            found = getattr(found, name)
        assert isinstance(found, _core.Intrinsic) and found.__doc__, path


def _paths(row):
    paths = row["paths"]
    return paths.split() if isinstance(paths, str) else paths


def test_intrinsics_cannot_be_called_by_the_host():
    with pytest.raises((TypeError, RuntimeError)):
        cuda.grid(1)


@pytest.mark.parametrize("value, families", [
    (types.boolean, "Boolean"), (types.uint8, "Integer Number"), (types.bfloat16, "Float Number"),
    (types.float64, "Float Number"), (types.complex64, "Complex Number"), (types.float32[:, :], "Array"),
    (types.Tuple((types.int8, types.int8)), "BaseTuple UniTuple"),
    (types.Tuple((types.int8, types.int16)), "BaseTuple Tuple"), (types.Tuple(()), "BaseTuple Tuple"),
    (types.from_dtype([("a", "i4")]), "Record"), (types.NPDatetime("s"), "NPDatetime"),
    (types.NPTimedelta("ms"), "NPTimedelta"), (types.void, "NoneType"), (cuda.float32x4, ""), (3, ""),
], ids=str)
def test_families_of_types(value, families):
    names = ("NoneType Boolean Integer Float Complex Number Array BaseTuple Tuple UniTuple Record NPDatetime "
             "NPTimedelta").split()
    assert {name for name in names if isinstance(value, getattr(types, name))} == set(families.split())


def test_what_types_tell():
    assert types.Array(types.float32, 2, "C") == types.float32[:, ::1]
    assert types.UniTuple(types.int8, 3) == types.Tuple([types.int8] * 3) and types.UniTuple(types.int8, 3).count == 3
    assert types.int8.signed and not types.uint64.signed and types.complex64.underlying_float is types.float32
    assert types.integer_domain == types.signed_domain | types.unsigned_domain
    with pytest.raises(AttributeError, match="no attribute 'signed'"):
        types.float32.signed


@pytest.mark.not_under("address", "it keeps freed memory for a while")
def test_an_equal_dtype_made_again_costs_nothing(run_python):
    """In bytes per dtype; one that is different from all others would be a few thousand."""
    grown = run_python("""
import gc
import numpy as np
from cujit import cuda

@cuda.jit
def kernel(records):
    records[0].a = records[0].place.x + records[0].v[1]

def launch():
    place = np.dtype([("x", np.float32), ("when", "M8[s]")])
    dtype = np.dtype([("a", np.float64), ("v", np.int32, 4), ("place", place), ("name", "S5")], align=True)
    kernel[1, 1](np.zeros(2, dtype))
    kernel[1, 1](cuda.device_array(2, dtype))

def pages():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1])

for _ in range(500):
    launch()
gc.collect()
before = pages()
for _ in range(10_000):
    launch()
gc.collect()
print((pages() - before) * 4096 / 10_000)
""")
    assert float(grown.splitlines()[-1]) < 200
