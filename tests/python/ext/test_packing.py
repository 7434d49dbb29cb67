"""What a launch takes over of the one before: arguments are packed for the types of the last launch, where they fit."""
import collections
import ctypes
import dataclasses
import gc
import itertools
import threading
import weakref

import numpy as np
import pytest

from cujit import cuda, errors
from cujit.cuda.devicearray import DeviceNDArray
from cujit.extending import typeof

Point = collections.namedtuple("Point", "x y")
RECORD = np.dtype([("x", np.int32), ("y", np.int32)])


@cuda.jit
def weigh(p, out):
    out[0] = p.x * 10 + p.y


@pytest.fixture
def out():
    return cuda.to_device(np.zeros(1))


def value(kernel, *args):
    kernel[1, 1](*args)
    return args[-1].copy_to_host()[0]


# --- records ---------------------------------------------------------------------------------------------------------
def test_fields_that_are_renamed(out):
    """The dtype stays one object."""
    points = np.zeros(1, [("x", np.int32), ("y", np.int32)])
    points[0] = 1, 2
    assert value(weigh, points[0], out) == 12
    points.dtype.names = "y", "x"
    assert value(weigh, points[0], out) == 21
    points.dtype.names = "x", "y"
    assert value(weigh, points[0], out) == 12


def test_fields_that_are_renamed_often(out):
    """A dict of dtypes finds the object itself wherever it comes by it, whatever it was when it was put there."""
    kernel = cuda.jit(weigh.py_func)
    points = np.zeros(1, [(name, np.int32) for name in "xyzw"])
    points[0] = 1, 2, 3, 4
    for names in itertools.permutations("xyzw"):
        points.dtype.names = names
        assert value(kernel, points[0], out) == 10 * (names.index("x") + 1) + names.index("y") + 1


@cuda.jit
def weigh_inside(r, out):
    out[0] = r.p.x * 10 + r.p.y


@cuda.jit
def weigh_in_array(r, out):
    out[0] = r.p[1].x * 10 + r.p[1].y


@cuda.jit
def weigh_deep_inside(r, out):
    out[0] = r.o.p.x * 10 + r.o.p.y


@pytest.mark.parametrize("kernel, wrap", [
    (weigh_inside, lambda inner: [("p", inner)]), (weigh_in_array, lambda inner: [("p", inner, 2)]),
    (weigh_deep_inside, lambda inner: [("q", np.int32), ("o", [("p", inner)])])])
def test_fields_of_a_record_in_a_field_that_are_renamed(kernel, wrap, out):
    """NumPy keeps the hash of the outer dtype."""
    inner = np.dtype([("x", np.int32), ("y", np.int32)])
    records = np.zeros(1, wrap(inner))
    other = np.zeros(1, wrap(np.dtype([("x", np.int32), ("y", np.int32)])))
    for array in (records, other):
        held = array["o"]["p"] if "o" in array.dtype.names else array["p"]
        held["x"], held["y"] = 1, 2
    held = records.dtype["o"]["p"] if "o" in records.dtype.names else records.dtype["p"]
    held = held.base
    for names, expected in [("xy", 12), ("yx", 21), ("xy", 12), ("yx", 21)]:
        held.names = tuple(names)
        for _ in range(2):
            assert value(kernel, records[0], out) == expected
            assert value(kernel, other[0], out) == 12


def test_records_of_one_size_in_turn(out):
    """More dtypes than there are places for those that were seen last."""
    dtypes = [np.dtype([(name, np.int32) for name in names]) for names in itertools.permutations(["x", "y", "z"])]
    dtypes += [np.dtype({"names": ["x", "y"], "formats": [kind, kind], "offsets": [0, 4 + 4 * i], "itemsize": 164})
               for i in range(40) for kind in (np.int32, np.float32)]
    records = [np.zeros(1, dtype) for dtype in dtypes]
    for record in records:
        record["x"], record["y"] = 3, 4
    kernel = cuda.jit(weigh.py_func)
    for record in records + records[::-1] + records:
        assert value(kernel, record[0], out) == 34


def test_equal_dtypes_that_come_and_go(out):
    for i in range(100):
        names = "xy" if i % 3 else "yx"
        record = np.zeros(1, np.dtype([(name, np.int32) for name in names]))
        record["x"], record["y"] = i, 7
        assert value(weigh, record[0], out) == 10 * i + 7


def test_records_that_are_read_only_or_have_gaps(out):
    plain = np.array([(1, 2), (3, 4)], RECORD)
    read_only = plain.copy()
    read_only.flags.writeable = False
    wide = np.zeros(2, [("x", np.int32), ("gap", np.int64), ("y", np.int32)])
    wide["x"], wide["y"] = 5, 6
    for record, expected in [(plain[1], 34), (read_only[0], 12), (plain[0], 12), (wide[["x", "y"]][1], 56),
                             (wide[1], 56), (plain[::-1][0], 34)]:
        assert value(weigh, record, out) == expected


def test_a_record_is_read_at_each_launch(out):
    points = np.array([(1, 2)], RECORD)
    record = points[0]
    assert value(weigh, record, out) == 12
    points["y"] = 9
    assert value(weigh, record, out) == 19


@cuda.jit
def weigh_first(points, out):
    out[0] = points[0].x * 10 + points[0].y


def test_device_arrays_of_records(out):
    other = np.dtype([("y", np.int32), ("x", np.int32)])
    for _ in range(2):
        assert value(weigh_first, cuda.to_device(np.array([(1, 2)], RECORD)), out) == 12
        assert value(weigh_first, cuda.to_device(np.array([(1, 2)], other)), out) == 21


def test_threads_with_records_of_their_own():
    kernel, failures = cuda.jit(weigh.py_func), []

    def launch(number):
        out = cuda.to_device(np.zeros(1))
        names = [f"f{number}", "x", "y"]
        for i in range(60):
            record = np.zeros(1, np.dtype([(name, np.int32) for name in names]) if i % 5 == 0 else RECORD)
            record["x"], record["y"] = number, i
            if value(kernel, record[0], out) != 10 * number + i:
                failures.append((number, i))

    threads = [threading.Thread(target=launch, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


# --- tuples ----------------------------------------------------------------------------------------------------------
class Backwards(Point):
    def __getitem__(self, index):
        raise AssertionError("what a tuple holds is asked of no method")

    __iter__ = __getitem__


def test_named_tuples_in_turn(out):
    swapped = collections.namedtuple("Swapped", "y x")
    namesake = collections.namedtuple("Point", "x y")
    kernel = cuda.jit(weigh.py_func)
    for _ in range(2):
        for point, expected in [(Point(1, 2), 12), (swapped(1, 2), 21), (namesake(3, 4), 34), (Point(1.5, 2), 17),
                                (Backwards(1, 2), 12), (Point(True, 2), 12), (Point(np.float32(1), np.int8(2)), 12),
                                (Point(1 << 40, 2), (10 << 40) + 2), (Point(-1, -(1 << 62)), -10 - (1 << 62))]:
            assert value(kernel, point, out) == expected


def test_named_tuples_of_one_name_with_other_fields(out):
    swapped = collections.namedtuple("Point", "y x")
    other = collections.namedtuple("Point", "u v")
    longer = collections.namedtuple("Point", "x y z")
    for order in [(Point, swapped), (swapped, Point), (longer, swapped, Point)]:
        kernel = cuda.jit(weigh.py_func)
        for kind in order * 2:
            point = kind(*range(1, 1 + len(kind._fields)))
            assert value(kernel, point, out) == point.x * 10 + point.y
        with pytest.raises(errors.TypingError, match="no attribute 'x'"):
            kernel[1, 1](other(1, 2), out)


@cuda.jit
def weigh_by_method(p, out):
    out[0] = p.weight()


def test_named_tuples_of_one_name_with_and_without_methods(out):
    class Heavy(Point):
        __slots__ = ()

        def weight(self):
            return self.x * 100 + self.y

    class Light(Point):
        __slots__ = ()

        def weight(self):
            return self.x + self.y

    Heavy.__name__ = Light.__name__ = "Point"
    kernel, by_method = cuda.jit(weigh.py_func), cuda.jit(weigh_by_method.py_func)
    for _ in range(2):
        for kind, weight in [(Heavy, 102), (Point, None), (Light, 3), (Point, None), (Heavy, 102)]:
            assert value(kernel, kind(1, 2), out) == 12
            if weight:
                assert value(by_method, kind(1, 2), out) == weight
                continue
            with pytest.raises(errors.TypingError, match="weight"):
                by_method[1, 1](kind(1, 2), out)


@pytest.mark.parametrize("hides", [property(lambda self: 42), 42])
def test_what_hides_a_field_is_refused(hides, out):
    hiding = type("Point", (Point,), {"__slots__": (), "x": hides})
    kernel = cuda.jit(weigh.py_func)

    @cuda.jit
    def kernel_that_makes_one(out):
        out[0] = hiding(1, 2).x

    for _ in range(2):
        with pytest.raises(errors.LaunchArgumentError, match="with a field 'x' and has another 'x' of its own"):
            kernel[1, 1](hiding(1, 2), out)
        assert value(kernel, Point(1, 2), out) == 12
        with pytest.raises(TypeError, match="hides"):
            kernel_that_makes_one[1, 1](out)


def test_classes_of_named_tuples_come_and_go(out):
    """Few of them are kept."""
    seen = []
    for i in range(200):
        kind = collections.namedtuple("Point", "y x" if i % 3 else "x y")
        point = kind(i, 7)
        assert value(weigh, point, out) == point.x * 10 + point.y
        seen.append(weakref.ref(kind))
    del kind, point
    gc.collect()
    assert sum(kept() is not None for kept in seen) <= 33


@cuda.jit
def weigh_first_point(points, out):
    out[0] = points[0].x * 10 + points[0].y


def test_such_named_tuples_in_tuples(out):
    swapped = collections.namedtuple("Point", "y x")
    for point, expected in [(Point(1, 2), 12), (swapped(1, 2), 21), (Point(1, 2), 12)]:
        assert value(weigh_first_point, (point, 3), out) == expected


def test_a_signature_takes_named_tuples_with_its_fields(out):
    kernel = cuda.jit((typeof(Point(1, 2)), typeof(out)))(weigh.py_func)
    assert value(kernel, Point(1, 2), out) == 12
    with pytest.raises(errors.LaunchArgumentError):
        kernel[1, 1](collections.namedtuple("Point", "y x")(1, 2), out)


def test_a_plain_tuple_is_no_named_one(out):
    kernel = cuda.jit(weigh.py_func)
    assert value(kernel, Point(1, 2), out) == 12
    with pytest.raises(Exception, match="x"):
        kernel[1, 1]((1, 2), out)
    assert value(kernel, Point(1, 2), out) == 12


def test_a_class_derived_from_tuple_is_refused(out):
    derived = type("Derived", (tuple,), {})
    with pytest.raises(errors.LaunchArgumentError, match="derived from tuple, such as 'Derived'; tuple"):
        add_up[1, 1](derived((1, 2)), out)


@cuda.jit
def add_up(numbers, out):
    total = 0.0
    for number in numbers:
        if number is not None:
            total += number
    out[0] = total


def test_tuples_whose_last_item_takes_no_room():
    numbers = np.zeros(1)

    @cuda.jit
    def kernel(out, pair):
        if pair[1] is None:
            out[0] = pair[0]

    for pair in ((4, None), (5, None), (6.5, None)):
        kernel[1, 1](numbers, pair)
        assert numbers[0] == pair[0]


def test_tuples_of_many_kinds(out):
    for _ in range(2):
        for numbers in [(1, 2.5), (1.5, 2), (1, 2, 3), ((1 << 62), 1.0), (True, 2), (np.int16(1), 2.0), (1j.real, 3)]:
            assert value(add_up, numbers, out) == float(sum(float(number) for number in numbers))


@cuda.jit
def sum_of_firsts(pair, out):
    out[0] = pair.x[0] + pair.y[0]


def test_arrays_in_a_named_tuple(out):
    ones, twos = cuda.to_device(np.ones(3)), cuda.to_device(np.full((2, 2), 2.0))
    flat = cuda.to_device(np.full(4, 5.0, np.float32))
    for _ in range(2):
        assert value(sum_of_firsts, Point(ones, ones), out) == 2
        assert value(sum_of_firsts, Point(ones, twos[0]), out) == 3
        assert value(sum_of_firsts, Point(flat, ones[::2]), out) == 6
        assert value(sum_of_firsts, Point(np.full(2, 8.0), ones), out) == 9


# --- arrays ----------------------------------------------------------------------------------------------------------
class Own(DeviceNDArray):
    pass


class Beside:
    pass


class Mixed(Own, Beside):
    """The base of device arrays is not the last but object."""


@cuda.jit
def sum_both(a, b, out):
    out[0] = 0.0
    for i in range(a.shape[0]):
        out[0] += a[i] + b[i]


def as_class(array, wanted):
    """The same memory as an array of that class."""
    return wanted(array.shape, array.strides, array.dtype, array.__cuda_array_interface__["data"][0], array)


def test_arrays_in_turn(out):
    numbers = np.arange(6.0)
    whole = cuda.to_device(numbers)
    longer = cuda.to_device(np.arange(12.0))
    narrow = cuda.to_device(numbers.astype(np.float32))
    arrays = [(whole, numbers), (longer[::2], np.arange(0, 12.0, 2)), (narrow, numbers), (numbers, numbers),
              (longer[6:], np.arange(6.0, 12.0)), (whole, numbers), (longer[5::-1], numbers[::-1])]
    for (a, a_values), (b, b_values) in itertools.product(arrays, arrays):
        assert value(sum_both, a, b, out) == (a_values + b_values).sum()


def test_lengths_are_those_of_the_launch(out):
    for count in (1, 5, 3, 0, 4):
        array = cuda.to_device(np.ones(count))
        assert value(sum_both, array, array, out) == 2 * count


@pytest.mark.parametrize("wanted", [Own, Mixed])
def test_arrays_of_classes_of_the_programs(wanted, out):
    plain = cuda.to_device(np.arange(4.0))
    own = as_class(plain, wanted)
    for a, b in [(plain, own), (own, plain), (own, own), (plain, plain)]:
        assert value(sum_both, a, b, out) == 12


@dataclasses.dataclass
class Pair:
    a: object
    b: object


@cuda.jit
def seconds(pair, out):
    out[0] = pair.a[1] * 10 + pair.b[1]


class Making(Pair):
    """Its fields are what functions give."""

    def __getattribute__(self, name):
        made = object.__getattribute__(self, name)
        return made() if name in "ab" else made


@cuda.jit
def seconds_in_tuples(pair, out):
    out[0] = pair.a[0][1] * 10 + pair.b[0][1]


@pytest.mark.parametrize("kernel, wrap", [(seconds, lambda array: array), (seconds_in_tuples, lambda array: (array,))])
def test_arrays_that_only_a_field_gives_last_for_the_launch(kernel, wrap, out):
    """Memory that the first one gave back would be that of the second one."""
    def made(number):
        return lambda: wrap(cuda.to_device(np.full(4, number)))

    for i in range(5):
        assert value(kernel, Making(made(7.0 + i), made(2.0)), out) == 72 + 10 * i


class Telling:
    """An array on the device that runs something when a launch asks what it is."""

    def __init__(self, array, run):
        self.array, self.run = cuda.to_device(array), run

    @property
    def __cuda_array_interface__(self):
        self.run()
        return self.array.__cuda_array_interface__


def reshape(array):
    array.shape = 1, -1


def resize(array):
    array.resize((3, 5), refcheck=False)


def resize_to_none(array):
    array.resize((), refcheck=False)


def lengthen(array):
    array.resize(1000, refcheck=False)


def become_bytes(array):
    array.dtype = np.uint8


def become_other_numbers(array):
    array.dtype = np.int64


def become_read_only(array):
    array.flags.writeable = False


@cuda.jit
def sum_of_two(a, b, out):
    out[0] = a[0] + b[0]
    out[1] = a.shape[0]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("change, what", [
    (reshape, "dimensions"), (resize, "dimensions"), (resize_to_none, "dimensions"), (become_bytes, "dtype"),
    (become_other_numbers, "dtype"), (become_read_only, "memory layout or writeable flag")])
def test_a_host_array_that_changes_during_the_launch(change, what):
    numbers, other, out = np.arange(1.0, 6.0), np.full(3, 10.0), np.zeros(2)
    sum_of_two[1, 1](numbers, other, out)
    for _ in range(2):
        numbers = np.arange(1.0, 6.0)
        with pytest.raises(errors.LaunchArgumentError, match=f"'a' of kernel 'sum_of_two': the array's {what} changed"):
            sum_of_two[1, 1](numbers, Telling(other, lambda array=numbers: change(array)), out)
    numbers = np.arange(1.0, 6.0)
    sum_of_two[1, 1](numbers, Telling(other, lambda: lengthen(numbers)), out)
    assert out.tolist() == [11, 1000]


class Meddling(np.ndarray):
    """Its copies run code of the program."""
    run = None

    def __array_finalize__(self, source):
        if Meddling.run:
            Meddling.run()


def test_copies_for_the_launch_run_no_code_of_the_program():
    numbers, out = np.arange(1.0, 6.0), np.zeros(2)
    shared = np.frombuffer(bytearray(b"." + np.full(3, 10.0).tobytes()), np.uint8)[1:].view(np.float64).view(Meddling)
    Meddling.run = lambda: numbers.resize(1 << 20, refcheck=False)
    try:
        sum_of_two[1, 1](numbers, shared, out)
    finally:
        Meddling.run = None
    assert numbers.size == 5 and out.tolist() == [11, 5]


def forged(class_, array):
    """An object of that class of bytes that has in it what an array has."""
    head, size = object.__basicsize__, DeviceNDArray.__basicsize__
    made = class_(size)
    before = ctypes.string_at(id(made), size)
    ctypes.memmove(id(made) + head, id(array) + head, size - head)
    return made, before


def test_a_class_that_goes_during_the_launch(out):
    """Another class comes to be where the first one was: what has it is no array, whatever lies in it."""
    array, seen, changed = cuda.to_device(np.arange(4.0)), [], []

    def first():
        class_ = type("Going", (DeviceNDArray,), {})
        made = cuda.to_device(np.arange(4.0))
        made.__class__ = class_
        seen.append((made, id(class_), weakref.ref(class_)))
        return made

    def second():
        made, place, class_ = seen[-1]
        made.__class__ = DeviceNDArray
        gc.collect()
        others = []
        while class_() is None and len(others) < 200:
            others.append(type("Bytes", (bytes,), {"__slots__": ()}))
            if id(others[-1]) == place:
                made, before = forged(others[-1], array)
                changed.append((made, before))
                return made
        return None

    seconds[1, 1](Making(lambda: array, lambda: array), out)
    for _ in range(3):
        with pytest.raises(Exception, match="pair"):
            seconds[1, 1](Making(first, second), out)
    for made, before in changed:
        ctypes.memmove(id(made) + object.__basicsize__, before[object.__basicsize__:],
                       len(before) - object.__basicsize__)
