"""Threads that do the same things at the same time: with a GIL, which changes hands every few microseconds here, and on
Pythons without one."""
import itertools
import pickle
import subprocess
import sys
import sysconfig
import threading
import types as python_types

import numpy as np
import pytest

from cujit import cuda, vectorize

THREADS = 8


@pytest.fixture(autouse=True)
def short_turns():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def in_threads(work, count=THREADS):
    """work(k) in each of `count` threads, begun together; their results."""
    begin, results, failures = threading.Barrier(count), [None] * count, []

    def run(k):
        try:
            begin.wait()
            results[k] = work(k)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(k,), daemon=True) for k in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()
    if failures:
        raise failures[0]
    return results


def fresh_kernel(**options):
    @cuda.jit(**options)
    def kernel(x, factor, offset):
        i = cuda.grid(1)
        if i < x.shape[0]:
            x[i] = x[i] * factor + offset

    return kernel


DTYPES = [np.float32, np.float64, np.int32, np.int64, np.complex64, np.uint8]


# --- first calls -----------------------------------------------------------------------------------------------------

FIRST = """
import sys, threading
import numpy as np
from cujit import cuda

begin, failures = threading.Barrier(8), []

@cuda.jit
def kernel(x):
    i = cuda.grid(1)
    x[i] = np.sqrt(x[i]) + max(abs(x[i]), 1)

def run():
    try:
        begin.wait()
        assert cuda.get_current_device() is cuda.gpus[0]
        x = np.full(32, 4.0)
        kernel[1, 32](x)
        assert (x == 6).all()
    except BaseException as failure:
        failures.append(failure)

threads = [threading.Thread(target=run) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert not failures, failures
assert len(kernel.signatures) == 1
print("done", getattr(sys, "_is_gil_enabled", lambda: True)())
"""


def test_the_first_call_of_a_process():
    done = subprocess.run([sys.executable, "-W", "error::RuntimeWarning", "-c", FIRST], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.split()[0] == "done"


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python has a GIL")
def test_the_extension_needs_no_gil():
    code = f"import sys; sys.path[:0] = {sys.path!r}; import cujit.cuda; print(sys._is_gil_enabled())"
    done = subprocess.run([sys.executable, "-W", "error", "-E", "-c", code], capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr


def test_first_calls_of_one_kernel_compile_once():
    for _ in range(5):
        kernel = fresh_kernel()

        def work(k, kernel=kernel):
            x = np.arange(100, dtype=np.float32)
            kernel[1, 128](x, 2, k)
            assert np.array_equal(x, np.arange(100, dtype=np.float32) * 2 + k)

        in_threads(work)
        assert len(kernel.signatures) == 1


def test_one_kernel_with_other_types_in_each_thread():
    kernel = fresh_kernel()

    def work(k):
        for turn in range(60):
            dtype = DTYPES[(k + turn) % len(DTYPES)]
            x = np.arange(20, dtype=dtype)
            factor, offset = [(2, 1), (2, dtype(1)), (dtype(2), 1)][turn % 3]
            kernel[1 + turn % 2, 32](x, factor, offset)
            assert np.array_equal(x, np.arange(20, dtype=dtype) * dtype(2) + dtype(1))

    in_threads(work)
    assert len(kernel.signatures) == 3 * len(DTYPES) - 2   # np.int64(1) and 1 are of one type


def test_kernels_that_come_and_go():
    table = np.arange(10.0)
    on_device = cuda.to_device(table)
    namespace = python_types.SimpleNamespace(scale=2.0, names={"a": 1, "b": 2})

    def work(k):
        for turn in range(6):
            @cuda.jit
            def kernel(x, turn=turn):
                i = cuda.grid(1)
                if i < x.size:
                    x[i] = table[i] + on_device[i] * namespace.scale + namespace.names["b"] + turn

            namespace.names[f"k{k}{turn}"] = turn   # others read the dict
            setattr(namespace, f"k{k}{turn}", turn)
            x = np.zeros(10)
            kernel[1, 32](x)
            assert np.array_equal(x, table * 3 + 2 + turn)

    in_threads(work)


def test_types_of_new_dtypes():
    for turn in range(20):
        dtypes = [np.dtype([(f"a{turn}", "f4"), ("b", [("c", "i8", (2,))])]) for _ in range(THREADS)]
        made = in_threads(lambda k, dtypes=dtypes: cuda.to_device(np.zeros(3, dtypes[k])).dtype)
        assert set(made) == {dtypes[0]}


def test_specialized_kernels_are_one_object():
    kernel, x = fresh_kernel(), np.zeros(3)
    assert len({id(made) for made in in_threads(lambda k: kernel.specialize(x, 1, 1))}) == 1


# --- launches --------------------------------------------------------------------------------------------------------

def test_other_configurations_in_each_thread():
    @cuda.jit
    def kernel(out):
        if cuda.grid(1) == 0:
            out[0] = cuda.gridDim.x * 1000 + cuda.blockDim.x

    def work(k):
        out = np.zeros(1, np.int64)
        for turn in range(300):
            grid, block = 1 + (k + turn) % 3, 32 * (1 + k % 4)
            kernel[grid, block](out)
            assert out[0] == grid * 1000 + block

    in_threads(work)


def test_callbacks_before_a_launch():
    kernel, lock, calls = fresh_kernel(), threading.Lock(), itertools.count()
    launcher = kernel[1, 32]

    def called(kernel, launcher):
        with lock:
            next(calls)

    def work(k):
        launcher.pre_launch_callbacks.append(called)
        for _ in range(20):
            launcher(np.zeros(3), 1, 1)
        return id(launcher.pre_launch_callbacks)

    assert len(set(in_threads(work))) == 1
    assert len(launcher.pre_launch_callbacks) == THREADS
    assert next(calls) >= THREADS * 20


def test_freezing_while_others_launch():
    kernel = fresh_kernel()
    kernel[1, 32](np.zeros(3), 1.0, 1.0)

    def work(k):
        for turn in range(50):
            if k == 0 and turn == 20:
                kernel.disable_compile()
            x = np.zeros(3)
            kernel[1, 32](x, 1.0, 1.0)
            assert (x == 1).all()

    in_threads(work)
    assert kernel.is_frozen


def test_exceptions_of_kernels_that_come_and_go():
    def work(k):
        for turn in range(5):
            @cuda.jit(debug=True, opt=False)
            def kernel(x, number):
                if x[0] == 0:
                    raise ValueError("of thread", number)

            with pytest.raises(ValueError, match="of thread") as raised:
                kernel[1, 1](np.zeros(1), 100 * k + turn)
            assert raised.value.args[1] == 100 * k + turn

    in_threads(work)


# --- memory ----------------------------------------------------------------------------------------------------------

def test_memory_that_is_freed_later():
    def work(k):
        for turn in range(40):
            arrays = [cuda.to_device(np.full(100, k)) for _ in range(3)]
            if (k + turn) % 3 == 0:
                with cuda.defer_cleanup():
                    del arrays[1:]
                    cuda.device_array(10)
            arrays[0][0] = turn
            assert arrays[0].copy_to_host()[0] == turn

    in_threads(work)
    context = cuda.current_context()
    assert not context.deallocations.is_disabled
    assert len(context.deallocations) == 0


def test_an_array_that_many_use():
    array = cuda.to_device(np.zeros(THREADS * 4, np.int64))
    kernel = fresh_kernel()

    def work(k):
        for _ in range(40):
            own = array[4 * k:4 * k + 4]
            kernel[1, 4](own, 1, 1)
            assert array.reshape(THREADS, 4).__cuda_array_interface__["shape"] == (THREADS, 4)

    in_threads(work)
    assert np.array_equal(array.copy_to_host(), np.full(THREADS * 4, 40))


# --- ufuncs ----------------------------------------------------------------------------------------------------------

def test_ufuncs():
    @vectorize
    def combine(x, y):
        return x * 2 + y

    def work(k):
        for turn in range(25):
            dtype = DTYPES[(k + turn) % 4]
            x = np.arange(50, dtype=dtype)
            want, on_device = x * dtype(2) + dtype(3), cuda.to_device(x)
            result = combine(x, dtype(3))
            assert np.array_equal(result, want)
            out = cuda.device_array(50, result.dtype)
            assert np.array_equal(combine(on_device, dtype(3), out=out).copy_to_host(), want)
            assert np.array_equal(combine(on_device, on_device).copy_to_host(), x * dtype(3))
            if k == 0 and turn % 5 == 0:
                combine.max_blocksize = 64 + turn
            assert combine.types
        assert combine.reduce(np.ones(5)) == 31

    in_threads(work)
    assert combine.ntypes >= 4


def test_arithmetic_of_device_arrays():
    """All threads share the compiled ufuncs; some of their calls raise."""
    def work(k):
        for turn in range(10):
            dtype = DTYPES[(k + turn) % 4]
            x = np.arange(1, 51, dtype=dtype)
            d = cuda.to_device(x)
            assert np.array_equal((d * d + 2).copy_to_host(), x * x + dtype(2))
            assert float(d.sum()) == x.sum() and d.max().item() == 50
            d += d
            assert np.array_equal(np.maximum(d, 20).copy_to_host(), np.maximum(x + x, 20))
            with pytest.raises(TypeError):
                d + "text"
            with pytest.raises(ValueError):
                d + d[:7]

    in_threads(work)


def test_a_reduction():
    total = cuda.reduce(lambda a, b: a + b)

    def work(k):
        for turn in range(10):
            x = np.arange(1000, dtype=DTYPES[(k + turn) % 4])
            assert total(x) == x.sum()

    in_threads(work)


# --- the rest --------------------------------------------------------------------------------------------------------

def test_streams_and_events():
    kernel, calls = fresh_kernel(), []

    def work(k):
        for _ in range(20):
            stream, start, end = cuda.stream(), cuda.event(), cuda.event()
            x = cuda.to_device(np.zeros(8), stream=stream)
            start.record(stream)
            kernel[1, 8, stream](x, 1, k)
            end.record(stream)
            stream.add_callback(lambda stream, status, arg: calls.append(arg), k)
            end.synchronize()
            stream.synchronize()
            assert (x.copy_to_host(stream=stream) == k).all()

    in_threads(work)
    end = threading.Event()
    cuda.stream().add_callback(lambda *_: end.set())
    assert end.wait(30)
    assert sorted(calls) == sorted(list(range(THREADS)) * 20)


def test_pickling():
    @cuda.jit(device=True)
    def twice(x):
        return 2 * x

    @cuda.jit
    def kernel(x):
        x[cuda.grid(1)] = twice(x[cuda.grid(1)])

    @vectorize
    def ufunc(x):
        return x + 1

    kernel.__module__ = ufunc.__module__ = twice.__module__ = "__main__"

    def work(k):
        for _ in range(10):
            x = np.full(4, float(k))
            pickle.loads(pickle.dumps(kernel))[1, 4](x)
            assert (x == 2 * k).all()
            assert (pickle.loads(pickle.dumps(ufunc))(x) == 2 * k + 1).all()

    in_threads(work, 4)


def test_switching_devices():
    kernel = fresh_kernel()

    def work(k):
        for turn in range(30):
            with cuda.gpus[0] as device:
                assert cuda.get_current_device() is device
                x = cuda.to_device(np.zeros(4))
                kernel[1, 4](x, 1, turn)
                cuda.select_device(0)
            cuda.synchronize()
            if turn % 10 == 9:
                cuda.close()
            assert (x.copy_to_host() == turn).all()
        return cuda.get_current_device()

    assert len({id(device) for device in in_threads(work)}) == 1
