"""cuda.random: xoroshiro128+ beside Python's integers, Philox beside the known answers of its authors."""
import math

import numpy as np
import pytest

from cujit import cuda
from cujit.cuda import random

WORDS = 2**64 - 1


def advanced(a, b):
    def rotated(x, k):
        return (x << k | x >> 64 - k) & WORDS

    return rotated(a, 55) ^ a ^ b ^ ((a ^ b) << 14 & WORDS), rotated(a ^ b, 36)


def jumped(a, b):
    s = t = 0
    for word in random.JUMP:
        for bit in range(64):
            if word >> bit & 1:
                s, t = s ^ a, t ^ b
            a, b = advanced(a, b)
    return s, t


def words(states):
    return np.ascontiguousarray(states.copy_to_host()).view(np.uint64).reshape(-1, 2).tolist()


# --- xoroshiro128+ ----------------------------------------------------------------------------------------------------


def test_states_on_the_host_and_by_jumps_in_a_kernel():
    @cuda.jit
    def make(states, seed):
        i = cuda.grid(1)
        random.init_xoroshiro128p_state(states, i, seed)
        for _ in range(i):
            random.xoroshiro128p_jump(states, i)

    expected = random.create_xoroshiro128p_states(7, seed=12345)
    states = random.create_xoroshiro128p_states(7, seed=0)
    make[1, 7](states, 12345)
    assert words(states) == words(expected)
    a, b = words(expected)[0]
    assert words(expected)[1] == list(jumped(a, b))


def test_next_returns_the_sum_and_advances():
    @cuda.jit
    def draw(states, out):
        i = cuda.grid(1)
        out[i] = random.xoroshiro128p_next(states, i)

    states = random.create_xoroshiro128p_states(4, seed=3)
    before, out = words(states), np.zeros(4, np.uint64)
    draw[1, 4](states, out)
    assert out.tolist() == [a + b & WORDS for a, b in before]
    assert words(states) == [list(advanced(a, b)) for a, b in before]


def test_far_subsequences_cost_no_walk():
    far = random.create_xoroshiro128p_states(3, seed=5, subsequence_start=10**15)
    near = random.create_xoroshiro128p_states(1, seed=5, subsequence_start=10**15 + 2)
    assert words(far)[2:] == words(near)


def test_states_in_a_numpy_array():
    states = np.zeros(5, random.xoroshiro128p_dtype)
    random.init_xoroshiro128p_states_cpu(states, 7, 3)
    assert (states == random.create_xoroshiro128p_states(5, 7, 3).copy_to_host()).all()


@pytest.mark.parametrize("count", [0, 1, 2, 3, 100, 1000])
def test_any_number_of_states(count):
    states = random.create_xoroshiro128p_states(count, seed=8)
    assert states.shape == (count,) and len({tuple(pair) for pair in words(states)}) == count


def test_negative_subsequence_is_refused():
    with pytest.raises(ValueError, match="negative"):
        random.create_xoroshiro128p_states(1, seed=5, subsequence_start=-1)


# --- Philox -----------------------------------------------------------------------------------------------------------

# Counter, key and result of philox4x32 with 10 rounds: the known answers published with Random123.
KNOWN = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    ((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0),
     (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)),
]


@pytest.mark.parametrize("counter, key, expected", KNOWN)
def test_philox_known_answers(counter, key, expected):
    @cuda.jit
    def run(c, k, out):
        x = random.philox4x32(c[0], c[1], c[2], c[3], k[0], k[1])
        for i in range(4):
            out[i] = x[i]

    out = np.zeros(4, np.uint32)
    run[1, 1](np.array(counter, np.uint32), np.array(key, np.uint32), out)
    assert out.tolist() == list(expected)


def test_philox_counts_sequence_and_offset():
    """seed is the key, offset the lower half of the counter, sequence its upper half."""
    counter, key, expected = KNOWN[2]

    @cuda.jit
    def run(seed, sequence, offset, out):
        x = random.philox_uint32x4(seed, sequence, offset)
        for i in range(4):
            out[i] = x[i]

    out = np.zeros(4, np.uint32)
    run[1, 1](np.uint64(key[1] << 32 | key[0]), np.uint64(counter[3] << 32 | counter[2]),
              np.uint64(counter[1] << 32 | counter[0]), out)
    assert out.tolist() == list(expected)


@cuda.jit
def draw_each(seed, words, uniform32, uniform64, normal32, normal64):
    i = cuda.grid(1)
    a, b, c, d = random.philox_uint32x4(seed, i, 7)
    words[i, 0], words[i, 1], words[i, 2], words[i, 3] = a, b, c, d
    f, g = random.philox_uniform_float32x4(seed, i, 7), random.philox_normal_float32x4(seed, i, 7)
    h, k = random.philox_uniform_float64x2(seed, i, 7), random.philox_normal_float64x2(seed, i, 7)
    for lane in range(4):
        uniform32[i, lane], normal32[i, lane] = f[lane], g[lane]
    for lane in range(2):
        uniform64[i, lane], normal64[i, lane] = h[lane], k[lane]


def test_philox_distributions():
    n = 4096
    words, uniform32, normal32 = (np.zeros((n, 4), t) for t in (np.uint32, np.float32, np.float32))
    uniform64, normal64 = np.zeros((n, 2)), np.zeros((n, 2))
    draw_each[n // 128, 128](99, words, uniform32, uniform64, normal32, normal64)
    np.testing.assert_array_equal(uniform32, ((words >> 8) * 2.0**-24).astype(np.float32))
    wide = words.astype(np.uint64)
    np.testing.assert_array_equal(uniform64, ((wide[:, ::2] << 32 | wide[:, 1::2]) >> 11) * 2.0**-53)
    for u, normal, tolerance in (uniform32, normal32, 1e-4), (uniform64, normal64, 1e-11):
        u = u.astype(np.float64)
        radius, angle = np.sqrt(-2 * np.log(1 - u[:, ::2])), 2 * math.pi * u[:, 1::2]
        np.testing.assert_allclose(normal[:, ::2], radius * np.cos(angle), atol=tolerance)
        np.testing.assert_allclose(normal[:, 1::2], radius * np.sin(angle), atol=tolerance)
        assert abs(normal.mean()) < 0.05 and abs(normal.var() - 1) < 0.06 and abs(u.mean() - 0.5) < 0.02
    assert np.unique(words).size > 0.999 * words.size


def test_philox_single_values_are_the_first_of_the_offset():
    @cuda.jit
    def run(out):
        out[0] = random.philox_uniform_float32(1, 2, 3) == random.philox_uniform_float32x4(1, 2, 3)[0]
        out[1] = random.philox_uniform_float64(1, 2, 3) == random.philox_uniform_float64x2(1, 2, 3)[0]
        out[2] = random.philox_normal_float32(1, 2, 3) == random.philox_normal_float32x4(1, 2, 3)[0]
        out[3] = random.philox_normal_float64(1, 2, 3) == random.philox_normal_float64x2(1, 2, 3)[0]

    out = np.zeros(4, np.int32)
    run[1, 1](out)
    assert out.tolist() == [1, 1, 1, 1]
