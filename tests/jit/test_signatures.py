"""The forms of signatures, and what a kernel compiled for them accepts."""
import numpy as np
import pytest

from cujit import cuda, errors, float32, float64, int32, int64, types, void
from cujit.cuda._dispatch.signature import normalize
from cujit.errors import CujitWarning, SignatureError


def scale(x, factor):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= factor


TYPES = (float32[:], float64)


@pytest.mark.parametrize("form", [
    "void(float32[:], float64)", "(float32[:], float64)", " void ( float32[:] , float64 ) ", "void(f4[:], f8)",
    "none(float32[:], double)", void(float32[:], float64), TYPES,
], ids=str)
def test_forms_of_one_signature(form):
    args, result = normalize(form)
    assert args == TYPES and result in (None, void)


@pytest.mark.parametrize("text, result", [
    ("int32(int32, int32)", int32), ("float64(float32, float32)", float64), ("b1(i8, u8)", types.boolean),
    ("complex64(complex64, f4)", types.complex64),
])
def test_results(text, result):
    assert normalize(text)[1] == result


@pytest.mark.parametrize("text, expected", [
    ("void(float32[::1])", float32[::1]), ("void(float32[:, ::1])", float32[:, ::1]),
    ("void(float32[::1, :])", float32[::1, :]), ("void(int64[:, :, :])", int64[:, :, :]),
    ("void(intp)", int64), ("void(uint8)", types.uint8),
])
def test_arguments_in_text(text, expected):
    assert normalize(text)[0] == (expected,)


def test_the_types_are_names_of_cuda_too():
    @cuda.jit(cuda.void(cuda.float32[:], cuda.int32))
    def kernel(x, n):
        x[0] = cuda.float32(n) / cuda.int32(4)

    x = np.zeros(1, np.float32)
    kernel[1, 1](x, 3)
    assert x[0] == 0.75
    assert cuda.types.NPDatetime("s") == types.NPDatetime("s")


def test_text_without_arguments():
    assert normalize("void()") == ((), void)


@pytest.mark.parametrize("bad", [
    "void(float33)", "void(float32", "float32[:", "void(float32[:])extra", "void(float32[1:2])", "", "int32 int32",
    (float32, "int32"), (1, 2), 7, None, float32,
], ids=repr)
def test_what_is_no_signature(bad):
    with pytest.raises(SignatureError):
        normalize(bad)


@pytest.mark.parametrize("form", [TYPES, void(*TYPES), "void(float32[:], float64)"], ids=["tuple", "object", "text"])
def test_a_signature_compiles_at_once_and_takes_what_converts(form):
    kernel = cuda.jit(form)(scale)
    assert kernel.signatures == [TYPES] and kernel.specialized
    d = cuda.to_device(np.arange(20, dtype=np.float32))
    kernel[1, 32](d, 2)  # an int for a float64, C order for any strides
    kernel[1, 32](d[::2], 0.5)
    np.testing.assert_array_equal(d.copy_to_host(), np.where(np.arange(20) % 2, 2, 1) * np.arange(20))
    assert kernel.signatures == [TYPES]


def test_a_list_of_signatures_is_matched_exactly():
    kernel = cuda.jit([(float32[::1], float64), "void(int32[::1], int64)"])(scale)
    assert len(kernel.overloads) == 2 and not kernel.specialized
    d = cuda.to_device(np.arange(5.0))
    with pytest.raises(TypeError, match="float64"):
        kernel[1, 8](d, 2.0)
    np.testing.assert_array_equal(d.copy_to_host(), np.arange(5.0))


def test_types_are_not_confused_by_other_overloads():
    kernel = cuda.jit(scale)
    for dtype in (np.float32, np.int16, np.float64, np.float32):
        d = cuda.to_device(np.arange(5, dtype=dtype))
        kernel[1, 8](d, 3)
        np.testing.assert_array_equal(d.copy_to_host(), 3 * np.arange(5))
    assert len(kernel.signatures) == 3


def test_a_kernels_signature_has_no_result():
    with pytest.raises(TypeError, match="float32"):
        cuda.jit("float32(float32[:], float64)")(scale)


@pytest.mark.parametrize("signature, expected", [
    ("UniTuple(int32, 2)(float64[:])", (1.0, 2.0)), ("Tuple((int32, float32))(float64[:])", (1.0, 2.5)),
    (types.Tuple((int32, float64))(float64[:]), (1.0, 2.5)),
], ids=str)
def test_a_device_function_whose_result_is_declared_as_a_tuple(signature, expected):
    @cuda.jit(signature, device=True)
    def ends(x):
        return x[0], x[-1]

    @cuda.jit
    def kernel(x, out):
        out[0], out[1] = ends(x)

    out = np.zeros(2)
    kernel[1, 1](np.array([1.5, 9, 2.5]), out)
    assert tuple(out) == expected


def test_declared_tuples_in_tuples_convert_as_numbers_do():
    @cuda.jit("Tuple((UniTuple(int8, 2), float32))(UniTuple(float32, 2), Tuple((int32, float64)))", device=True)
    def mixed(a, b):
        return (a[0] * 3.9, b[0]), a[1] + b[1]

    @cuda.jit
    def kernel(out, third):
        (out[0], out[1]), out[2] = mixed((1, third), (2.75, third))

    out = np.zeros(3)
    kernel[1, 1](out, 1 / 3)
    assert tuple(out) == (3, 2, np.float32(float(np.float32(1 / 3)) + 1 / 3))


def test_a_device_function_whose_result_is_declared_as_an_array():
    @cuda.jit("float64[:](float64[:])", device=True)
    def rest(x):
        return x[1:]

    @cuda.jit
    def kernel(x, out):
        out[0] = rest(x)[0]

    out = np.zeros(1)
    kernel[1, 1](np.array([1.0, 7.0]), out)
    assert out[0] == 7


def test_a_declared_tuple_of_another_length():
    with pytest.raises(errors.TypingError, match="3.* into 2 values"):
        cuda.jit("UniTuple(float64, 2)(float64)", device=True)(lambda x: (x, x, x))


def test_an_eager_signature_shows_errors_at_the_definition():
    with pytest.raises(TypeError):
        cuda.jit("void(float32, float64)")(scale)


@pytest.mark.parametrize("options, error", [
    ({"boundscheck": True}, NotImplementedError), ({"link": ["x.xyz"]}, RuntimeError),
    ({"argtypes": []}, Exception), ({"bind": True}, Exception), ({"no_such": 1}, TypeError),
], ids=repr)
def test_options_that_are_refused(options, error):
    with pytest.raises(error):
        cuda.jit(**options)(scale)


@pytest.mark.parametrize("options, error, message", [
    ({"max_registers": -1}, ValueError, "max_registers is out of range: -1"),
    ({"max_registers": "32"}, TypeError, "max_registers is an integer, not str"),
    ({"launch_bounds": (32, 1.5)}, TypeError, "launch_bounds is an integer, not float"),
    ({"launch_bounds": "32"}, TypeError, "launch_bounds is an integer, not str"),
    ({"launch_bounds": (1, 2, 3, 4)}, ValueError, "launch_bounds is threads"),
    ({"opt": 4}, ValueError, "opt is True, False or a level from 0 to 3, not 4"),
    ({"inline": "maybe"}, ValueError, "inline is 'never', 'always' or a function, not 'maybe'"),
], ids=repr)
def test_options_with_values_that_mean_nothing(options, error, message):
    with pytest.raises(error, match=message):
        cuda.jit(**options)(scale)


def test_options_that_exclude_each_other_warn():
    with pytest.warns(CujitWarning, match="debug"):
        cuda.jit(debug=True, opt=True)
    with pytest.warns(CujitWarning, match="lineinfo"):
        cuda.jit(debug=True, opt=False, lineinfo=True)


@pytest.mark.parametrize("thing", [7, "not a signature (", [], Ellipsis, print, int], ids=repr)
def test_things_that_cannot_be_decorated(thing):
    with pytest.raises(TypeError):
        made = cuda.jit(thing)
        made(thing)


@pytest.mark.parametrize("given, declared", [(np.int32, "uint32"), (np.uint8, "int8"), (np.int64, "uint64")])
def test_integers_of_the_other_sign_are_read_as_declared(given, declared):
    @cuda.jit(f"void({declared}[:], float64[:])")
    def kernel(x, out):
        out[0] = x[0]
        x[0] = 5

    x, out = np.array([-3 if given(0).dtype.kind == "i" else 253]).astype(given), np.zeros(1)
    expected = float(x.view(declared)[0])
    kernel[1, 1](x, out)
    assert out[0] == expected and x[0] == 5
    with pytest.raises(TypeError, match="does not convert"):
        kernel[1, 1](x.astype(np.float32), out)


def test_specialized_for_types():
    kernel = cuda.jit(scale)
    assert kernel.specialize(float32[::1], float64) is kernel.specialize(np.zeros(1, np.float32), 1.0)
