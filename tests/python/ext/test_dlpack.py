"""DLPack both ways on the CPU device, with NumPy and array-api-strict; tests/gpu has the libraries of GPUs. What NumPy
cannot be asked to give, such as a capsule with a wrong name, is made with the C API."""
import ctypes
import gc
import sys
import threading
import weakref

import numpy as np
import pytest

from cujit import cuda, errors, vectorize

pytestmark = pytest.mark.filterwarnings("ignore::cujit.errors.PerformanceWarning")

# What a NumPy before 2.1 gives does not say whether it may be written to, and is taken as read-only.
gives_version_1 = pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="NumPy of before DLPack 1")

DTYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]
PARTS = {
    "C": lambda a: a,
    "F": lambda a: a.copy(order="F"),
    "sliced": lambda a: a[1:, ::3],
    "one column": lambda a: a[:, 2:3],
    "no axes": lambda a: a[3, 4, ...],
    "nothing": lambda a: a[:0],
}


class Only:
    """Has DLPack's methods and nothing else, as they are called by the standard."""

    def __init__(self, array, device=None):
        self.array, self.device = array, device

    def __dlpack__(self, **keywords):
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.device or self.array.__dlpack_device__()


class Gives(Only):
    """Gives this in the place of a capsule."""

    def __dlpack__(self, **keywords):
        return self.array

    def __dlpack_device__(self):
        return self.device or (1, 0)


@pytest.fixture(autouse=True)
def _on_the_cpu_device():
    if cuda.get_current_device().kind != "cpu":
        pytest.skip("for the CPU device")


def matrix(dtype, part=PARTS["C"]):
    return part((np.arange(84) % 100).reshape(7, 12).astype(dtype))


def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2


# --- device arrays for others ----------------------------------------------------------------------------------------

@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_takes_a_device_array(dtype, part):
    host = matrix(dtype)
    ours = cuda.to_device(host)
    if part in (PARTS["C"], PARTS["sliced"], PARTS["one column"], PARTS["nothing"]):
        theirs = np.from_dlpack(part(ours))
    else:
        theirs = np.from_dlpack(cuda.to_device(np.array(part(host), order="K")))
    np.testing.assert_array_equal(theirs, part(host))
    assert theirs.dtype == dtype


@gives_version_1
def test_memory_is_shared():
    ours = cuda.to_device(np.arange(6.0))
    theirs = np.from_dlpack(ours[::2])
    assert theirs.ctypes.data == ours.pointer and theirs.strides == (16,)
    theirs = np.from_dlpack(cuda.from_dlpack(Only(theirs)))
    cuda.jit(double)[1, 8](ours)
    assert theirs.tolist() == [0, 4, 8]


@gives_version_1
def test_read_only_arrays():
    host = np.arange(3.0)
    host.flags.writeable = False
    ours = cuda.from_dlpack(Only(host))
    assert ours.read_only and not np.from_dlpack(ours).flags.writeable
    with pytest.raises(BufferError, match="before version 1"):
        ours.__dlpack__()
    with pytest.raises(errors.TypingError, match="read-only"):
        cuda.jit(double)[1, 1](Only(host))
    assert np.from_dlpack(cuda.to_device(host)).tolist() == [0, 1, 2]


def test_what_dlpack_has_no_dtype_for():
    for dtype in "M8[s]", "m8[ns]", [("a", "f4")], "S3":
        with pytest.raises(BufferError, match="no dtype for"):
            cuda.to_device(np.zeros(3, dtype)).__dlpack__()
    packed = cuda.to_device(np.zeros(3, [("a", "i1"), ("b", "f4")]))
    with pytest.raises(BufferError, match="5 bytes"):
        packed["b"].__dlpack__()


def test_what_a_consumer_may_ask():
    ours = cuda.to_device(np.arange(3.0))
    assert ours.__dlpack_device__() == (1, 0)
    assert '"dltensor"' in repr(ours.__dlpack__()) and '"dltensor"' in repr(ours.__dlpack__(max_version=(0, 8)))
    assert '"dltensor_versioned"' in repr(ours.__dlpack__(max_version=(1, 0)))
    newest = ours.__dlpack__(max_version=(2, 5), stream=None, dl_device=(1, 0), copy=False)
    assert '"dltensor_versioned"' in repr(newest)
    for keywords, error in (({"stream": 5}, ValueError), ({"stream": "s"}, ValueError), ({"stream": -2}, ValueError),
                            ({"dl_device": (2, 0)}, BufferError), ({"dl_device": (4, 1)}, BufferError)):
        with pytest.raises(error):
            ours.__dlpack__(**keywords)
    copy = cuda.from_dlpack(Gives(ours.__dlpack__(copy=True, max_version=(1, 0))))
    assert copy.pointer != ours.pointer and copy.copy_to_host().tolist() == [0, 1, 2]
    assert cuda.from_dlpack(ours, copy=True).pointer != ours.pointer
    assert cuda.from_dlpack(ours, device=(1, 0), copy=False).pointer == ours.pointer
    with pytest.raises(BufferError, match="not on"):
        cuda.from_dlpack(ours, device=(2, 0))


def test_capsules_give_the_array_back():
    for keywords in {}, {"max_version": (1, 0)}:
        ours = cuda.to_device(np.arange(3.0))
        gone = weakref.finalize(ours, lambda: None)
        capsule, dropped = ours.__dlpack__(**keywords), ours.__dlpack__(**keywords)
        del ours, dropped
        assert gone.alive
        taken = cuda.from_dlpack(Gives(capsule))
        del capsule
        assert gone.alive and taken.copy_to_host().tolist() == [0, 1, 2]
        del taken
        gc.collect()
        assert not gone.alive


def test_deleters_do_not_need_the_gil():
    """As a library may call them: from a thread of its own, and without the GIL."""
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    set_name = ctypes.pythonapi.PyCapsule_SetName
    set_name.argtypes = [ctypes.py_object, ctypes.c_char_p]
    for _ in range(20):
        ours = cuda.to_device(np.arange(3.0))
        gone = weakref.finalize(ours, lambda: None)
        capsule = ours.__dlpack__()
        managed = pointer_of(capsule, b"dltensor")
        set_name(capsule, USED)
        deleter = ctypes.cast(ctypes.c_void_p.from_address(managed + 56).value, ctypes.CFUNCTYPE(None, ctypes.c_void_p))
        del ours, capsule
        assert gone.alive
        thread = threading.Thread(target=deleter, args=(managed,))   # ctypes lets go of the GIL for the call
        thread.start()
        thread.join()
        assert not gone.alive


USED = b"used_dltensor"


# --- arrays of others -------------------------------------------------------------------------------------------------

@gives_version_1
@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_arguments_that_have_nothing_but_dlpack(dtype, part):
    host = matrix(dtype, part)
    out = np.zeros(host.shape, dtype)

    @cuda.jit
    def copy(x, out):
        if x.ndim == 2:
            i, j = cuda.grid(2)
            if i < x.shape[0] and j < x.shape[1]:
                out[i, j] = x[i, j]
        else:
            out[()] = x[()]

    copy[1, (8, 16)](Only(host), Only(out))
    np.testing.assert_array_equal(out, host)


@gives_version_1
def test_a_kernel_works_in_place():
    host = np.arange(10.0)
    kernel = cuda.jit(double)
    for argument in Only(host), cuda.InOut(Only(host)), (Only(host[::2]),):
        launched = cuda.jit(lambda pair: double_first(pair)) if isinstance(argument, tuple) else kernel
        launched[1, 16](argument)
    assert host.tolist() == [8 * i if i % 2 == 0 else 4 * i for i in range(10)]


@cuda.jit(device=True)
def double_first(pair):
    i = cuda.grid(1)
    if i < pair[0].size:
        pair[0][i] *= 2


@gives_version_1
def test_ufuncs_and_copies():
    host = np.arange(6.0)
    add = vectorize(lambda a, b: a + b)
    assert add(Only(host), Only(host)).tolist() == [0, 2, 4, 6, 8, 10]
    assert cuda.to_device(Only(host)).copy_to_host().tolist() == host.tolist()
    assert cuda.reduce(lambda a, b: a + b)(Only(host)) == 15
    ours = cuda.device_array_like(Only(host))
    ours.copy_to_device(Only(host))
    ours[:2] = Only(host[4:])
    assert ours.copy_to_host().tolist() == [4, 5, 2, 3, 4, 5]
    out = np.zeros(6)
    given = Only(out)
    assert add(host, 1.0, out=given) is given and out.tolist() == [1, 2, 3, 4, 5, 6]
    assert not cuda.is_cuda_array(Only(host))


def test_array_api_strict():
    strict = pytest.importorskip("array_api_strict")
    x = strict.asarray([1.0, 2.0])
    cuda.jit(double)[1, 2](x)
    assert [float(value) for value in x] == [2, 4]
    assert strict.from_dlpack(cuda.from_dlpack(x))[1] == 4


def test_producers_of_before_version_1():
    """They have no flag for read-only memory, which host memory is taken to be, as NumPy does."""

    class Old(Only):
        def __dlpack__(self, stream=None):
            return self.array.__dlpack__()

    host = np.arange(3.0)
    assert cuda.from_dlpack(Old(host)).read_only
    assert vectorize(lambda a: a + 1)(Old(host)).tolist() == [1, 2, 3]


@gives_version_1
def test_capsules_are_used_once():
    giver = Gives(np.arange(3.0).__dlpack__())
    cuda.jit(double)[1, 3](Gives(np.arange(3.0).__dlpack__(**NEW)))
    assert cuda.from_dlpack(giver).copy_to_host().tolist() == [0, 1, 2]
    for use in cuda.from_dlpack, cuda.jit(double)[1, 3], lambda x: cuda.to_device(x):
        with pytest.raises((TypeError, ValueError), match="taken over already"):
            use(giver)


NEW = {"max_version": (1, 0)} if np.lib.NumpyVersion(np.__version__) >= "2.1.0" else {}


def capsule_of(name, pointer=1):
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return make(pointer, name, None)


NAME = b"somebody else's"


@pytest.mark.parametrize("what, message", [
    (5, "of type 'int', not a capsule"), (None, "not a capsule"), (b"dltensor", "not a capsule"),
    (capsule_of(NAME), "called 'somebody else's' is none of DLPack's"), (capsule_of(None), "none of DLPack's"),
], ids=["int", "None", "bytes", "name", "no name"])
def test_what_is_no_capsule(what, message):
    for use in cuda.from_dlpack, cuda.jit(double)[1, 3], cuda.to_device:
        with pytest.raises((TypeError, ValueError), match=message):
            use(Gives(what))


class Tensor(ctypes.Structure):
    """DLManagedTensorVersioned with what a hostile producer may write there."""
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("data", ctypes.c_void_p),
                ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


VERSIONED = b"dltensor_versioned"
ELEMENTS = (ctypes.c_double * 4)(1, 2, 3, 4)


def tensor(shape=(4,), strides=(1,), **fields):
    made = Tensor(major=1, minor=1, data=ctypes.addressof(ELEMENTS), ndim=len(shape), code=2, bits=64, lanes=1)
    made.device[0] = 1
    made.shape = (ctypes.c_int64 * max(len(shape), 1))(*shape)
    if strides is not None:
        made.strides = (ctypes.c_int64 * max(len(strides), 1))(*strides)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


HOSTILE = {
    "version": (tensor(major=2), "version 2.1 of DLPack"),
    "data": (tensor(data=0), "address is 0"),
    "ndim": (tensor(ndim=-1), "not -1"),
    "many axes": (tensor(ndim=1 << 30), "dimensions"),
    "shape": (tensor(shape=(-4,)), "cannot have -4 items"),
    "huge": (tensor(shape=(1 << 60,)), "cannot have"),
    "huge product": (tensor(shape=(1 << 40, 1 << 40), strides=None), "larger than the address space"),
    "strides": (tensor(shape=(1 << 40,), strides=(1 << 40,)), "address space"),
    "dtype": (tensor(code=200), "dtype unknown of 64 bits"),
    "float8": (tensor(code=10, bits=8), "dtype float8_e4m3fn"),
    "bits": (tensor(bits=7), "a float of 7 bits"),
    "lanes": (tensor(lanes=4), "vectors of 4 lanes"),
    "device": (tensor(device=(ctypes.c_int32 * 2)(7, 0)), "another kind of device"),
    "no shape": (tensor(shape=(4,), **{"strides": None}), None),
}
HOSTILE["no shape"][0].shape = ctypes.POINTER(ctypes.c_int64)()
HOSTILE["no shape"] = (HOSTILE["no shape"][0], "without a shape")


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_tensors(name):
    made, message = HOSTILE[name]
    for use in cuda.from_dlpack, cuda.jit(double)[1, 3], cuda.to_device:
        with pytest.raises((TypeError, ValueError, BufferError), match=message):
            use(Gives(capsule_of(VERSIONED, ctypes.addressof(made))))


def test_a_tensor_without_a_deleter_and_without_strides():
    made = tensor(strides=None, shape=(2, 2), byte_offset=0)
    ours = cuda.from_dlpack(Gives(capsule_of(VERSIONED, ctypes.addressof(made))))
    assert ours.copy_to_host().tolist() == [[1, 2], [3, 4]]
    del ours  # before the tensor, which it asks for a deleter


def test_each_deleter_runs_once():
    for use in (cuda.from_dlpack, cuda.jit(lambda x: None)[1, 1], cuda.to_device,
                lambda x: cuda.jit(double)[1, 1](x, 5), failing(cuda.from_dlpack)):
        calls = []
        deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(calls.append)
        made = tensor(deleter=ctypes.cast(deleter, ctypes.c_void_p).value)
        giver = Gives(owning_capsule(made, deleter))
        try:
            use(giver)
        except TypeError:
            pass
        del giver
        gc.collect()
        assert calls == [ctypes.addressof(made)]


def failing(use):
    def call(giver):
        giver.device = (2, 0)
        try:
            use(giver)
        except BufferError:
            pass
    return call


DESTRUCTOR = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
_kept = []


def owning_capsule(made, deleter):
    """A capsule as libraries make them: it calls the deleter where nobody has taken the tensor over."""
    is_valid = ctypes.pythonapi.PyCapsule_IsValid
    is_valid.argtypes = [ctypes.c_void_p, ctypes.c_char_p]

    def drop(capsule):
        if is_valid(capsule, VERSIONED):
            deleter(ctypes.addressof(made))

    destructor = DESTRUCTOR(drop)
    _kept.extend((destructor, made))
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return make(ctypes.addressof(made), VERSIONED, ctypes.cast(destructor, ctypes.c_void_p))


@pytest.mark.parametrize("device", [5, (1,), ("cpu", 0), None, (1, 0, 0)])
def test_hostile_devices(device):
    class Odd(Gives):
        def __dlpack_device__(self):
            return device

    with pytest.raises(TypeError, match="not a pair of integers"):
        cuda.jit(double)[1, 1](Odd(np.arange(3.0).__dlpack__()))


def test_methods_that_raise():
    class Raises(Only):
        def __dlpack__(self, **keywords):
            raise self.array

    for error in BufferError("not now"), ValueError("never"):
        with pytest.raises(errors.LaunchArgumentError, match=f"argument 'x' of kernel 'double': {error}"):
            cuda.jit(double)[1, 1](Raises(error, (1, 0)))
    for error in RuntimeError, KeyboardInterrupt, MemoryError:
        with pytest.raises(error):
            cuda.jit(double)[1, 1](Raises(error(), (1, 0)))
    with pytest.raises(TypeError, match="no __dlpack__"):
        cuda.from_dlpack(3)


def test_memory_of_a_gpu_is_out_of_reach():
    array = Only(np.arange(3.0), (2, 0))
    with pytest.raises(BufferError, match="memory of a GPU"):
        cuda.from_dlpack(array)


# --- the table of a type ----------------------------------------------------------------------------------------------

class Table(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("older", ctypes.c_void_p),
                *((name, ctypes.c_void_p) for name in ("allocate", "managed", "to_object", "tensor", "stream"))]


EXCHANGE = b"dlpack_exchange_api"
FILL = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p)
STREAM = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.c_void_p)


@STREAM
def no_stream(kind, ordinal, out):
    return 0


def typed(fill_tensor=None, fill_managed=None, **fields):
    """A class whose table has these functions."""
    table = Table(major=1, minor=1, stream=ctypes.cast(no_stream, ctypes.c_void_p))
    for name, function in (("tensor", fill_tensor), ("managed", fill_managed)):
        if function:
            made = FILL(function)
            _kept.append(made)
            setattr(table, name, ctypes.cast(made, ctypes.c_void_p))
    for name, value in fields.items():
        setattr(table, name, value)
    _kept.append(table)
    return type("Typed", (), {"__dlpack_c_exchange_api__": capsule_of(EXCHANGE, ctypes.addressof(table))})


def test_the_table_is_asked_instead_of_attributes():
    made = tensor()
    calls = []

    def fill(value, out):
        calls.append(value)
        ctypes.memmove(out, ctypes.addressof(made) + Tensor.data.offset, ctypes.sizeof(Tensor) - Tensor.data.offset)
        return 0

    value = typed(fill_tensor=fill)()
    kernel = cuda.jit(double)
    for factor in 2, 4:
        kernel[1, 4](value)
        assert list(ELEMENTS) == [factor * i for i in (1, 2, 3, 4)]
    assert calls and all(each is value for each in calls)
    ELEMENTS[:] = 1, 2, 3, 4


def test_a_table_that_gives_managed_tensors_alone():
    calls = []
    deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(calls.append)
    made = tensor(deleter=ctypes.cast(deleter, ctypes.c_void_p).value)

    def fill(value, out):
        ctypes.c_void_p.from_address(out).value = ctypes.addressof(made)
        calls.append("made")
        return 0

    cuda.jit(lambda x: None)[1, 4](typed(fill_managed=fill)())
    assert calls and calls.count("made") == calls.count(ctypes.addressof(made))


@pytest.mark.parametrize("fields", [{"major": 2}, {"stream": None}, {}], ids=["version", "incomplete", "empty"])
def test_tables_that_cannot_be_used_are_none(fields):
    with pytest.raises(TypeError, match="cannot take a value of type 'Typed'"):
        cuda.jit(double)[1, 1](typed(**fields)())


def test_an_older_table_behind_a_newer_one():
    made = tensor()

    def fill(value, out):
        ctypes.memmove(out, ctypes.addressof(made) + Tensor.data.offset, ctypes.sizeof(Tensor) - Tensor.data.offset)
        return 0

    older = Table(major=1, minor=1, stream=ctypes.cast(no_stream, ctypes.c_void_p))
    function = FILL(fill)
    older.tensor = ctypes.cast(function, ctypes.c_void_p)
    _kept.extend((older, function))
    cuda.jit(lambda x: None)[1, 1](typed(major=2, older=ctypes.addressof(older))())


def test_a_table_that_fails():
    def fill(value, out):
        raise AssertionError("not reached: PYFUNCTYPE cannot raise")

    refused = type("Typed", (), {"__dlpack_c_exchange_api__": "no capsule"})
    with pytest.raises(TypeError, match="cannot take a value of type 'Typed'"):
        cuda.jit(double)[1, 1](refused())


@gives_version_1
@pytest.mark.skipif(sys.implementation.name != "cpython", reason="counts references")
def test_nothing_leaks():
    host = np.arange(3.0)
    value, kernel = Only(host), cuda.jit(double)
    kernel[1, 3](value)
    before = sys.getrefcount(host), sys.getrefcount(value)
    for _ in range(50):
        kernel[1, 3](value)
        cuda.from_dlpack(value)
        with pytest.raises(TypeError):
            kernel[1, 3](value, 5)
    gc.collect()
    assert (sys.getrefcount(host), sys.getrefcount(value)) == before
