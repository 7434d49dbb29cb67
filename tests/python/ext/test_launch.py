"""Launching: configurations, arguments, warnings, forall, and the dispatcher as an object."""
import copy
import inspect
import pickle
import warnings

import numpy as np
import pytest

from cujit import cuda, float32, float64, int32, int64, void
from cujit.cuda import args
from cujit.errors import LaunchArgumentError, LaunchConfigurationError, PerformanceWarning, UnsupportedError


@cuda.jit
def add(x, y, out):
    """out = x + y"""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


@cuda.jit
def count_threads(total):
    cuda.atomic.add(total, 0, 1)


@pytest.mark.parametrize("grid, block", [(1, 1), (3, 32), ((2, 3), (4, 5)), ((2, 1, 2), (3, 2, 2)), ([2, 2], [8])])
def test_every_thread_runs_once(grid, block):
    total = cuda.to_device(np.zeros(1, np.int64))
    count_threads[grid, block](total)
    assert total.copy_to_host()[0] == np.prod(grid) * np.prod(block)


@pytest.mark.parametrize("configuration", [
    1, (1,), (1, 2, 0, 0, 0), ((1, 1, 1, 1), 32), (1, (1, 1, 1, 1)), ((), 1), (0, 32), (1, 0), (-1, 32), (1, 1025),
    (1, (32, 33)), (1, (1, 1, 65)), ((1, 1 << 17), 1), (1, 32, 0, -1), (1, 32, 0, 1 << 30),
], ids=repr)
def test_configurations_that_no_device_can_run(configuration):
    total = cuda.to_device(np.zeros(1, np.int64))
    with pytest.raises(LaunchConfigurationError):
        count_threads[configuration](total)
    assert total.copy_to_host()[0] == 0


@pytest.mark.parametrize("configuration", [(1.5, 32), (1, "32"), ((1, 2.0), 8), (1, 32, "stream"), (1, 32, 0, "8")],
                         ids=repr)
def test_configurations_of_the_wrong_types(configuration):
    with pytest.raises(TypeError):
        count_threads[configuration](cuda.to_device(np.zeros(1, np.int64)))


def test_numpy_integers_configure_too():
    total = cuda.to_device(np.zeros(1, np.int64))
    count_threads[np.int32(3), (np.int64(2), np.uint8(4))](total)
    assert total.copy_to_host()[0] == 24


def test_an_unconfigured_kernel_says_how_to_configure_it():
    with pytest.raises(LaunchConfigurationError, match=r"count_threads\[grid, block\]"):
        count_threads(np.zeros(1, np.int64))


@pytest.mark.parametrize("args", [(), (1, 2), (1, 2, 3, 4)], ids=len)
def test_the_number_of_arguments(args):
    with pytest.raises(LaunchArgumentError, match="3"):
        add[1, 1](*args)


@pytest.mark.parametrize("bad", ["text", {1: 2}, object(), np.array([1], ">f8"), np.array([object()])],
                         ids=["str", "dict", "object", "foreign bytes", "object array"])
def test_an_argument_without_a_type_is_named(bad):
    x = np.zeros(3)
    with pytest.raises(LaunchArgumentError, match="'y'"):
        add[1, 1](x, bad, x)


def test_keyword_arguments_find_their_places():
    out = np.zeros(3)
    add[1, 3](out=out, x=np.arange(3.0), y=np.ones(3))
    np.testing.assert_array_equal(out, [1, 2, 3])
    with pytest.raises(TypeError, match="no_such"):
        add[1, 3](out, out, no_such=1)


def test_host_arrays_come_back_and_inputs_stay():
    x, y, out = np.arange(5.0), np.ones(5), np.full(5, -1.0)
    add[1, 8](x, y, out)
    np.testing.assert_array_equal(out, np.arange(5) + 1)
    np.testing.assert_array_equal(x, np.arange(5))


def test_strided_host_arrays_come_back_into_their_places():
    base = np.zeros((4, 6))
    add[1, 8](np.arange(4.0), np.ones(4), base[:, 2])
    expected = np.zeros((4, 6))
    expected[:, 2] = np.arange(4) + 1
    np.testing.assert_array_equal(base, expected)
    line = np.zeros(8)
    add[1, 8](np.arange(4.0), np.ones(4), line[::-2])
    np.testing.assert_array_equal(line[::-2], np.arange(4) + 1)
    assert not line[::2].any()


def test_read_only_host_arrays_can_be_read_and_are_not_written():
    x = np.arange(5.0)
    x.flags.writeable = False
    out = np.zeros(5)
    add[1, 8](x, x, out)
    np.testing.assert_array_equal(out, 2 * np.arange(5))
    with pytest.raises(TypeError, match="read-only"):
        add[1, 8](out, out, x)
    np.testing.assert_array_equal(x, np.arange(5))


def test_errors_say_what_to_do():
    x = np.zeros(4)
    with pytest.raises(TypeError, match=r"grid has .*4.0.* along x, of type numpy.float64; .* is an int"):
        add[np.ceil(3.5), 32](x, x, x)
    with pytest.raises(TypeError, match=r"block has 2.5 along y, of type float; a number of threads is an int"):
        add[1, (32, 2.5)](x, x, x)
    with pytest.raises(TypeError, match=r"dynamic shared memory is 1.5, of type float; a number of bytes is an int"):
        add[1, 32, 0, 1.5](x, x, x)
    for number, told in [(2**64, "more than 9223372036854775807"), (-2**64, "less than -9223372036854775808")]:
        with pytest.raises(LaunchConfigurationError, match=f"grid has {told} blocks along x; from 1 to"):
            add[number, 8](x, x, x)
    with pytest.raises(TypeError, match="type 'object'; they take numbers, arrays, tuples"):
        add[1, 32](x, object(), x)
    with pytest.raises(TypeError, match=r"argument 'y'.* type 'list'; np.array\(...\) makes an array"):
        add[1, 32](x, [1, 2], x)


def test_copy_hints():
    x, out, both = np.arange(4.0), np.full(4, np.nan), np.arange(4.0)
    add[1, 8](cuda.In(x), x, cuda.Out(out))
    np.testing.assert_array_equal(out, 2 * x)
    add[1, 8](x, x, cuda.In(both))
    np.testing.assert_array_equal(both, np.arange(4))
    add[1, 8](x, x, cuda.InOut(both))
    np.testing.assert_array_equal(both, 2 * np.arange(4))


def test_warnings_about_small_grids_and_host_arrays():
    """On the CPU device too, where programs for GPUs are tried out."""
    d = cuda.to_device(np.zeros(1, np.int64))
    with pytest.warns(PerformanceWarning):
        count_threads[1, 32]
    with pytest.warns(PerformanceWarning):
        count_threads[500, 1](np.zeros(1, np.int64))
    import warnings
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        count_threads[500, 1](d)


def test_a_place_that_was_warned_of_costs_launches_no_second_look():
    """Unless Python would show the warning again: under other filters, from another place, or each time."""
    out = np.zeros(64, np.int64)

    @cuda.jit
    def fill(out):
        out[cuda.grid(1)] = 1

    def launch(filters, times=2):
        with warnings.catch_warnings(record=True) as told:
            for filter_ in filters:
                warnings.simplefilter(filter_, PerformanceWarning)
            launcher = fill[128, 1]
            for _ in range(times):
                globals().get("__warningregistry__", {}).clear()    # what a second look would find
                launcher(out[:1].repeat(128))
        return len(told)

    assert launch(["default"]) == launch(["default"]) == 1
    assert launch(["always"], 3) == 3
    assert launch(["default"], 1) == 1
    with pytest.raises(PerformanceWarning):
        launch(["error"])
    with pytest.raises(PerformanceWarning):
        launch(["default", "error"])
    assert launch(["ignore"]) == 0
    with pytest.warns(PerformanceWarning):
        fill[128, 1](out.repeat(2))


def test_rows_of_numbers_of_one_type():
    """Arguments that follow each other with one type: of one class or of several, within a word and beyond."""
    @cuda.jit
    def store(a, b, c, d, e, f, g, h, i, j, out):
        out[0], out[1], out[2], out[3], out[4] = a, b, c, d, e
        out[5], out[6], out[7], out[8], out[9] = f, g, h, i, j

    def check(*numbers):
        out = np.zeros(10)
        store[1, 1](*numbers, out)
        assert out.tolist() == [float(number) for number in numbers]

    for kind in np.float32, np.float64, np.int8, np.uint16, np.int32, np.int64, np.float16, float, int, bool:
        check(*(kind(k) for k in (1, 0, 3, 0, 1, 5, 0, 1, 7, 1)))
    for _ in range(2):
        check(1, np.int64(2), 3, -4, 1 << 40, -(1 << 50), 7, np.int64(8), 9, True)
        check(1.5, np.float64(2), 3.0, 4.0, np.float64(5), 6.0, 7.0, np.float32(8), np.float32(9), 10)
    assert len(store.overloads) == 10
    with pytest.raises(LaunchArgumentError):
        check(1, 2, 3, 4, 5, 6, 7, 8, 9, 1 << 70)


def test_settings_turn_the_warnings_off():
    import warnings

    from cujit import config
    assert cuda.config is config and not config.ENABLE_CUDASIM and "CUDA_WARN_ON_IMPLICIT_COPY" in dir(config)
    before = config.CUDA_LOW_OCCUPANCY_WARNINGS, config.CUDA_WARN_ON_IMPLICIT_COPY
    try:
        config.CUDA_LOW_OCCUPANCY_WARNINGS = config.CUDA_WARN_ON_IMPLICIT_COPY = 0
        assert config.CUDA_LOW_OCCUPANCY_WARNINGS is config.CUDA_WARN_ON_IMPLICIT_COPY is False
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            count_threads[1, 1](np.zeros(1, np.int64))
        config.CUDA_LOW_OCCUPANCY_WARNINGS = True
        with pytest.warns(PerformanceWarning, match="grid"):
            count_threads[3, 1](np.zeros(1, np.int64))
    finally:
        config.CUDA_LOW_OCCUPANCY_WARNINGS, config.CUDA_WARN_ON_IMPLICIT_COPY = before
    with pytest.raises(AttributeError, match="CUDA_LOW_OCCUPANCY_WARNINGS"):
        config.CUDA_LOW_OCCUPANCY = False


def test_settings_without_effect():
    from cujit import config, errors
    assert config.CUDA_ENABLE_NRT is False and config.CUDA_LOG_SIZE == 1024
    with pytest.warns(errors.OptionsWarning, match="CUDA_ENABLE_NRT has no effect"):
        config.CUDA_ENABLE_NRT = True
    config.CUDA_ENABLE_NRT = False


@pytest.mark.parametrize("prefix", ["CUJIT_", "NUMBA_CUDA_"])
def test_variables_turn_settings_off(run_python, prefix):
    """Also by the names that they have in programs for numba.cuda."""
    names = "LOW_OCCUPANCY_WARNINGS", "WARN_ON_IMPLICIT_COPY", "ARRAY_INTERFACE_SYNC"
    program = f"from cujit import config\nprint(*[getattr(config, 'CUDA_' + name) for name in {names}])"
    assert run_python(program).split() == ["True"] * 3
    assert run_python(program, **{prefix + name: "0" for name in names}).split() == ["False"] * 3


# The first arrays that a process launches with: that is what the package would remember, if it did.
CLASSES_OF_PROGRAMS = """
import gc
import weakref

import numpy as np

from cujit import cuda


@cuda.jit
def add_one(x):
    x[cuda.grid(1)] += 1


class Late:
    pass


def launch(*bases):
    array_class = type("Own", bases, {})
    array = array_class((8,), None, np.float64)
    array[:] = 1
    add_one[1, 8](array)
    assert (array.copy_to_host() == 2).all()
    return weakref.ref(array_class)


gone = [launch(cuda.DeviceNDArray), launch(cuda.DeviceNDArray, Late)]
add_one[1, 8](cuda.device_array(8))
gc.collect()
print([each() for each in gone])
"""


def test_programs_own_classes_of_arrays_are_launched_with_and_let_go(run_python):
    assert run_python(CLASSES_OF_PROGRAMS).splitlines()[-1] == "[None, None]"


def test_launches_that_do_not_wait_for_the_streams_of_arrays(monkeypatch):
    from cujit import config
    waited = []
    monkeypatch.setattr(type(cuda.stream()), "synchronize", lambda stream: waited.append(stream))
    array = cuda.to_device(np.zeros(1, np.int64))
    interface = {**array.__cuda_array_interface__, "stream": 2}
    try:
        for config.CUDA_ARRAY_INTERFACE_SYNC in (True, False):
            cuda.from_cuda_array_interface(interface, owner=array)
    finally:
        config.CUDA_ARRAY_INTERFACE_SYNC = True
    assert len(waited) == 1


@pytest.mark.parametrize("n", [1, 31, 1000])
@pytest.mark.parametrize("tpb", [0, 16])
def test_forall(n, tpb):
    x, out = cuda.to_device(np.arange(n)), cuda.to_device(np.full(n, -1))
    add.forall(n, tpb=tpb)(x, x, out)
    np.testing.assert_array_equal(out.copy_to_host(), 2 * np.arange(n))


def test_forall_of_nothing_and_of_less():
    add.forall(0)(1, 2, 3)
    with pytest.raises(ValueError):
        add.forall(-1)


def test_the_kernel_as_an_object():
    assert add.__name__ == "add" and add.__doc__ == "out = x + y" and add.__module__ == __name__
    assert list(inspect.signature(add).parameters) == ["x", "y", "out"]
    assert add.py_func is add.__wrapped__ and "add" in repr(add)
    assert cuda.jit(fastmath=True, max_registers=32)(add.py_func).targetoptions["max_registers"] == 32


def test_specialize():
    d = cuda.to_device(np.zeros(1, np.int64))
    special = count_threads.specialize(d)
    assert special.specialized and special is count_threads.specialize(d)
    special[2, 4](d)
    assert d.copy_to_host()[0] == 8
    with pytest.raises(RuntimeError):
        special.specialize(d)


def test_overloads_and_signatures():
    kernel = cuda.jit(add.py_func)
    assert kernel.signatures == [] and kernel.overloads == {}
    d = cuda.to_device(np.zeros(3))
    kernel[1, 4](d, d, d)
    types = (float64[::1],) * 3
    assert kernel.signatures == list(kernel.overloads) == [types]
    assert [s.args for s in kernel.nopython_signatures] == [types]
    assert kernel.overloads[types].max_threads_per_block >= 32
    kernel.disable_compile()
    with pytest.raises(TypeError):
        kernel[1, 4](d, d, cuda.to_device(np.zeros(3, np.int8)))


def test_inspection():
    kernel = cuda.jit(void(float32[::1], float32[::1], float32[::1]))(add.py_func)
    types = kernel.signatures[0]
    assert "define" in kernel.inspect_llvm(types) and "add" in kernel.inspect_llvm()[types]
    assert ".target sm_90" in kernel.inspect_asm(types, cc=(9, 0))
    assert "f32" in kernel.inspect_ir(types)


def test_copies_and_pickles():
    again = copy.deepcopy(add)
    assert again is not add and again.py_func is add.py_func
    assert pickle.loads(pickle.dumps(add)) is add

    def make(k):
        @cuda.jit
        def kernel(x):
            i = cuda.grid(1)
            if i < x.size:
                x[i] = helper(x[i]) * k
        return kernel

    d = cuda.to_device(np.arange(4))
    pickle.loads(pickle.dumps(make(10)))[1, 8](d)
    np.testing.assert_array_equal(d.copy_to_host(), 10 * (np.arange(4) + 1))


def test_pickles_of_configured_kernels():
    d = cuda.to_device(np.zeros(4, np.int64))
    pickle.loads(pickle.dumps(add[1, 4]))(d, np.arange(4), d)
    np.testing.assert_array_equal(d.copy_to_host(), np.arange(4))
    again = pickle.loads(pickle.dumps(add[2, (4, 2), 0, 100]))
    assert (again.kernel, again.griddim, again.blockdim, again.sharedmem) == (add, (2, 1, 1), (4, 2, 1), 100)
    watched = add[1, 1]
    watched.pre_launch_callbacks.append(print)
    with pytest.raises(pickle.PicklingError, match="pre_launch_callbacks"):
        pickle.dumps(watched)


def helper(v):
    return v + int64(1)


def test_device_functions_run_on_the_host_too():
    @cuda.jit(device=True)
    def twice(v):
        return 2 * v

    assert twice(21) == 42 and twice("ab") == "abab"


def test_kernels_of_a_class():
    class Scaler:
        @cuda.jit
        def scale(x, k):
            i = cuda.grid(1)
            if i < x.size:
                x[i] *= k

    d = cuda.to_device(np.arange(3))
    Scaler.scale[1, 4](d, 5)
    np.testing.assert_array_equal(d.copy_to_host(), 5 * np.arange(3))


def test_globals_are_frozen_at_the_first_compilation():
    namespace = {"cuda": cuda, "K": 3}
    exec("def kernel(x):\n    x[0] = K\n", namespace)
    kernel, d = cuda.jit(namespace["kernel"]), cuda.to_device(np.zeros(1))
    kernel[1, 1](d)
    namespace["K"] = 4
    kernel[1, 1](d)
    assert d.copy_to_host()[0] == 3


def test_extensions_see_every_argument():
    seen = []

    class Doubler:
        def prepare_args(self, ty, val, stream, retr):
            seen.append(str(ty))
            retr.append(lambda: seen.append("after"))
            return ty, val * 2 if isinstance(val, int) else val

    kernel = cuda.jit(extensions=[Doubler()])(helper_kernel)
    d = cuda.to_device(np.zeros(1, np.int64))
    kernel[1, 1](d, 21)
    assert d.copy_to_host()[0] == 42
    assert seen == ["array(int64, 1d, C)", "int64", "after", "after"]


def test_extensions_that_are_added_later():
    class ReadOnly:
        def prepare_args(self, ty, val, stream, retr):
            return ty, args.wrap_arg(val, default=cuda.In) if isinstance(val, (np.ndarray, args.ArgHint)) else val

    kernel, x = cuda.jit(helper_kernel), np.zeros(1, np.int64)
    kernel[1, 1](x, 21)
    assert x[0] == 21
    kernel.extensions.append(ReadOnly())
    kernel[1, 1](x, 42)
    assert x[0] == 21
    kernel[1, 1](cuda.InOut(x), 42)
    assert x[0] == 42
    assert copy.copy(kernel[2, 1]).griddim == (2, 1, 1)


def helper_kernel(out, v):
    out[0] = v


@cuda.jit
def takes_any(out, *args):
    out[0] = len(args)
    i = 1
    for a in args:
        if isinstance(a, np.ndarray):
            a[0] = 7
            out[i] = a[1]
        elif a is None:
            out[i] = -5
        else:
            out[i] = a
        i += 1


def test_a_kernel_with_any_arguments():
    x = np.arange(3.0)
    for given, expected in [((), []), ((1,), [1]), ((1, 2.5), [1, 2.5]), ((x,), [1]), ((3, 4), [3, 4]),
                            ((2, x, True, None, np.float32(0.5)), [2, 1, 1, -5, 0.5])]:
        out = np.zeros(8)
        takes_any[1, 1](out, *given)
        assert out.tolist() == [len(given), *expected] + [0] * (7 - len(expected))
    assert x[0] == 7


def test_any_arguments_behind_a_default():
    @cuda.jit
    def kernel(out, n=3, *rows):
        i = cuda.grid(1)
        out[i] = rows[i % len(rows)][i] + n if len(rows) > 0 else n

    out = np.zeros(4)
    for arguments, keywords, expected in [((), {}, [3, 3, 3, 3]),
                                          ((1, np.arange(4.0), np.arange(4.0) * 10), {}, [1, 11, 3, 31]),
                                          ((), {"n": 4}, [4, 4, 4, 4])]:
        kernel[1, 4](out, *arguments, **keywords)
        assert out.tolist() == expected
    with pytest.raises(LaunchArgumentError, match=r"argument 'rows\[1\]' of kernel 'kernel'"):
        kernel[1, 4](out, 1, out, object())


def test_a_signature_of_any_arguments():
    @cuda.jit("void(float32[:], int32, float32)")
    def kernel(out, *rest):
        out[0], out[1] = rest

    out = np.zeros(2, np.float32)
    kernel[1, 1](out, 2, 3)
    assert out.tolist() == [2, 3]
    with pytest.raises(LaunchArgumentError, match="has no specialization"):
        kernel[1, 1](out, 2)
    assert ".param .u32" in cuda.compile_ptx(kernel.py_func, (float32[:], int32, float32))[0]


def test_parameters_that_no_kernel_has():
    @cuda.jit
    def keywords(out, **rest):
        out[0] = 1

    @cuda.jit
    def behind(out, *rest, n):
        out[0] = n

    with pytest.raises(UnsupportedError, match=r"a \*\* parameter is not supported"):
        keywords[1, 1](np.zeros(1))
    with pytest.raises(UnsupportedError, match="put it before"):
        behind[1, 1](np.zeros(1))


ENVIRONMENT = """
import warnings
warnings.simplefilter("error")
from cujit import config, cuda
import numpy as np

@cuda.jit
def kernel(x):
    x[0] = 1 / x[1]
"""


@pytest.mark.parametrize("prefix", ["NUMBA_CUDA_", "CUJIT_"])
def test_variables_of_the_environment(run_python, prefix):
    quiet = prefix.removesuffix("CUDA_") + "DISABLE_PERFORMANCE_WARNINGS"
    run_python(ENVIRONMENT + """
assert config.CUDA_DEFAULT_PTX_CC == (9, 0) and config.CUDA_DEBUGINFO_DEFAULT and config.DISABLE_PERFORMANCE_WARNINGS
assert not config.CUDA_LOW_OCCUPANCY_WARNINGS and not config.CUDA_WARN_ON_IMPLICIT_COPY
assert "sm_90" in cuda.compile(lambda x: x, "(float32,)")[0]
assert "sm_80" in cuda.compile(lambda x: x, "(float32,)", cc=(8, 0))[0]
try:
    kernel[1, 1](np.zeros(2))
except ZeroDivisionError:
    pass
else:
    raise AssertionError("debug=True is not the default")
cuda.jit(lambda x: None, debug=False)[1, 1](np.zeros(2))
config.CUDA_DEFAULT_PTX_CC = (7, 5)
assert "sm_75" in cuda.compile_ptx(lambda x: None, "(float32,)")[0]
config.DISABLE_PERFORMANCE_WARNINGS = False
assert config.CUDA_LOW_OCCUPANCY_WARNINGS and config.CUDA_WARN_ON_IMPLICIT_COPY
try:
    config.CUDA_DEBUGINFO = True
except AttributeError as error:
    assert "CUDA_DEBUGINFO_DEFAULT" in str(error)
else:
    raise AssertionError("a setting that is not there was set")
""", **{prefix + "DEFAULT_PTX_CC": "9.0", prefix + "DEBUGINFO": "1", quiet: "1", "CUJIT_DEVICE": "cpu"})


def test_what_the_environment_does_not_say(run_python):
    run_python("""
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from cujit import config
assert config.CUDA_DEFAULT_PTX_CC == (7, 5) and not config.CUDA_DEBUGINFO_DEFAULT, config.CUDA_DEFAULT_PTX_CC
assert not config.DISABLE_PERFORMANCE_WARNINGS
assert ["'newest' is none" in str(w.message) for w in caught] == [True]
""", CUJIT_DEFAULT_PTX_CC="newest", CUJIT_DEVICE="cpu")
