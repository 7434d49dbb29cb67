"""Enum and IntEnum: members as arguments and constants, by name and by value, through functions and branches."""
import enum

import numpy as np
import pytest

from cujit import cuda, errors, int64, void


class Mode(enum.Enum):
    ADD = 10
    SUB = 20
    PLUS = 10


class Level(enum.IntEnum):
    LOW = 1
    MID = 5


class Other(enum.IntEnum):
    ONE = 1


class Bits(enum.IntFlag):
    A = 1
    B = 2
    C = 4


class Rate(enum.Enum):
    SLOW = 0.5
    FAST = 2.5


class Planet(enum.Enum):
    VENUS = (4.869e24, 6.0518e6)
    EARTH = (5.976e24, 6.37814e6)


class Step(enum.Enum):
    LEFT = (-1, (0, 1.5))
    UP = (0, (1, 2.5))


class Colour(enum.Enum):
    RED = "red"
    BLUE = ("blue", 3)


def launch(kernel, *arguments, n=4, dtype=float):
    out = np.full(n, -99, dtype)
    cuda.jit(kernel)[1, 1](out, *arguments)
    return out.tolist()


def test_members_as_arguments():
    def kernel(out, mode, rate, pair):
        out[0] = mode.value * rate.value
        out[1] = mode is Mode.SUB or mode == Mode.SUB
        out[2] = pair[0] == Mode.ADD
        out[3] = pair[1]

    assert launch(kernel, Mode.SUB, Rate.FAST, (Mode.ADD, Level.MID)) == [50, 1, 1, 5]
    assert launch(kernel, Mode.ADD, Rate.SLOW, (Mode.SUB, Level.LOW)) == [5, 0, 0, 1]


def test_members_whose_values_are_tuples():
    @cuda.jit
    def kernel(out, planet, step, other):
        out[0] = planet.value[1]
        out[1] = (planet == Planet.EARTH) + 2 * (planet is other) + 4 * (planet != other)
        mass, radius = Planet.VENUS.value if planet == Planet.EARTH else planet.value
        out[2] = radius / 10
        x, (y, weight) = step.value
        out[3] = 100 * x + 10 * y + weight
        out[4] = step == Step.UP

    def run(*arguments):
        out = np.zeros(5)
        kernel[1, 1](out, *arguments)
        return out.tolist()

    assert run(Planet.EARTH, Step.LEFT, Planet.EARTH) == [6.37814e6, 3, 6.0518e5, -98.5, 0]
    assert run(Planet.VENUS, Step.UP, Planet.EARTH) == [6.0518e6, 4, 6.0518e5, 12.5, 1]
    assert len(kernel.signatures) == 1


def test_one_specialization_for_all_members():
    @cuda.jit
    def kernel(out, mode):
        out[0] = mode.value

    out = np.zeros(1)
    for mode in (Mode.ADD, Mode.SUB, Mode.PLUS):
        kernel[1, 1](out, mode)
        assert out[0] == mode.value
    assert len(kernel.signatures) == 1


def test_names_values_and_aliases_of_constants():
    def kernel(out):
        if Mode.ADD.name == "ADD" and Level.MID.name == "MID":
            out[0] = Level.MID.value + Mode.PLUS.value
        out[1] = len(Mode["SUB"].name) * 10 + (Mode.PLUS is Mode.ADD)
        out[2] = Mode(20).value + Level(5) + (Mode(20) is Mode.SUB)
        out[3] = len(Colour.RED.value) * 10 + Colour.BLUE.value[1]

    assert launch(kernel) == [15, 31, 26, 33]


def test_int_enums_are_numbers():
    table = (1.5, 2.5, 3.5)

    def kernel(out, level, bits):
        tile = cuda.local.array(Level.MID, int64)
        tile[level] = Level.MID
        out[0] = level * 2 + table[Level.LOW] + tile[1]
        out[1] = (bits & Bits.B) + len(range(Level.MID)) + tile.size
        out[2] = max(level, 3) + float(level) + (level == 1) + (level == Other.ONE)
        out[Level.LOW + 2] = -level + abs(Level.MID)

    assert launch(kernel, Level.LOW, Bits.A | Bits.B) == [9.5, 12, 6, 4]


def test_members_of_other_classes_are_never_equal():
    def kernel(out, mode):
        out[0] = mode == Rate.SLOW
        out[1] = mode != 10
        out[2] = mode == 10
        out[3] = Colour.RED == Colour.BLUE

    assert launch(kernel, Mode.ADD) == [0, 1, 0, 0]


def test_members_through_functions_branches_and_tuples():
    @cuda.jit(device=True)
    def opposite(mode):
        return Mode.SUB if mode == Mode.ADD else Mode.ADD

    def kernel(out, mode, level):
        both = (mode, opposite(mode))
        out[0] = both[1].value
        chosen = level if out[0] > 10 else Level.MID
        out[1] = chosen.value
        number = level if out[0] > 10 else 2.5
        out[2] = number
        for k in range(2):
            if both[k] is Mode.SUB:
                out[3] = k
        match both[1]:
            case Mode.ADD:
                out[1] += 100
            case Mode.SUB:
                out[1] += 200

    assert launch(kernel, Mode.ADD, Level.LOW) == [20, 201, 1, 1]
    assert launch(kernel, Mode.SUB, Level.LOW) == [10, 105, 2.5, 0]


def test_members_of_values_of_run_time():
    def kernel(out, codes):
        for k in range(codes.size):
            out[k] = Mode(codes[k]) == Mode.SUB

    assert launch(kernel, np.array([10, 20, 20, 10])) == [0, 1, 1, 0]


def test_int_enums_convert_to_declared_numbers():
    @cuda.jit(void(int64[:], int64))
    def kernel(out, x):
        out[0] = x

    out = np.zeros(1, np.int64)
    kernel[1, 1](out, Level.MID)
    assert out[0] == 5


def test_members_are_true():
    def kernel(out, mode, level):
        out[0] = 1 if mode else 0
        out[1] = 1 if level else 0
        out[2] = not mode

    assert launch(kernel, Mode.ADD, Bits(0))[:3] == [1, 0, 0]


@pytest.mark.parametrize("source, says", [
    ("out[0] = mode + 1", "enum Mode"), ("out[0] = mode < Mode.SUB", "enum Mode"),
    ("out[0] = len(mode.name)", "constant"), ("out[0] = Mode.MISSING.value", "MISSING"),
    ("out[0] = Mode(11).value", "not the value of a member of Mode"), ("out[0] = mode", "cannot store enum Mode"),
    ("out[0] = mode.weight", "weight"),
])
def test_what_members_cannot_do(source, says):
    names = {"Mode": Mode}
    exec(f"def kernel(out, mode):\n    {source}", names)
    with pytest.raises(errors.TypingError, match=says):
        launch(names["kernel"], Mode.ADD)


def test_members_that_are_no_numbers_are_no_arguments():
    with pytest.raises(TypeError, match="numbers"):
        launch(lambda out, colour: None, Colour.RED)


def test_a_member_without_a_number_is_compared_where_the_kernel_finds_it():
    class Unit(enum.Enum):
        METRE = "m"
        FOOT = "ft"

    unit = Unit.FOOT

    @cuda.jit
    def kernel(out):
        out[0] = unit == Unit.FOOT
        out[1] = unit is Unit.METRE

    out = np.full(2, 7)
    kernel[1, 1](out)
    assert out.tolist() == [1, 0]

    @cuda.jit
    def takes(member):
        pass

    with pytest.raises(errors.LaunchArgumentError, match="finds as a global or captured variable can be compared"):
        takes[1, 1](unit)
