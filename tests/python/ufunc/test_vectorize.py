"""@vectorize: which signature, which result, which shapes, on the host and on the device."""
import copy
import math
import pickle

import numpy as np
import pytest

import cujit
from cujit import cuda, float32, float64, guvectorize, vectorize


@vectorize(["float32(float32, float32)", "float64(float64, float64)", "int64(int64, int64)"], target="cuda")
def mix(x, y):
    return 3 * x - y


@vectorize
def mix_any(x, y):
    return 3 * x - y


def random_operands(rng, dtype):
    """Two arrays whose shapes go together, of random order, steps and repeated axes."""
    shape = rng.integers(0, 6, rng.integers(0, 4))
    operands = []
    for _ in range(2):
        own = [1 if rng.random() < 0.25 else int(n) for n in shape[rng.integers(0, len(shape) + 1):]]
        array = np.array(rng.integers(-50, 50, [2 * n for n in own]), dtype, order=rng.choice(["C", "F"]))
        operands.append(array[tuple(slice(None, None, 2) for _ in own)] if rng.random() < 0.5
                        else array[tuple(slice(0, n) for n in own)])
    return operands


@pytest.mark.parametrize("function", [mix, mix_any])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_any_layout_and_shape_on_the_host(rng, function, dtype):
    for _ in range(40):
        x, y = random_operands(rng, dtype)
        got, expected = function(x, y), 3 * x - y
        assert np.shape(got) == expected.shape and (got.dtype == dtype or function is mix_any)
        np.testing.assert_array_equal(got, expected)


def test_any_layout_and_shape_on_the_device(rng):
    for _ in range(40):
        x, y = random_operands(rng, np.float32)
        d_x, d_y = (cuda.to_device(np.asarray(a, order="K").copy(rng.choice(["C", "F"]))) for a in (x, y))
        got = mix(d_x, d_y)
        assert isinstance(got, cuda.DeviceNDArray) and got.dtype == np.float32
        np.testing.assert_array_equal(got.copy_to_host(), 3 * x - y)


def test_views_of_device_arrays():
    base = np.arange(60.0).reshape(6, 10)
    d = cuda.to_device(base)
    np.testing.assert_array_equal(mix(d[::2, 1:], d[1::2, :-1]).copy_to_host(), 3 * base[::2, 1:] - base[1::2, :-1])
    np.testing.assert_array_equal(mix(d[::-1], d).copy_to_host(), 3 * base[::-1] - base)
    np.testing.assert_array_equal(mix(d[:, 3], d[2, :6]).copy_to_host(), 3 * base[:, 3] - base[2, :6])


def test_many_axes():
    x = np.arange(2 * 3 * 2 * 3 * 2, dtype=np.float64).reshape(2, 3, 2, 3, 2)
    y = x.transpose(4, 3, 2, 1, 0)[:, :, :1]
    np.testing.assert_array_equal(mix(x, y), 3 * x - y)


@pytest.mark.parametrize("n", [0, 1, 31, 255, 256, 257, 1000])
def test_every_length(n):
    x = np.arange(n, dtype=np.float32)
    np.testing.assert_array_equal(mix(x, x), 2 * x)


@pytest.mark.parametrize("types, result", [
    ((np.int32, np.int32), np.int64), ((np.float32, np.float32), np.float32),
    ((np.float32, np.float64), np.float64), ((np.int64, np.float32), np.float64),
    ((np.complex64, np.float32), np.complex64),
], ids=str)
def test_results_without_signatures_have_the_type_of_the_expression(types, result):
    """Integers are 64 bits wide in kernels, and an integer with a float32 is a float64."""
    @vectorize
    def total(x, y):
        return x + y

    x, y = np.arange(5).astype(types[0]), np.ones(5, types[1])
    got = total(x, y)
    assert got.dtype == result
    np.testing.assert_array_equal(got, x + y)


def test_scalars():
    x = np.arange(4, dtype=np.float32)
    assert mix(x, 2.0).dtype == np.float32  # the signature decides what a Python number is
    np.testing.assert_array_equal(mix(2, x), 6 - x)
    got = mix(2.5, 1.5)
    assert got == 6.0 and np.isscalar(got)
    assert mix_any(2, 3) == 3 and isinstance(mix_any(2, 3), np.int64)
    assert mix(np.array(2.0), np.array(1.0)) == 5.0


def test_a_scalar_with_a_device_array_stays_on_the_device():
    got = mix(cuda.to_device(np.arange(4.0)), 1)
    assert isinstance(got, cuda.DeviceNDArray)
    np.testing.assert_array_equal(got.copy_to_host(), 3 * np.arange(4) - 1)


def test_dtypes_that_no_signature_has():
    for dtype in np.complex64, np.uint64:
        with pytest.raises(TypeError, match=r"no signature for \(.*complex64.*; it has: float32, float32 -> float32"):
            mix(np.zeros(3, np.complex64), np.zeros(3, dtype))


def test_the_declared_result_is_converted_to():
    @vectorize(["int32(float64)", float32(float32)])
    def scaled(x):
        return x * 10.0

    np.testing.assert_array_equal(scaled(np.array([0.19, -0.19, 12.34])), np.array([1, -1, 123]))
    assert scaled(np.zeros(2)).dtype == np.int32 and scaled(np.zeros(2, np.float32)).dtype == np.float32


@pytest.mark.parametrize("where", ["host", "device"])
@pytest.mark.parametrize("inputs", ["host", "device"])
def test_out(where, inputs):
    x, y = np.arange(12.0).reshape(3, 4), np.ones(4)
    out = np.full((3, 4), np.nan)
    target = cuda.to_device(out) if where == "device" else out
    args = [cuda.to_device(a) if inputs == "device" else a for a in (x, y)]
    got = mix(*args, out=target)
    assert got is target
    np.testing.assert_array_equal(np.asarray(target), 3 * x - y)


def test_out_may_be_a_view_and_an_input():
    base = np.arange(20.0)
    mix(base[::2], base[1::2], out=base[::2])
    np.testing.assert_array_equal(base[::2], 3 * np.arange(0, 20, 2) - np.arange(1, 20, 2))
    np.testing.assert_array_equal(base[1::2], np.arange(1, 20, 2))


def test_out_that_does_not_fit():
    x = np.zeros(3)
    with pytest.raises(ValueError):
        mix(x, x, out=np.zeros(4))
    with pytest.raises(TypeError):
        mix(x, x, out=np.zeros(3, np.int64))
    fixed = np.zeros(3)
    fixed.flags.writeable = False
    with pytest.raises(ValueError):
        mix(x + 1, x, out=fixed)
    assert not fixed.any()


def test_inputs_are_left_alone():
    x, y = np.arange(5.0), np.ones(5)
    x.flags.writeable = False
    mix(x, y)
    np.testing.assert_array_equal(y, np.ones(5))


def test_shapes_that_do_not_go_together():
    with pytest.raises(ValueError):
        mix(np.zeros(3), np.zeros(4))


@pytest.mark.parametrize("count", [0, 1, 4])
def test_the_number_of_arguments(count):
    with pytest.raises(TypeError):
        mix(*[np.zeros(3)] * count)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 64, 1001])
@pytest.mark.parametrize("where", [np.asarray, cuda.to_device], ids=["host", "device"])
def test_reduce(n, where):
    @vectorize(["int64(int64, int64)"])
    def add(x, y):
        return x + y

    x = np.arange(n) * 7 - 3
    array = where(x)
    assert add.reduce(array) == x.sum()
    np.testing.assert_array_equal(np.asarray(array), x)


def test_reduce_of_what_cannot_be():
    with pytest.raises(ValueError, match="has no elements"):
        mix.reduce(np.zeros(0))
    with pytest.raises(ValueError, match="depends on the order"):
        mix.reduce(np.zeros((2, 2)), axis=None)


def test_about_the_object():
    assert mix.__name__ == "mix" and "mix" in repr(mix) and (mix.nin, mix.nout, mix.nargs, mix.ntypes) == (2, 1, 3, 3)
    assert mix.types[0] == "float32, float32 -> float32"
    with pytest.raises(ValueError):
        vectorize(["float32(float32)"], target="roc")
    with pytest.raises(KeyError):
        vectorize(["float32(float32)"], color="red")
    with pytest.raises(TypeError):
        vectorize(["float32(float32)"])(lambda x, y: x)


def test_an_error_in_the_function_names_its_line():
    with pytest.raises(cujit.errors.TypingError) as raised:
        @vectorize(["float64(float64)"])
        def broken(x):
            return x + undefined_name  # noqa: F821
    assert raised.value.filename == __file__ and "undefined_name" in str(raised.value)


def test_math_in_the_body(rng):
    @vectorize([float64(float64)])
    def damped(x):
        return math.exp(-x) * math.sin(3.0 * x) if x > 0 else 0.0

    x = rng.standard_normal(500)
    np.testing.assert_allclose(damped(x), np.where(x > 0, np.exp(-x) * np.sin(3 * x), 0), rtol=1e-13, atol=1e-15)


def test_blocks_of_another_size():
    @vectorize
    def negate(x):
        return -x

    negate.max_blocksize = 32
    np.testing.assert_array_equal(negate(np.arange(100.0)), -np.arange(100.0))
    assert negate.max_blocksize == 32


def test_streams():
    stream = cuda.stream()
    d = cuda.to_device(np.arange(100.0), stream=stream)
    got = mix(mix(d, d, stream=stream), d, stream=stream)
    host = got.copy_to_host(stream=stream)
    stream.synchronize()
    np.testing.assert_array_equal(host, 5 * np.arange(100))


@pytest.mark.parametrize("n", [1, 3, 4, 5, 255, 1024, 1027])
def test_threads_of_a_gpu_do_sixteen_bytes_each(monkeypatch, n):
    class GPU:
        kind = "cuda"

    monkeypatch.setattr("cujit._ufunc.array_loop.need_device", lambda: GPU)

    @vectorize(["float32(float32, int16, float32)", "complex64(complex64, boolean, complex64)"])
    def add(x, y, z):
        return x + y * z

    for first, second in ((np.float32, np.int16), (np.complex64, np.bool_)):
        x, y = (np.arange(n) % 50).astype(first), (np.arange(n) % 3).astype(second)
        d_x, d_y = cuda.to_device(x), cuda.to_device(y)
        np.testing.assert_array_equal(add(d_x, d_y, first(2)).copy_to_host(), x + y * first(2))
        np.testing.assert_array_equal(add(d_x[1:], d_y[1:], first(2)).copy_to_host(), (x + y * first(2))[1:])


def test_the_wide_loop_reads_and_writes_wide():
    from cujit._ufunc.array_loop import Loop, _map_source

    double = Loop(cuda.jit(lambda x: x + x, device=True))
    key = (True,), 1, (float32,), 4, True
    kernel = double._kernel(key, key[2], lambda name: _map_source(name, *key))
    ptx = kernel.inspect_asm((float32[::1], float32[::1]), cc=(9, 0))
    assert ptx.count("ld.global.nc.v4.b32") == ptx.count("st.global.v4.b32") == 1
    key = (True,), 1, (float32,), 4, False
    kernel = double._kernel(key, key[2], lambda name: _map_source(name, *key))
    ptx = kernel.inspect_asm((float32[::1], float32[::1]), cc=(9, 0))
    loads = [line.split()[0] for line in ptx.splitlines() if "global." in line]
    assert loads[:8] == ["ld.global.nc.b32"] * 4 + ["st.global.b32"] * 4   # all on their way at once
    values = cuda.to_device(np.arange(5003, dtype=np.float32))
    result = cuda.device_array(5003, np.float32)
    kernel[5, 256](values, result)
    np.testing.assert_array_equal(result.copy_to_host(), np.arange(5003) * 2)


def test_repeated_calls_on_device_arrays():
    """The second call of a kind is made by the extension; all must agree with the first."""
    x, y = np.arange(12, dtype=np.float32).reshape(3, 4), np.arange(12, 24, dtype=np.float32).reshape(3, 4)
    d_x, d_y, stream = cuda.to_device(x), cuda.to_device(y), cuda.stream()

    @vectorize(["float32(float32, float32)", "float64(float64, float64)"])
    def add(a, b):
        return a + b

    for _ in range(3):
        result = add(d_x, d_y)
        assert type(result) is cuda.DeviceNDArray and result.shape == (3, 4) and result.dtype == np.float32
        np.testing.assert_array_equal(result.copy_to_host(), x + y)
        np.testing.assert_array_equal(add(d_x, 2).copy_to_host(), x + 2)
        np.testing.assert_array_equal(add(0.5, d_x).copy_to_host(), x + np.float32(0.5))
        np.testing.assert_array_equal(add(d_x.reshape(12), d_y.reshape(12)).copy_to_host(), (x + y).ravel())
        np.testing.assert_array_equal(add(d_x[:2], d_y[1:]).copy_to_host(), x[:2] + y[1:])
        np.testing.assert_array_equal(add(d_x, d_y[0]).copy_to_host(), x + y[0])
        np.testing.assert_array_equal(add(d_x.T, d_y.T).copy_to_host(), (x + y).T)
        out = cuda.to_device(np.zeros((3, 4), np.float32))
        assert add(d_x, d_y, out=out, stream=stream) is out
        assert add(d_x, d_y, stream=stream).stream is stream
        stream.synchronize()
        np.testing.assert_array_equal(out.copy_to_host(), x + y)
        with pytest.raises(ValueError):
            add(d_x, d_y, out=cuda.to_device(np.zeros((4, 3), np.float32)))
        with pytest.raises(TypeError):
            add(d_x, d_y, out=cuda.to_device(np.zeros((3, 4), np.int32)))
        wide = add(d_x, cuda.to_device(y.astype(np.float64)))
        assert wide.dtype == np.float64
        np.testing.assert_array_equal(wide.copy_to_host(), x + y)
        with pytest.raises(TypeError):
            add(d_x)
    add.max_blocksize = 2
    np.testing.assert_array_equal(add(d_x, d_y).copy_to_host(), x + y)
    np.testing.assert_array_equal(add(d_x, d_y).copy_to_host(), x + y)


def test_out_may_overlap_an_input():
    x = np.arange(100.0)
    d = cuda.to_device(x)
    for _ in range(2):
        mix(d[:-1], d[:-1], out=d[1:])
        x[1:] = 2 * x[:-1]
        np.testing.assert_array_equal(d.copy_to_host(), x)
    host = np.arange(100.0)
    mix(host[::-1], host, out=host)
    np.testing.assert_array_equal(host, 3 * np.arange(100.0)[::-1] - np.arange(100.0))


def test_outer():
    x, y = np.arange(6.0).reshape(2, 3), np.arange(4.0)
    expected = 3 * x[:, :, None] - y
    np.testing.assert_array_equal(mix.outer(x, y), expected)
    np.testing.assert_array_equal(mix.outer(cuda.to_device(x), cuda.to_device(y)).copy_to_host(), expected)
    assert mix.outer(2.0, 3.0) == 3.0
    with pytest.raises(TypeError, match="functions of two"):
        vectorize(lambda x: x).outer(x, y)


def test_copies_are_the_ufunc_itself():
    for made in (vectorize(lambda x: x), guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")(lambda x, y: None)):
        assert copy.copy(made) is made and copy.deepcopy([made])[0] is made


def test_what_it_is_made_of():
    """Device functions have a Python function; builtins and numbers have none, and are no signatures either."""
    of_device = cuda.jit(lambda x: x + 1.0, device=True)
    for made in (vectorize(of_device), vectorize(["float64(float64)"])(of_device)):
        assert made(np.array([1.0])).tolist() == [2.0]
    for make in (lambda: vectorize(max), lambda: vectorize(["float64(float64)"])(3)):
        with pytest.raises(TypeError, match="vectorize takes a Python function"):
            make()
    with pytest.raises(TypeError, match="guvectorize takes a Python function"):
        guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")(max)


def test_pickles():
    def make(k):
        return lambda a, b: a * k + b

    x = np.arange(4.0)
    for made in vectorize(["float64(float64, float64)", "int64(int64, int64)"])(make(3)), vectorize(make(3)):
        again = pickle.loads(pickle.dumps(made))
        np.testing.assert_array_equal(again(x, x), 4 * x)
        assert again is not made and again.py_func is not made.py_func
    assert pickle.loads(pickle.dumps(twice_of_a_module)) is twice_of_a_module
    with pytest.raises(TypeError):
        pickle.loads(pickle.dumps(vectorize(["float64(float64, float64)"])(make(3))))(x.astype(np.complex64), x)
    counted = pickle.loads(pickle.dumps(vectorize(["Tuple((float64, int64))(float64)"], target="cpu", identity=0)(
        lambda a: (a, 1))))
    assert counted.types == ["float64 -> float64, int64"] and counted.identity == 0 and counted(2.0) == (2.0, 1)


@vectorize
def twice_of_a_module(a):
    return a + a


def test_a_stated_target_has_the_rules_of_numba_cuda_and_none_those_of_numpy():
    def mean(x, y):
        return (x + y) / 2

    exact = vectorize(["float32(float32, float32)", "float64(float64, float64)"], target="cuda")(mean)
    casting = vectorize(["float32(float32, float32)", "float64(float64, float64)"])(mean)
    x, out = np.arange(3, dtype=np.int64), np.empty(3)
    with pytest.raises(TypeError, match="no signature for .* not cast; without a target they are"):
        exact(x, x)
    with pytest.raises(TypeError, match="several signatures fit these scalars"):
        exact(1, 2)
    with pytest.raises(TypeError, match="takes 2 arguments, 3 given"):
        exact(x, x, out)
    np.testing.assert_array_equal(exact(x, x, casting="safe"), x)
    np.testing.assert_array_equal(casting(x, x, out), x)
    assert out.tolist() == [0, 1, 2] and casting(1, 2) == 1.5
    with pytest.raises(TypeError, match="no signature for"):
        pickle.loads(pickle.dumps(exact))(x, x)


@pytest.mark.parametrize("error", [TypeError, ValueError])
def test_a_reduction_of_nothing_is_an_error_of_both_kinds(error):
    with pytest.raises(error, match="has no identity, has no elements"):
        vectorize(["int64(int64, int64)"])(lambda x, y: x + y).reduce(np.zeros(0, np.int64))
