"""Assignment between overlapping parts of one array, by one thread: what NumPy gives."""
import numpy as np
import pytest

from cujit import cuda, float32


def up(x):
    x[1:] = x[:-1]


def down(x):
    x[:-1] = x[1:]


def far(x):
    x[2:] += x[:-2]


def reversed_view(x):
    y = x[::-1]
    y[1:] = y[:-1]


def reversed_view_down(x):
    y = x[::-1]
    y[:-2] *= y[2:]


def every_second(x):
    x[::2][1:] = x[::2][:-1]


def itself(x):
    x[:] = x


def scaled(x):
    x[:] += x


def down_right(x):
    x[1:, 1:] = x[:-1, :-1]


def up_right(x):
    x[:-1, 1:] = x[1:, :-1]


def up_left(x):
    x[:-1, :-1] = x[1:, 1:]


def down_left(x):
    x[1:, :-1] = x[:-1, 1:]


def right(x):
    x[:, 1:] -= x[:, :-1]


VIEWS = {"plain": lambda a: a, "upside_down": lambda a: a[::-1], "strided": lambda a: a[::2]}


def check(function, view, start):
    """Run on a view of the same values, a kernel and NumPy leave the same."""
    expected, out = start.copy(), start.copy()
    function(VIEWS[view](expected))
    cuda.jit(function)[1, 1](VIEWS[view](out))
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("function", [up, down, far, reversed_view, reversed_view_down, every_second, itself, scaled])
def test_one_axis(function, view):
    check(function, view, np.arange(1.0, 21.0))


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("function", [up, down, far, reversed_view, itself, right,
                                      down_right, up_right, up_left, down_left])
def test_two_axes(function, view):
    check(function, view, np.arange(48.0).reshape(6, 8) ** 2)


def test_arrays_of_the_thread_and_arguments_that_overlap():
    @cuda.jit
    def kernel(a, b):
        local = cuda.local.array(4, float32)
        for i in range(4):
            local[i] = i
        local[1:] = local[:-1]
        b[:] = a
        b[0] = local[3]

    x = np.arange(10.0)
    on_device = cuda.to_device(x)
    kernel[1, 1](on_device[:-1], on_device[1:])
    assert on_device.copy_to_host().tolist() == [0, 2, 1, 2, 3, 4, 5, 6, 7, 8]


# --- parts that run differently ------------------------------------------------------------------------------------


def mirrored(x):
    x[:] = x[::-1]


def mirrored_and_moved(x):
    x[1:] = x[-2::-1]


def gathered(x):
    x[:(len(x) + 1) // 2] = x[::2]


def added_to_its_mirror(x):
    x[:] += x[::-1]


def one_over_all(x):
    x[:] *= x[3:4]


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("function", [mirrored, mirrored_and_moved, gathered, added_to_its_mirror, one_over_all])
def test_one_axis_runs_differently(function, view):
    check(function, view, np.arange(1.0, 20.0))


def test_spread():
    """NumPy itself overwrites what it still has to read here."""
    @cuda.jit
    def kernel(x):
        x[::2] = x[:(len(x) + 1) // 2]

    x = np.arange(19.0)
    expected = x.copy()
    expected[::2] = x[:10]
    kernel[1, 1](x)
    np.testing.assert_array_equal(x, expected)


def transposed(x):
    x[:] = x.T


def turned(x):
    x[:] = x.T[::-1]


def turned_part(x):
    x[1:4, 2:5] = x[1:4, 2:5].T[:, ::-1]


def mirrored_rows(x):
    x[1:] = x[:-1, ::-1]


def columns_of_the_transposed(x):
    y = x.T
    y[1:, :-1] = y[:-1, 1:]


def row_over_all(x):
    x[:] = x[2]


def column_over_all(x):
    x[:] = x[:, 1:2]


def column_as_rows(x):
    x[:] = x[:, 0]


def scaled_by_a_column(x):
    x[:] /= x[:, 1:2]


def less_a_row(x):
    x[:] -= x[1]


def plus_transposed(x):
    x[:] += x.T


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("function", [transposed, turned, turned_part, mirrored_rows, columns_of_the_transposed,
                                      row_over_all, column_over_all, column_as_rows, scaled_by_a_column, less_a_row,
                                      plus_transposed])
def test_two_axes_run_differently(function, view):
    start = np.random.default_rng(7).uniform(1, 9, (12, 6) if view == "strided" else (6, 6))
    check(function, view, start)


@cuda.jit
def assign_parts(x, to, of, transposed):
    for k in range(to.shape[0]):
        a, b, c, d, e, f = to[k]
        p, q, r, s, t, u = of[k]
        y = x[k]
        source = y.T if transposed[k] else y
        y[a:b:c, d:e:f] = source[p:q:r, s:t:u]


@cuda.jit
def update_parts(x, to, of, transposed):
    for k in range(to.shape[0]):
        a, b, c, d, e, f = to[k]
        p, q, r, s, t, u = of[k]
        y = x[k]
        source = y.T if transposed[k] else y
        y[a:b:c, d:e:f] += source[p:q:r, s:t:u]


def part(rng, extent, length):
    """start, stop and step of a slice of that length, chosen at random."""
    step = int(rng.choice([-3, -2, -1, -1, 1, 1, 2, 3]))
    while (length - 1) * abs(step) >= extent:
        step = 1 if step > 0 else -1
    span = (length - 1) * abs(step)
    low = int(rng.integers(0, extent - span))
    if step > 0:
        return low, low + span + 1, step
    return low + span, low - 1 if low else -extent - 1, step


@pytest.mark.parametrize("kernel", [assign_parts, update_parts])
def test_parts_chosen_at_random(kernel):
    rng = np.random.default_rng(11)
    count, extent = 400, 6
    to, of = np.empty((count, 6), np.int64), np.empty((count, 6), np.int64)
    is_transposed = rng.integers(0, 2, count).astype(bool)
    x = rng.integers(1, 100, (count, extent, extent))
    expected = x.copy()
    for k in range(count):
        lengths = rng.integers(1, extent + 1, 2)
        to[k] = [v for length in lengths for v in part(rng, extent, int(length))]
        repeated = rng.integers(0, 8, 2) == 0 if kernel is assign_parts else (False, False)
        of[k] = [v for length, one in zip(lengths, repeated) for v in part(rng, extent, 1 if one else int(length))]
        y = expected[k]
        a, b, c, d, e, f = to[k]
        p, q, r, s, t, u = of[k]
        source = (y.T if is_transposed[k] else y)[p:q:r, s:t:u].copy()
        if kernel is assign_parts:
            y[a:b:c, d:e:f] = source
        else:
            y[a:b:c, d:e:f] += source
    kernel[1, 1](x, to, of, is_transposed)
    np.testing.assert_array_equal(x, expected)


def test_records_and_text():
    @cuda.jit
    def kernel(records, words):
        records[:] = records[::-1]
        words[1:] = words[-2::-1]

    records = np.zeros(5, np.dtype([("n", np.int32), ("v", np.float32, 3)], align=True))
    records["n"] = np.arange(5)
    records["v"] = np.arange(15).reshape(5, 3)
    words = np.array(["one", "two", "three", "four"])
    expected, expected_words = records[::-1].copy(), words.copy()
    expected_words[1:] = words[-2::-1].copy()
    kernel[1, 1](records, words)
    assert records.tobytes() == expected.tobytes()
    assert words.tolist() == expected_words.tolist()


def test_rows_by_the_threads_of_a_grid_and_arrays_of_the_thread():
    @cuda.jit
    def kernel(x, y):
        i = cuda.grid(1)
        local = cuda.local.array((3, 3), float32)
        if i < x.shape[0]:
            x[i] = x[i, ::-1]
            local[:] = y[i]
            local[:] = local.T
            y[i] = local

    x = np.arange(700.0).reshape(100, 7)
    y = np.arange(900, dtype=np.float32).reshape(100, 3, 3)
    expected, expected_y = x[:, ::-1].copy(), y.transpose(0, 2, 1).copy()
    kernel[4, 32](x, y)
    np.testing.assert_array_equal(x, expected)
    np.testing.assert_array_equal(y, expected_y)


def test_conversions_go_with_the_order():
    @cuda.jit
    def kernel(x):
        x[:] = x.view(np.float64)[::-1]

    x = np.arange(9.0) * 1.75
    expected = x[::-1].astype(np.int64)
    bits = x.view(np.int64).copy()
    kernel[1, 1](bits)
    assert bits.tolist() == expected.tolist()


def test_what_has_no_order_is_refused():
    @cuda.jit(exceptions=True)
    def sizes(x, y):
        y[:] = x.view(np.float32)[:4]

    @cuda.jit(exceptions=True)
    def across(x):
        x[:] += x[:, 0]

    x = np.zeros(4)
    sizes[1, 1](x, np.zeros(4))

    @cuda.jit(exceptions=True)
    def same_memory(x):
        x[:] = x.view(np.float32)[:4]

    with pytest.raises(ValueError, match="items differ in size"):
        same_memory[1, 1](x)
    with pytest.raises(ValueError, match="lies across"):
        across[1, 1](np.ones((4, 4)))


def test_fields_that_lie_between_each_other_do_not_overlap():
    @cuda.jit(exceptions=True)
    def kernel(records):
        records["a"][:] = records["b"][::-1]

    records = np.zeros(4, np.dtype([("a", np.float32), ("b", np.float64)], align=True))
    records["b"] = np.arange(4)
    kernel[1, 1](records)
    assert records["a"].tolist() == [3, 2, 1, 0]
