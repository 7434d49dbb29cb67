"""What would read or write memory that is not there is an error of the program's, and the process lives."""
import threading

import numpy as np
import pytest

from cujit import _core, cuda, errors, types


def bare():
    return _core.DeviceArrayBase.__new__(_core.DeviceArrayBase)


@cuda.jit
def one(a):
    a[0] = 1


HOST = np.zeros(4)
UNMADE = {
    "to_device": lambda: _core.copy_to_device(bare(), HOST),
    "to_host": lambda: _core.copy_to_host(HOST, bare()),
    "on_device": lambda: _core.copy_on_device(bare(), bare(), 8),
    "fill": lambda: _core.fill(bare(), 1, 8),
    "launch": lambda: one[1, 1](bare()),
    "base": lambda: _core.DeviceArrayBase((0,), None, np.float64, 0, bare()),
}


@pytest.mark.parametrize("name", UNMADE)
def test_arrays_without_init(name):
    with pytest.raises((ValueError, errors.LaunchArgumentError), match="the device array has not been called"):
        UNMADE[name]()


NOWHERE = {
    "to_device": lambda: _core.copy_to_device(0, HOST),
    "to_host": lambda: _core.copy_to_host(HOST, 0),
    "on_device": lambda: _core.copy_on_device(0, cuda.to_device(HOST), 8),
    "from_device": lambda: _core.copy_on_device(cuda.to_device(HOST), 0, 8),
    "fill": lambda: _core.fill(0, 1, 8),
    "array": lambda: _core.DeviceArrayBase((4,), None, np.float64, 0, None),
}


@pytest.mark.parametrize("name", NOWHERE)
def test_address_0(name):
    with pytest.raises(ValueError, match="address"):
        NOWHERE[name]()


def test_copies_of_more_than_there_is():
    small = cuda.to_device(np.zeros(2))
    for copy in (
        lambda: _core.copy_to_device(small, np.zeros(1000)),
        lambda: _core.copy_to_host(np.zeros(1000), small),
        lambda: _core.copy_on_device(small, cuda.to_device(np.zeros(1000)), 8000),
        lambda: _core.fill(small, 0, 1 << 40),
    ):
        with pytest.raises(ValueError, match="the device array has 16"):
            copy()


def test_layouts_beyond_the_address_space():
    for shape, strides in (((1 << 31, 1 << 31), None), ((4, 4), (1 << 62, 1 << 62)), ((1 << 20,), (-(1 << 50),))):
        with pytest.raises(ValueError, match="address space"):
            _core.DeviceArrayBase(shape, strides, np.float64, 4096, None)


def test_an_index_that_empties_what_it_is_in():
    class Index:
        def __index__(self):
            items.clear()
            interface.clear()
            return 3

    class Foreign:
        @property
        def __cuda_array_interface__(self):
            return interface

    items, interface = [Index(), Index()], {}
    assert _core.DeviceArrayBase(items, None, np.float64, 4096, None).shape == (3, 3)
    shape = (Index(), Index())
    interface.update(version=3, shape=shape, typestr="<f8", data=(4096, False), strides=shape)
    assert cuda.as_cuda_array(Foreign()).shape == (3, 3) if cuda.get_current_device().kind != "cpu" else True


# --- tuples that double, or stand in one another ----------------------------------------------------------------------


def doubled(value, make):
    for _ in range(40):
        value = make(value)
    return value


def test_tuples_that_double():
    with pytest.raises(errors.TypingError, match="more than 8192 values"):
        doubled(types.float32, lambda each: types.Tuple((each, each)))
    value = doubled(1, lambda each: (each, each))
    with pytest.raises(errors.LaunchArgumentError, match="more than 8192 values"):
        one[1, 1](value)

    @cuda.jit
    def captures(x):
        x[0] = len(value)

    with pytest.raises(errors.UnsupportedError, match="'value' is a tuple of more than 8192 values"):
        captures[1, 1](HOST)


def test_tuples_of_many_values():
    many = tuple(range(100_000))

    @cuda.jit
    def captures(x):
        x[0] = many[int(x[1])]

    for call, said in ((lambda: one[1, 1](many), "argument 'a' of kernel 'one': a tuple of more than 8192 values"),
                       (lambda: captures[1, 1](HOST), "'many' is a tuple of more than 8192 values"),
                       (lambda: types.UniTuple(types.int64, 9000), "a tuple of more than 8192 values"),
                       (lambda: cuda.jit("void(UniTuple(int64, 9000))")(one.py_func), "number up to 8192"),
                       (lambda: cuda.jit("void(UniTuple(UniTuple(int64, 99), 99))")(one.py_func), "than 8192 values")):
        with pytest.raises(errors.CujitError, match=said):
            call()


def test_the_line_that_reads_a_large_tuple_is_named():
    table = types, tuple(range(9000))

    @cuda.jit
    def captures(x):
        y = x[0]
        x[0] = table[1][int(y)]

    with pytest.raises(errors.UnsupportedError) as caught:
        captures[1, 1](HOST)
    place, line, carets, message = str(caught.value).splitlines()
    assert place.endswith("in test_the_line_that_reads_a_large_tuple_is_named.<locals>.captures")
    assert line[carets.index("^"):][:carets.count("^")] == "table[1]"
    assert message.startswith("'table' is a tuple of more")


def test_signatures_of_large_tuples():
    cuda.jit("void(UniTuple(int64, 300))")(lambda t: None)


def test_deep_tuples_on_a_small_stack():
    failures = []

    def nest():
        for make, value in ((lambda each: types.Tuple((each,)), types.float32), (lambda each: (each,), 1)):
            try:
                for _ in range(8000):
                    value = make(value)
                one[1, 1](value)
            except (errors.TypingError, errors.LaunchArgumentError) as error:
                failures.append(str(error))

    before = threading.stack_size(512 << 10)
    try:
        thread = threading.Thread(target=nest)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert len(failures) == 2 and all("64 deep" in text for text in failures)


def test_first_compilation_on_a_tiny_stack():
    @cuda.jit
    def add(a):
        a[0] = a[1] + 2

    x, before = np.zeros(4), threading.stack_size(64 << 10)
    try:
        thread = threading.Thread(target=lambda: add[1, 1](x))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert x[0] == 2
