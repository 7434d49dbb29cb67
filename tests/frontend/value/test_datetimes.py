"""datetime64 and timedelta64: every operation gives what NumPy gives, NaT and units included."""
import numpy as np
import pytest
from made_kernels import made

from cujit import cuda, errors, from_dtype, int64, types, vectorize, void

NAT = "NaT"
EPOCH = np.datetime64("1970-01-01T00:00:00", "s")
HOUR = np.timedelta64(1, "h")
TABLE = np.array(["2000-01-01", "NaT", "2024-02-29"], "M8[D]")


def durations(unit, rng, n=40):
    a = rng.integers(-5000, 5000, n).astype(f"m8[{unit}]")
    a[::7] = NAT
    return a


def dates(unit, rng, n=40):
    a = rng.integers(-5000, 5000, n).astype(f"M8[{unit}]")
    a[::9] = NAT
    return a


def run(function, out, *arrays):
    @cuda.jit
    def kernel(out, x, y):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = function(x[i], y[i])

    kernel[2, 32](out, *arrays)
    return out


SUMS = [("M8[s]", "m8[s]"), ("M8[D]", "m8[h]"), ("M8[ms]", "m8[W]"), ("M8[10s]", "m8[15s]"), ("m8[us]", "M8[s]"),
        ("m8[D]", "m8[m]"), ("m8[Y]", "m8[M]"), ("M8[M]", "m8[Y]"), ("m8", "m8[s]")]


@pytest.mark.parametrize("a, b", SUMS, ids=lambda text: text)
def test_sums_take_the_unit_that_holds_both(a, b, rng):
    x, y = (dates(t[3:-1], rng) if t[0] == "M" else durations(t[3:-1] or "s", rng).astype(t) for t in (a, b))
    want = x + y
    np.testing.assert_array_equal(run(lambda p, q: p + q, np.zeros(40, want.dtype), x, y), want)
    if b[0] == "m":
        want = x - y
        np.testing.assert_array_equal(run(lambda p, q: p - q, np.zeros(40, want.dtype), x, y), want)


@pytest.mark.parametrize("a, b", [("s", "s"), ("D", "ns"), ("M", "D"), ("Y", "h"), ("Y", "M"), ("W", "M")])
def test_differences_and_order_of_dates(a, b, rng):
    x, y = (rng.integers(-300, 300, 40).astype(f"M8[{unit}]") if unit in "YM" else dates(unit, rng) for unit in (a, b))
    want = x - y
    np.testing.assert_array_equal(run(lambda p, q: p - q, np.zeros(40, want.dtype), x, y), want)
    for name, function in ORDER.items():
        got = run(function, np.zeros(40, bool), x, y)
        np.testing.assert_array_equal(got, getattr(np, name)(x, y), err_msg=name)


ORDER = {
    "less": lambda p, q: p < q, "less_equal": lambda p, q: p <= q, "greater": lambda p, q: p > q,
    "greater_equal": lambda p, q: p >= q, "equal": lambda p, q: p == q, "not_equal": lambda p, q: p != q,
}


@pytest.mark.parametrize("factor", [3, -7, 0, 2.5, -0.3, float("nan"), float("inf")])
def test_durations_scaled_by_numbers(factor, rng):
    @cuda.jit
    def kernel(out, x, factor):
        i = cuda.grid(1)
        if i < x.size:
            out[0, i] = x[i] * factor
            out[1, i] = factor * x[i]
            out[2, i] = x[i] / factor

    x = durations("s", rng)
    out = np.zeros((3, 40), "m8[s]")
    with np.errstate(all="ignore"):
        want = [x * factor, factor * x, x / factor]
    kernel[1, 64](out, x, factor)
    np.testing.assert_array_equal(out, want)


def test_floor_division_by_an_integer(rng):
    x = durations("s", rng)
    np.testing.assert_array_equal(run(lambda p, q: p // q, np.zeros(40, "m8[s]"), x, np.full(40, 7)), x // 7)


def test_durations_divided_by_durations(rng):
    x, y = durations("m", rng), durations("s", rng)
    y[3] = 0
    with np.errstate(all="ignore"):
        want = x / y, x // y, x % y
    for function, expected in zip((lambda p, q: p / q, lambda p, q: p // q, lambda p, q: p % q), want):
        np.testing.assert_array_equal(run(function, np.zeros(40, expected.dtype), x, y), expected)


def test_signs_and_nat(rng):
    @cuda.jit
    def kernel(out, flags, x):
        i = cuda.grid(1)
        if i < x.size:
            out[0, i] = -x[i]
            out[1, i] = +x[i]
            out[2, i] = abs(x[i])
            flags[0, i] = np.isnat(x[i])
            flags[1, i] = bool(x[i])

    x = durations("D", rng)
    x[5] = 0
    out, flags = np.zeros((3, 40), "m8[D]"), np.zeros((2, 40), bool)
    kernel[1, 64](out, flags, x)
    np.testing.assert_array_equal(out, [-x, x, abs(x)])
    np.testing.assert_array_equal(flags, [np.isnat(x), x.astype(bool)])


def test_constants_constructors_and_casts():
    @cuda.jit
    def kernel(out, counts, n):
        out[0] = EPOCH + n * HOUR
        out[1] = EPOCH + np.timedelta64(n, "D")
        out[2] = np.datetime64("NaT")
        out[3] = np.datetime64(5, "m")
        out[4] = TABLE[2]
        counts[0] = (out[0] - EPOCH).view(np.int64)
        counts[1] = int(HOUR)
        counts[2] = out.view(np.int64)[3]
        counts[3] = HOUR.astype("m8[ms]").astype(np.int64)
        counts[4] = np.int64(TABLE[0])
        counts[5] = max(HOUR, np.timedelta64(59, "m")) == HOUR

    out, counts = np.zeros(5, "M8[s]"), np.zeros(6, np.int64)
    kernel[1, 1](out, counts, 3)
    want = [EPOCH + 3 * HOUR, EPOCH + np.timedelta64(3, "D"), NAT, np.datetime64(300, "s"), TABLE[2]]
    np.testing.assert_array_equal(out, np.array(want, "M8[s]"))
    assert counts.tolist() == [3 * 3600, 1, 300, 3600000, TABLE[0].astype(np.int64), 1]


def test_stores_change_the_unit_and_round_down(rng):
    @cuda.jit
    def kernel(coarse, fine, x):
        i = cuda.grid(1)
        if i < x.size:
            coarse[i] = x[i]
            fine[i] = x[i]

    x = dates("h", rng)
    coarse, fine = np.zeros(40, "M8[D]"), np.zeros(40, "M8[us]")
    kernel[1, 64](coarse, fine, x)
    np.testing.assert_array_equal(coarse, x.astype("M8[D]"))
    np.testing.assert_array_equal(fine, x.astype("M8[us]"))


def test_shared_local_and_record_elements():
    event = np.dtype([("when", "M8[s]"), ("took", "m8[ms]")])
    duration = from_dtype("m8[s]")

    @cuda.jit
    def kernel(out, events):
        tile = cuda.shared.array(4, duration)
        mine = cuda.local.array(1, events.when.dtype)
        t = cuda.threadIdx.x
        tile[t] = events[t].when - events[0].when
        mine[0] = events[t].when + events[t].took
        cuda.syncthreads()
        out[t] = mine[0] + tile[3 - t]
        events[t].took += HOUR

    events = np.zeros(4, event)
    events["when"], events["took"] = np.arange(4) * 100, np.arange(4) * 2000
    want = events["when"] + events["took"] + (events["when"] - events["when"][0])[::-1]
    took, out = events["took"] + HOUR, np.zeros(4, "M8[s]")
    kernel[1, 4](out, events)
    np.testing.assert_array_equal(out, want.astype("M8[s]"))
    np.testing.assert_array_equal(events["took"], took)


def test_signatures_and_device_arrays():
    when, took = types.NPDatetime("s"), types.NPTimedelta("ms")

    @cuda.jit(void(when[:], took, int64))
    def kernel(x, step, n):
        i = cuda.grid(1)
        if i < x.size:
            x[i] = x[i] + step * n

    x = cuda.to_device(np.zeros(3, "M8[s]"))
    kernel[1, 4](x, np.timedelta64(1500, "ms"), 3)
    np.testing.assert_array_equal(x.copy_to_host(), np.full(3, 4, "M8[s]"))
    assert str(when) == "datetime64[s]" and str(types.NPTimedelta("10ms")) == "timedelta64[10ms]"
    assert when == from_dtype("M8[s]") != took and took.dtype == np.dtype("m8[ms]")


def test_vectorize():
    @vectorize([types.NPDatetime("s")(types.NPDatetime("s"), types.NPTimedelta("s"))], target="cuda")
    def later(when, took):
        return when + 2 * took

    x, y = np.arange(5).astype("M8[s]"), np.full(5, 30, "m8[s]")
    np.testing.assert_array_equal(later(x, y), x + 2 * y)
    for difference in vectorize([(types.NPDatetime("s"), types.NPDatetime("s"))])(sub), vectorize(sub):
        got = difference(x, x + y)
        assert got.dtype == "m8[s]"
        np.testing.assert_array_equal(got, -y)


def sub(a, b):
    return a - b


@pytest.mark.parametrize("function, says", [
    (lambda p, q: p + p, r"operator \+"), (lambda p, q: p * 2, r"operator \*"), (lambda p, q: p < q, "operator <"),
    (lambda p, q: q - p, "operator -"), (lambda p, q: p + 1.5, r"operator \+"),
])
def test_operations_that_mean_nothing_are_refused(function, says):
    with pytest.raises(errors.TypingError, match=says):
        run(function, np.zeros(1, "M8[s]"), np.zeros(1, "M8[s]"), np.zeros(1, "m8[s]"))


def test_units_without_a_fixed_ratio_are_refused():
    with pytest.raises(errors.TypingError, match="timedelta64"):
        run(lambda p, q: p + q, np.zeros(1, "m8[D]"), np.zeros(1, "m8[M]"), np.zeros(1, "m8[D]"))


def test_dates_do_not_store_as_numbers():
    with pytest.raises(errors.TypingError, match="cannot store datetime64"):
        run(lambda p, q: p, np.zeros(1), np.zeros(1, "M8[s]"), np.zeros(1))


@pytest.mark.parametrize("old, new, count, five", [
    ("M8[s]", "M8[as]", 2147483647, 5 * 10**18), ("m8[D]", "m8[ns]", -200_000, 5 * 86400 * 10**9),
    ("M8[Y]", "M8[s]", 2**62, 157766400), ("M8[M]", "M8[W]", -(2**62), 21),
    ("m8[7D]", "m8[3ns]", 2**60, 5 * 7 * 86400 * 10**9 // 3)])
def test_a_count_that_the_finer_unit_cannot_hold(old, new, count, five):
    def kernel(x, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = x[i]

    x, out = np.array([count, 5, np.iinfo(np.int64).min]).view(old), np.zeros(3, new)
    cuda.jit(kernel)[1, 4](x, out)
    assert np.isnat(out[[0, 2]]).all()
    assert out[1].view(np.int64) == five
    with pytest.raises(OverflowError, match="beyond int64"):
        cuda.jit(exceptions=True)(kernel)[1, 4](x, out)
    cuda.jit(exceptions=True)(kernel)[1, 4](x[1:], out[:2])
    assert np.isnat(out[1]) and not np.isnat(out[0])


@pytest.mark.parametrize("old, new, up", [("M8[s]", "M8[as]", 10**18), ("m8[7D]", "m8[3us]", 7 * 86400 * 10**6 // 3)])
def test_the_overflow_check_tells_of_it(old, new, up):
    """And of no NaT."""
    def kernel(x, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = x[i]

    x, out = np.array([5, 2**62, np.iinfo(np.int64).min, -2**62]).view(old), np.zeros(4, new)
    with pytest.warns(errors.OverflowWarning, match=rf"{2**62} \* {up} does not fit int64(.|\n)*first of 2 times"):
        cuda.jit(check="overflow")(kernel)[1, 4](x, out)
    assert np.isnat(out).tolist() == [False, True, True, True]
    with pytest.raises(OverflowError, match=r"thread \(1, 0, 0\)"):
        cuda.jit(check="overflow=raise")(kernel)[1, 2](x, out)


TEXTS = ["2000", "-0005", "+2000-01-01", "12000-01-01", "200", "2000-02", "2000-02-29", "1900-02-28", "1969-12-31T23",
         "2000-01-01 12:30", "1600-03-01T12:30:05", "1969-12-31T23:59:59.999", "2000-01-01T12:30:05.1",
         "2000-01-01T12:30:05.", "2000-01-01T12:30:05.1234567", "1970-01-01T00:00:05.123456789012"]


def literal(text, *unit):
    return made_literal(f"np.datetime64({', '.join(map(repr, (text, *unit)))})")


def made_literal(expression):
    return cuda.jit(made(f"import numpy as np\ndef kernel(out):\n    out[0] = {expression}\n", file=expression))


@pytest.mark.parametrize("text", TEXTS)
def test_dates_as_text(text):
    want = np.datetime64(text)
    out = np.zeros(1, want.dtype)
    literal(text)[1, 1](out)
    assert out[0] == want


@pytest.mark.parametrize("text, unit", [("2000-01-01T12:30", "D"), ("2000-01-01", "s"), ("2000", "ms"),
                                        ("2000-05", "Y"), ("1969-12-31T23:59", "D")])
def test_dates_as_text_in_another_unit(text, unit):
    out = np.zeros(1, f"M8[{unit}]")
    literal(text, unit)[1, 1](out)
    assert out[0] == np.datetime64(text, unit)


@pytest.mark.parametrize("text", ["2000-02-30", "1900-02-29", "2000-13", "2000-1-1", "2000-01-01T1", "2000-01-01T24:00",
                                  "2000-01-01T12:60", "2000-01-01T", "2000-01-01T1230", "2000-01-01T12:30Z", "today",
                                  "-", "99999-01-01T00:00:00.000000000", "2000-01-01T12:30:05.1234567890123456789",
                                  "--5"])
def test_texts_that_are_no_dates(text):
    with pytest.raises(errors.TypingError, match='its text is a date such as "2000-01-31T12:30"'):
        literal(text)[1, 1](np.zeros(1, "M8[s]"))


def test_dates_as_text_are_compared(rng):
    x = dates("D", rng)
    got = run(lambda p, q: p < np.datetime64("1970-02-03"), np.zeros(40, bool), x, x)
    np.testing.assert_array_equal(got, x < np.datetime64("1970-02-03"))


@pytest.mark.parametrize("unit", ["s", "10ms", "D"])
def test_sign(unit, rng):
    x = durations(unit, rng)
    x[1] = 0
    want = np.where(np.isnat(x), np.nan, np.sign(x.view(np.int64)))
    np.testing.assert_array_equal(run(lambda p, q: np.sign(p), np.zeros(40), x, x), want)


def test_isinstance_of_any_unit(rng):
    def kinds(p, q):
        return isinstance(p, np.timedelta64) + 2 * isinstance(q, np.datetime64) + 4 * isinstance(p, np.datetime64)

    out = run(kinds, np.zeros(40, np.int64), durations("s", rng), dates("ms", rng))
    assert (out == 3).all()
