"""Warp shuffles, matches and reductions, for every type of value and for partial masks."""
import functools
import operator

import numpy as np
import pytest

from cujit import cuda

FULL = 0xFFFFFFFF
DTYPES = [np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.float16,
          np.float32, np.float64, np.complex64, np.complex128]
REAL = DTYPES[:-2]
INTEGERS = DTYPES[1:9]


def name_of(x):
    return getattr(x, "__name__", str(x))


def values(rng, dtype, count=32):
    if dtype == np.bool_:
        return rng.random(count) < 0.5
    if np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, count, dtype, endpoint=True)
    x = rng.standard_normal(count)
    if np.issubdtype(dtype, np.complexfloating):
        x = x + 1j * rng.standard_normal(count)
    return x.astype(dtype)


# --- shuffles ---------------------------------------------------------------------------------------------------------


def source_lane(kind, lane, number, width):
    """As PTX defines shfl.sync."""
    first = lane & ~(width - 1) & 31
    last = first + width - 1
    if kind == "idx":
        return first | number & (width - 1)
    if kind == "up":
        return lane - number if lane - number >= first else lane
    if kind == "down":
        return lane + number if lane + number <= last else lane
    return lane ^ number if lane ^ number <= last else lane


@pytest.mark.parametrize("dtype", DTYPES, ids=name_of)
def test_shuffles_keep_the_type_and_the_bits(rng, dtype):
    @cuda.jit
    def shuffle(x, out):
        i = cuda.laneid
        out[0, i] = cuda.shfl_sync(FULL, x[i], (i + 5) % 32)
        out[1, i] = cuda.shfl_up_sync(FULL, x[i], 3)
        out[2, i] = cuda.shfl_down_sync(FULL, x[i], 3)
        out[3, i] = cuda.shfl_xor_sync(FULL, x[i], 9)

    x, out = values(rng, dtype), np.zeros((4, 32), dtype)
    shuffle[1, 32](x, out)
    lanes = np.arange(32)
    for row, kind, number in (1, "up", 3), (2, "down", 3), (3, "xor", 9):
        np.testing.assert_array_equal(out[row], x[[source_lane(kind, i, number, 32) for i in range(32)]])
    np.testing.assert_array_equal(out[0], x[(lanes + 5) % 32])


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16, 32])
def test_shuffles_within_segments(width):
    @cuda.jit
    def shuffle(out, number):
        i = cuda.laneid
        out[0, i] = cuda.shfl_sync(FULL, i, number, width=width)
        out[1, i] = cuda.shfl_up_sync(mask=FULL, value=i, delta=number, width=width)
        out[2, i] = cuda.shfl_down_sync(FULL, i, width=width, delta=number)
        out[3, i] = cuda.shfl_xor_sync(FULL, i, number, width)

    for number in range(32):
        out = np.zeros((4, 32), np.int32)
        shuffle[1, 32](out, number)
        for row, kind in enumerate(["idx", "up", "down", "xor"]):
            assert out[row].tolist() == [source_lane(kind, i, number, width) for i in range(32)], (kind, number)


def test_width_known_at_run_time():
    @cuda.jit
    def shuffle(out, width):
        out[cuda.laneid] = cuda.shfl_sync(FULL, cuda.laneid, 1, width)

    out = np.zeros(32, np.int32)
    shuffle[1, 32](out, 8)
    assert out.tolist() == [i // 8 * 8 + 1 for i in range(32)]


@pytest.mark.parametrize("call, message", [
    ("cuda.shfl_sync(1, 2, 3, 5)", "the width of a shuffle"),
    ("cuda.shfl_sync(1, 2, 3, wide=8)", "no parameter named 'wide'"),
    ("cuda.shfl_sync(1, 2)", "takes 3 to 4 arguments, 2 given"),
    ("cuda.shfl_sync(1, 2, width=4)", "its parameter src_lane is missing"),
    ("cuda.shfl_sync(1, out, 3)", "it takes numbers and booleans"),
    ("cuda.shfl_sync(1.5, 2, 3)", "it takes integers"),
    ("cuda.match_any_sync(1, 2j)", "numbers and booleans of at most 64 bits"),
    ("cuda.ballot_sync(1)", "takes 2 arguments, 1 given"),
])
def test_what_is_refused(refused, call, message):
    refused(call, message)


# --- votes and matches ------------------------------------------------------------------------------------------------


def test_votes_take_keywords():
    @cuda.jit
    def vote(x, out):
        i = cuda.laneid
        out[0, i] = cuda.all_sync(mask=FULL, predicate=x[i] > 0)
        out[1, i] = cuda.any_sync(FULL, predicate=x[i] > 30)
        out[2, i] = cuda.eq_sync(FULL, x[i] >= 0)
        out[3, i] = cuda.ballot_sync(FULL, predicate=x[i] % 2 == 1)

    out = np.zeros((4, 32), np.int64)
    vote[1, 32](np.arange(32), out)
    assert out[:, 0].tolist() == [0, 1, 1, np.uint32(0xAAAAAAAA).astype(np.int32)]
    assert (out == out[:, :1]).all()


@pytest.mark.parametrize("dtype", [*REAL, np.complex64], ids=name_of)
def test_matches_of_every_type(rng, dtype):
    @cuda.jit
    def match(x, out, same):
        i = cuda.laneid
        out[i] = cuda.match_any_sync(FULL, x[i])
        same[i, 0], agree = cuda.match_all_sync(FULL, x[i])
        same[i, 1] = agree

    x = values(rng, dtype, 3)[rng.integers(0, 3, 32)]
    out, same = np.zeros(32, np.uint32), np.zeros((32, 2), np.int64)
    match[1, 32](x, out, same)
    expected = [sum(1 << j for j in range(32) if x[j] == x[i]) for i in range(32)]
    assert out.tolist() == expected
    all_same = len(set(x.tolist())) == 1
    assert same.tolist() == [[-1 if all_same else 0, all_same]] * 32
    match[1, 32](np.full(32, x[0]), out, same)
    assert same.tolist() == [[-1, 1]] * 32


# --- reductions -------------------------------------------------------------------------------------------------------

MASKS = [FULL, 0x0000FFFF, 0x80000001, 0x00F0F0A1, 0x00000010, 0x7FFFFFFE]


def reduced(name, x, mask):
    """In every lane of the mask; others keep 0."""
    scope = {"cuda": cuda}
    exec(f"def kernel(x, out, mask):\n    i = cuda.laneid\n    if (mask >> i) & 1:\n"
         f"        out[i] = cuda.reduce_{name}_sync(mask, x[i])\n", scope)
    out = np.zeros_like(x)
    cuda.jit(scope["kernel"])[1, 32](x, out, mask)
    return out


@pytest.mark.parametrize("dtype", INTEGERS, ids=name_of)
@pytest.mark.parametrize("name", ["add", "min", "max", "and", "or", "xor"])
def test_reductions_of_integers(rng, name, dtype):
    combine = {"add": operator.add, "min": min, "max": max, "and": operator.and_, "or": operator.or_,
               "xor": operator.xor}[name]
    for mask in MASKS:
        x = values(rng, dtype)
        taking_part = [i for i in range(32) if mask >> i & 1]
        total = functools.reduce(combine, (int(x[i]) for i in taking_part))
        expected = np.zeros(32, dtype)
        expected[taking_part] = np.array([total & (2**64 - 1)], np.uint64).astype(dtype)
        np.testing.assert_array_equal(reduced(name, x, mask), expected)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.complex64, np.complex128], ids=name_of)
def test_sums_of_floats(rng, dtype):
    tolerance = 0.03 if dtype == np.float16 else 1e-5
    for mask in MASKS:
        x = values(rng, dtype)
        taking_part = [i for i in range(32) if mask >> i & 1]
        got = reduced("add", x, mask)
        np.testing.assert_allclose(got[taking_part], x[taking_part].astype(np.complex128).sum(), atol=tolerance)
        assert len(set(got[taking_part].tolist())) == 1


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64], ids=name_of)
def test_extremes_of_floats(rng, dtype):
    for mask in MASKS:
        x = values(rng, dtype)
        taking_part = [i for i in range(32) if mask >> i & 1]
        assert (reduced("min", x, mask)[taking_part] == x[taking_part].min()).all()
        assert (reduced("max", x, mask)[taking_part] == x[taking_part].max()).all()


def test_reductions_of_booleans(rng):
    x = values(rng, np.bool_)
    for mask in MASKS:
        taking_part = [i for i in range(32) if mask >> i & 1]
        assert (reduced("and", x, mask)[taking_part] == x[taking_part].all()).all()
        assert (reduced("or", x, mask)[taking_part] == x[taking_part].any()).all()


def reduce_word(x, out):
    i = cuda.laneid
    out[i] = cuda.reduce_max_sync(FULL, x[i]) + cuda.reduce_add_sync(mask=FULL, value=x[i])


def test_reduction_is_one_instruction_where_there_is_one():
    old, new = (cuda.compile_ptx(reduce_word, "void(int32[::1], int64[::1])", cc=cc)[0] for cc in [(7, 5), (8, 0)])
    assert "redux.sync.max.s32" in new and "redux.sync.add" in new and "shfl" not in new
    assert "redux" not in old and "shfl.sync.idx" in old


def test_both_branches_ask_who_is_active():
    @cuda.jit
    def kernel(out):
        i = cuda.threadIdx.x
        if i % 2:
            out[i] = cuda.activemask()
        else:
            out[i] = cuda.activemask()

    out = np.zeros(32, np.uint32)
    kernel[1, 32](out)
    assert out.tolist() == [0x55555555, 0xAAAAAAAA] * 16
