"""Pixels and points on the CPU device: where a kernel's indices tell the last extents of an argument, it is made for
launches that have these, and a variant for others. Results are NumPy's either way."""
import platform
import re

import numpy as np
import pytest

from cujit import _core, complex64, cuda, float32, float64, int32, uint8

pytestmark = pytest.mark.skipif(cuda.get_current_device().kind == "cuda", reason="about the CPU device")
on_avx2 = pytest.mark.skipif(platform.machine() != "x86_64" or "+avx2" not in _core.host_cpu(),
                             reason="about what LLVM makes vectors of")


def gray(image, out):
    j, i = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = (77 * image[i, j, 0] + 151 * image[i, j, 1] + 28 * image[i, j, 2]) >> 8


def move(places, speeds, time):
    i = cuda.grid(1)
    if i < places.shape[0]:
        for k in range(3):
            places[i, k] += speeds[i, k] * time


def stride(places, speeds, time):
    for i in range(cuda.grid(1), places.shape[0], cuda.gridsize(1)):
        places[i, 0] += speeds[i, 0] * time
        places[i, 1] += speeds[i, 1] * time


def nested(pairs, out):
    """The last two axes, (2, 2)."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = pairs[i, 0, 0] * pairs[i, 1, 1] - pairs[i, 0, 1] * pairs[i, 1, 0]


def one_of_three(points, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = points[i, 0] + points[i, 2]


def first_only(points, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = points[i, 0]


def by_choice(points, which, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = points[i, 0] + points[i, 1] + points[i, which]


def fixed_row(points, out):
    """All threads take one point: nothing would be a vector of points."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] += points[7, 0] * points[7, 1]


def only_its_extent(points, out):
    """None of its elements."""
    i = cuda.grid(1)
    if i < points.shape[0]:
        out[i] = 1


@cuda.jit(device=True)
def length(points, i):
    return points[i, 0] * points[i, 0] + points[i, 1] * points[i, 1]


def handed_on(points, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = length(points, i) + points[i, 0] + points[i, 1]


GRAY = (uint8[:, :, ::1], uint8[:, ::1])


def head(function, types, **options):
    return cuda.jit(**options)(function).inspect("checks", types).split(" ;", maxsplit=1)[0]


@pytest.mark.parametrize("function,types,told", [
    (gray, GRAY, "extent 0 2 3"),
    (move, (float32[:, ::1], float32[:, ::1], float32), "extent 0 1 3 extent 1 1 3"),
    (stride, (float64[:, ::1], float64[:, ::1], float64), "extent 0 1 2 extent 1 1 2"),
    (nested, (float64[:, :, ::1], float64[::1]), "extent 0 1 2 extent 0 2 2"),
    (one_of_three, (float32[:, ::1], float32[::1]), None),
    (first_only, (float32[:, ::1], float32[::1]), None),
    (by_choice, (float32[:, ::1], int32, float32[::1]), None),
    (fixed_row, (float32[:, ::1], float32[::1]), None),
    (handed_on, (float32[:, ::1], float32[::1]), None),
    (only_its_extent, (float32[:, ::1], float32[::1]), None),
    (gray, (uint8[:, :, :], uint8[:, ::1]), None),
    (gray, (uint8[::1, :, :], uint8[:, ::1]), None),
], ids=lambda value: getattr(value, "__name__", None))
def test_what_the_indices_tell(function, types, told):
    text = head(function, types)
    assert re.findall(r"extent \d+ \d+ \d+.*", text) == ([told] if told else [])
    assert "extent 0" not in head(function, types, opt=0)


def test_the_text_is_read_back():
    text = re.sub(r" ;.*", "", cuda.jit(gray).inspect("private", GRAY))
    assert "extent 0 2 3" in text and _core.ir_roundtrip(text).split() == text.split()


@on_avx2
@pytest.mark.parametrize("function,types,vector", [
    (gray, GRAY, r"shufflevector <\d+ x i8>"),
    (move, (float32[:, ::1], float32[:, ::1], float32), r"load <\d+ x float>"),
    (stride, (float64[:, ::1], float64[:, ::1], float64), r"load <\d+ x double>"),
], ids=lambda value: getattr(value, "__name__", None))
def test_points_are_vectors(function, types, vector):
    assert re.search(vector, cuda.jit(function).inspect_llvm(types))


@pytest.mark.parametrize("check", ["bounds", False])
def test_gray_of_any_number_of_colors(check):
    chance, kernel = np.random.default_rng(3), cuda.jit(check=check)(gray)
    for turn, colors in enumerate((3, 4, 3, 7, 4, 3)):
        height, width = 5 + turn, 67 - turn
        image = chance.integers(0, 256, (height, width, colors)).astype(np.uint8)
        out = cuda.to_device(np.zeros((height, width), np.uint8))
        kernel[(3, 2), (32, 8)](cuda.to_device(image), out)
        expected = image[..., :3].astype(np.int32) @ np.array([77, 151, 28]) >> 8
        assert np.array_equal(out.copy_to_host(), expected)
    assert list(kernel.stats.variants.values()) == [1], "other numbers of colors have more than one kernel"


@pytest.mark.parametrize("function,width,count", [(move, 3, 3), (move, 5, 3), (stride, 2, 2), (stride, 3, 2)],
                         ids=lambda value: getattr(value, "__name__", None))
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64])
def test_points_that_move(function, width, count, dtype):
    chance = np.random.default_rng(width)
    places, speeds = (chance.integers(-9, 9, (133, width)).astype(dtype) for _ in range(2))
    expected, moved = places.copy(), cuda.to_device(places)
    expected[:, :count] += speeds[:, :count] * dtype(2)
    cuda.jit(function)[3, 64](moved, cuda.to_device(speeds), dtype(2))
    assert np.array_equal(moved.copy_to_host(), expected)


def test_one_array_of_two_has_another_extent():
    kernel, chance = cuda.jit(move), np.random.default_rng(1)
    for widths in ((3, 4), (4, 3), (3, 3), (4, 4)):
        places, speeds = (chance.integers(-9, 9, (70, width)).astype(np.float32) for width in widths)
        expected, moved = places.copy(), cuda.to_device(places)
        expected[:, :3] += speeds[:, :3]
        kernel[3, 32](moved, cuda.to_device(speeds), np.float32(1))
        assert np.array_equal(moved.copy_to_host(), expected)


def test_parts_of_one_array():
    """Side by side in it: LLVM asks when it runs whether they have something in common."""
    memory = cuda.to_device(np.arange(303, dtype=np.float32).reshape(101, 3))
    expected = memory.copy_to_host()
    expected[:50] += expected[50:100] * 2
    cuda.jit(move)[2, 32](memory[:50], memory[50:100], np.float32(2))
    assert np.array_equal(memory.copy_to_host(), expected)


def test_too_few_are_out_of_bounds():
    kernel = cuda.jit(check="bounds")(gray)
    for colors in 2, 3, 1:
        image, out = (cuda.to_device(np.zeros(shape, np.uint8)) for shape in ((4, 9, colors), (4, 9)))
        if colors == 3:
            kernel[(1, 1), (32, 8)](image, out)
            cuda.synchronize()
            continue
        with pytest.raises(IndexError):
            kernel[(1, 1), (32, 8)](image, out)
            cuda.synchronize()


def test_empty_arrays():
    image, out = (cuda.to_device(np.zeros(shape, np.uint8)) for shape in ((0, 9, 3), (0, 9)))
    cuda.jit(gray)[(1, 1), (32, 8)](image, out)
    cuda.synchronize()


def test_complex_points():
    def turn(points, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = points[i, 0] * points[i, 1]

    assert "extent 0 1 2" in head(turn, (complex64[:, ::1], complex64[::1]))
    points = (np.arange(200) % 7 + 1j * (np.arange(200) % 5)).astype(np.complex64).reshape(100, 2)
    out = cuda.to_device(np.zeros(100, np.complex64))
    cuda.jit(turn)[4, 32](cuda.to_device(points), out)
    assert np.array_equal(out.copy_to_host(), points[:, 0] * points[:, 1])
