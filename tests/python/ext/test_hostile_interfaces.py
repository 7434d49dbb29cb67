"""__cuda_array_interface__ as nobody should write it: each is an error of the program's, and the process lives."""
import numpy as np
import pytest

from cujit import cuda, errors, vectorize

HOST = np.arange(4.0)
GOOD = {"version": 3, "shape": (4,), "typestr": "<f8", "data": (HOST.ctypes.data, False), "strides": None}

HOSTILE = {
    "no dict": (5, "not a dict"), "None": (None, "not a dict"), "list": ([], "not a dict"), "empty": ({}, "typestr"),
    "version 99": ({"version": 99}, "version 99"), "version text": ({"version": "3"}, "version '3'"),
    "version -1": ({"version": -1}, "version -1"), "version huge": ({"version": 1 << 80}, "version"),
    "no shape": ({"shape": ...}, "shape"), "shape list": ({"shape": [4]}, "'shape'"),
    "shape int": ({"shape": 4}, "shape"),
    "shape text": ({"shape": ("4",)}, "integer"), "shape float": ({"shape": (4.0,)}, "integer"),
    "negative": ({"shape": (-4,)}, "cannot have -4 items"), "huge": ({"shape": (1 << 62,)}, "cannot have"),
    "too huge": ({"shape": (1 << 80,)}, "."),
    "product": ({"shape": (1 << 40, 1 << 40)}, "larger than the address space"),
    "many axes": ({"shape": (1,) * 40}, "at most"),
    "strides text": ({"strides": "8"}, "'strides'"), "strides many": ({"strides": (8, 8)}, "strides"),
    "strides huge": ({"shape": (1 << 40,), "strides": (1 << 40,)}, "address space"),
    "strides negative": ({"shape": (1 << 40,), "strides": (-(1 << 40),)}, "address space"),
    "strides float": ({"strides": (8.0,)}, "integer"),
    "no typestr": ({"typestr": ...}, "typestr"), "typestr int": ({"typestr": 5}, "."),
    "object": ({"typestr": "|O8"}, "objects"),
    "typestr nonsense": ({"typestr": "nonsense"}, "."), "typestr None": ({"typestr": None}, "."),
    "swapped": ({"typestr": ">f8"}, "order"), "void": ({"typestr": "|V2"}, "V2"), "f16": ({"typestr": "<f16"}, "."),
    "bytes": ({"typestr": b"\xff"}, "."), "surrogate": ({"typestr": "\ud800"}, "."),
    "descr": ({"typestr": "|V8", "descr": [1, 2, 3]}, "."),
    "no data": ({"data": ...}, "'data'"), "data int": ({"data": 5}, "'data'"),
    "data one": ({"data": (5,)}, "'data'"),
    "pointer text": ({"data": ("5", False)}, "'str', not an int"),
    "pointer float": ({"data": (5.0, False)}, "not an int"),
    "pointer 0": ({"data": (0, False)}, "address is 0"), "pointer None": ({"data": (None, False)}, "address is 0"),
    "pointer negative": ({"data": (-8, False)}, "."), "pointer huge": ({"data": (1 << 70, False)}, "."),
    "pointer last": ({"data": ((1 << 64) - 8, False)}, "address space"),
    "pointer nowhere": ({"data": (0x1234, False)}, "memory of a GPU"),
    "stream": ({"stream": "s"}, "'stream'"), "mask": ({"mask": HOST}, "masked"),
}


class Foreign:
    def __init__(self, interface):
        if isinstance(interface, dict) and interface:
            interface = {key: value for key, value in {**GOOD, **interface}.items() if value is not ...}
        self.__cuda_array_interface__ = interface


@cuda.jit
def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2


@pytest.fixture(autouse=True)
def _on_the_cpu_device():
    if cuda.get_current_device().kind != "cpu":
        pytest.skip("the address is the host's")


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_interfaces(name):
    interface, message = HOSTILE[name]
    for kernel in double, cuda.jit(double.py_func):
        with pytest.raises((TypeError, ValueError, OverflowError), match=message) as caught:
            kernel[1, 4](Foreign(interface))
        assert isinstance(caught.value, errors.LaunchArgumentError)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_interfaces_elsewhere(name):
    """Where NumPy reads them, NumPy's words will do."""
    if name in ("swapped", "shape list", "void", "f16", "pointer nowhere", "huge", "version 99", "version text",
                "version -1", "version huge", "stream"):
        pytest.skip("not looked at, or a dtype that copies can use")
    for use in vectorize(lambda a: a + 1), cuda.as_cuda_array:
        with pytest.raises((TypeError, ValueError, OverflowError, KeyError, NotImplementedError, AttributeError)):
            use(Foreign(HOSTILE[name][0]))


def test_the_good_one():
    double[1, 4](Foreign(dict(GOOD)))
    assert HOST.tolist() == [0, 2, 4, 6]
    double[1, 4](Foreign({**GOOD, "version": 0, "stream": None, "mask": None, "shape": (np.int64(4),),
                          "strides": (8,)}))
    assert HOST.tolist() == [0, 4, 8, 12]
    double[1, 4](Foreign({**GOOD, "shape": (0,), "data": (0, False)}))
    HOST[:] = range(4)


@pytest.mark.parametrize("error", [RuntimeError("gone"), ValueError("gone"), KeyboardInterrupt("gone")])
def test_properties_that_raise(error):
    class Raises:
        @property
        def __cuda_array_interface__(self):
            raise error

    with pytest.raises((type(error), errors.LaunchArgumentError), match="gone"):
        double[1, 4](Raises())


def test_a_dict_that_changes_its_mind():
    class Sly(dict):
        def __getitem__(self, key):
            raise AssertionError

        get = items = __getitem__

    double[1, 4](Foreign(Sly(GOOD)))
    HOST[:] = range(4)
