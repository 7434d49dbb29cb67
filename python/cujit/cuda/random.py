"""Random numbers for kernels.

xoroshiro128+ keeps a state for each thread in an array, with the streams and values of numba.cuda.random. Philox
4x32-10 needs no state: a value is a function of seed, sequence and offset, so any thread can make any of them.

create_xoroshiro128p_states, init_xoroshiro128p_states and init_xoroshiro128p_states_cpu are for the host; all other
functions are for kernels.
"""
from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from cujit.cuda.devicearray import to_device
from cujit.types import float32, float64, from_dtype, int64, uint32, uint64

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cujit._annotations import Integer, StreamLike
    from cujit.cuda.devicearray import DeviceNDArray

xoroshiro128p_dtype = np.dtype([("s0", np.uint64), ("s1", np.uint64)], align=True)
xoroshiro128p_type = from_dtype(xoroshiro128p_dtype)

TWO_PI = 2 * math.pi
JUMP = (0xBEAC0467EBA5FACB, 0xD86B048B86AA9922)   # the polynomial of 2**64 steps


# --- xoroshiro128+ in kernels -----------------------------------------------------------------------------------------


def rotated_left(x: Any, count: int) -> Any:
    return (x << uint64(count)) | (x >> uint64(64 - count))


def init_xoroshiro128p_state(states: Any, index: Integer, seed: Integer) -> None:
    """Sets states[index] from a seed by a step of SplitMix64."""
    z = uint64(seed) + uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> uint64(27))) * uint64(0x94D049BB133111EB)
    z = z ^ (z >> uint64(31))
    states[int64(index)]["s0"] = z
    states[int64(index)]["s1"] = z


def xoroshiro128p_next(states: Any, index: Integer) -> int:
    """The next uint64 of states[index], which advances."""
    index = int64(index)
    s0, s1 = states[index]["s0"], states[index]["s1"]
    mixed = s0 ^ s1
    states[index]["s0"] = rotated_left(s0, 55) ^ mixed ^ (mixed << uint64(14))
    states[index]["s1"] = rotated_left(mixed, 36)
    return s0 + s1


def xoroshiro128p_jump(states: Any, index: Integer) -> None:
    """Advances states[index] by 2**64 steps."""
    index = int64(index)
    s0, s1 = uint64(0), uint64(0)
    for word in JUMP:
        for bit in range(64):
            if (uint64(word) >> uint64(bit)) & uint64(1):
                s0 ^= states[index]["s0"]
                s1 ^= states[index]["s1"]
            xoroshiro128p_next(states, index)
    states[index]["s0"] = s0
    states[index]["s1"] = s1


def uint64_to_unit_float64(x: Integer) -> float:
    """The upper 53 bits as a float64 of [0, 1)."""
    return float64(uint64(x) >> uint64(11)) * float64(2.0**-53)


def uint64_to_unit_float32(x: Integer) -> float:
    """uint64_to_unit_float64 rounded to float32: it can be 1."""
    return float32(uint64_to_unit_float64(x))


def xoroshiro128p_uniform_float32(states: Any, index: Integer) -> float:
    """A float32 of [0, 1]; states[index] advances."""
    return uint64_to_unit_float32(xoroshiro128p_next(states, index))


def xoroshiro128p_uniform_float64(states: Any, index: Integer) -> float:
    """A float64 of [0, 1); states[index] advances."""
    return uint64_to_unit_float64(xoroshiro128p_next(states, index))


def xoroshiro128p_normal_float32(states: Any, index: Integer) -> float:
    """A float32 of mean 0 and variance 1; states[index] advances by two steps."""
    u = xoroshiro128p_uniform_float32(states, index)
    v = xoroshiro128p_uniform_float32(states, index)
    return math.sqrt(float32(-2.0) * math.log(u)) * math.cos(float32(TWO_PI) * v)


def xoroshiro128p_normal_float64(states: Any, index: Integer) -> float:
    """A float64 of mean 0 and variance 1, made of two float32 as numba does; states[index] advances by two steps."""
    u = xoroshiro128p_uniform_float32(states, index)
    v = xoroshiro128p_uniform_float32(states, index)
    return math.sqrt(float64(-2.0) * math.log(u)) * math.cos(float64(TWO_PI) * v)


# --- states of xoroshiro128+, on the host -----------------------------------------------------------------------------
# A jump is linear over the bits of a state. A linear map is an array of 128 rows: what it makes of each single bit.


def step(states: NDArray[np.uint64]) -> None:
    """Advances states, an array of (n, 2) uint64."""
    s0, s1 = states[:, 0].copy(), states[:, 1].copy()
    mixed = s0 ^ s1
    states[:, 0] = (s0 << 55 | s0 >> 9) ^ mixed ^ mixed << 14
    states[:, 1] = mixed << 36 | mixed >> 28


def single_bits() -> NDArray[np.uint64]:
    bits = np.zeros((128, 2), np.uint64)
    for i in range(128):
        bits[i, i // 64] = 1 << i % 64
    return bits


@functools.cache
def jump_map() -> NDArray[np.uint64]:
    states, jumped = single_bits(), np.zeros((128, 2), np.uint64)
    for word in JUMP:
        for bit in range(64):
            if word >> bit & 1:
                jumped ^= states
            step(states)
    return jumped


def apply_map(rows: NDArray[np.uint64], states: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """What the map makes of states, byte by byte from tables of all 256 values that a byte can have."""
    result = np.zeros_like(states)
    for byte in range(16):
        table = np.zeros((256, 2), np.uint64)
        for bit in range(8):
            table[1 << bit:2 << bit] = table[:1 << bit] ^ rows[8 * byte + bit]
        result ^= table[(states[:, byte // 8] >> (8 * (byte % 8)) & 0xFF).astype(np.intp)]
    return result


def apply_jumps(states: NDArray[np.uint64], count: int) -> NDArray[np.uint64]:
    """The states `count` jumps further."""
    rows = jump_map()
    while count:
        if count & 1:
            states = apply_map(rows, states)
        rows = apply_map(rows, rows)
        count >>= 1
    return states


def first_state(seed: Integer) -> NDArray[np.uint64]:
    mask = 2**64 - 1
    z = (int(seed) + 0x9E3779B97F4A7C15) & mask
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & mask
    z = z ^ z >> 31
    return np.array([[z, z]], np.uint64)


def states_on_host(n: int, seed: Integer, subsequence_start: int) -> NDArray[np.uint64]:
    states = np.empty((n, 2), np.uint64)
    if n == 0:
        return states
    states[:1] = apply_jumps(first_state(seed), subsequence_start)
    rows, known = jump_map(), 1   # rows: as many jumps as states are known
    while known < n:
        more = min(known, n - known)
        states[known:known + more] = apply_map(rows, states[:more])
        rows = apply_map(rows, rows)
        known += more
    return states


def init_xoroshiro128p_states(states: DeviceNDArray, seed: Integer, subsequence_start: int = 0,
                              stream: StreamLike = 0) -> None:
    """Sets a device array of xoroshiro128p_dtype: element i starts 2**64 * (subsequence_start + i) steps into the
    seed's sequence, so that no two overlap."""
    states.copy_to_device(_states(len(states), seed, subsequence_start), stream=stream)


def init_xoroshiro128p_states_cpu(states: NDArray[Any], seed: Integer, subsequence_start: int = 0) -> None:
    """init_xoroshiro128p_states for a NumPy array."""
    states[:] = _states(len(states), seed, subsequence_start)


def _states(n: int, seed: Integer, subsequence_start: int) -> NDArray[Any]:
    if subsequence_start < 0:
        raise ValueError(f"subsequence_start is {subsequence_start}: it cannot be negative")
    return states_on_host(n, seed, int(subsequence_start)).view(xoroshiro128p_dtype).reshape(n)


def create_xoroshiro128p_states(n: int, seed: Integer, subsequence_start: int = 0,
                                stream: StreamLike = 0) -> DeviceNDArray:
    """A device array of n states, set by init_xoroshiro128p_states."""
    states = to_device(np.empty(n, xoroshiro128p_dtype), stream=stream)
    init_xoroshiro128p_states(states, seed, subsequence_start, stream)
    return states


# --- Philox 4x32-10 ---------------------------------------------------------------------------------------------------


def philox4x32(c0: Any, c1: Any, c2: Any, c3: Any, k0: Any, k1: Any) -> tuple[int, int, int, int]:
    """Philox 4x32-10: four uint32 from a counter of four uint32 and a key of two."""
    c0, c1, c2, c3, k0, k1 = uint32(c0), uint32(c1), uint32(c2), uint32(c3), uint32(k0), uint32(k1)
    for _ in range(10):
        a, b = uint64(c0) * uint64(0xD2511F53), uint64(c2) * uint64(0xCD9E8D57)
        c0, c1 = uint32((b >> uint64(32)) ^ c1 ^ k0), uint32(b)
        c2, c3 = uint32((a >> uint64(32)) ^ c3 ^ k1), uint32(a)
        k0, k1 = uint32(k0 + uint32(0x9E3779B9)), uint32(k1 + uint32(0xBB67AE85))
    return c0, c1, c2, c3


def philox_uint32x4(seed: Integer, sequence: Integer, offset: Integer) -> tuple[int, int, int, int]:
    """Four uint32. Seed, sequence and offset have 64 bits each: those that differ in any of them are independent."""
    seed, sequence, offset = uint64(seed), uint64(sequence), uint64(offset)
    return philox4x32(uint32(offset), uint32(offset >> uint64(32)), uint32(sequence), uint32(sequence >> uint64(32)),
                      uint32(seed), uint32(seed >> uint64(32)))


def unit_float32(x: Integer) -> float:
    """The upper 24 bits as a float32 of [0, 1)."""
    return float32(x >> uint32(8)) * float32(2.0**-24)


def wide_word(high: Integer, low: Integer) -> int:
    return (uint64(high) << uint64(32)) | uint64(low)


def normal_pair(u: Any, v: Any) -> tuple[Any, Any]:
    """Two independent normal numbers of two uniform ones of [0, 1), by Box and Muller."""
    number = type(u)
    radius = math.sqrt(number(-2.0) * math.log(number(1.0) - u))
    angle = number(TWO_PI) * v
    return radius * math.cos(angle), radius * math.sin(angle)


def philox_uniform_float32x4(seed: Integer, sequence: Integer, offset: Integer) -> tuple[float, float, float, float]:
    """Four float32 of [0, 1)."""
    a, b, c, d = philox_uint32x4(seed, sequence, offset)
    return unit_float32(a), unit_float32(b), unit_float32(c), unit_float32(d)


def philox_uniform_float64x2(seed: Integer, sequence: Integer, offset: Integer) -> tuple[float, float]:
    """Two float64 of [0, 1)."""
    a, b, c, d = philox_uint32x4(seed, sequence, offset)
    return uint64_to_unit_float64(wide_word(a, b)), uint64_to_unit_float64(wide_word(c, d))


def philox_normal_float32x4(seed: Integer, sequence: Integer, offset: Integer) -> tuple[float, float, float, float]:
    """Four float32 of mean 0 and variance 1."""
    a, b, c, d = philox_uniform_float32x4(seed, sequence, offset)
    return normal_pair(a, b) + normal_pair(c, d)


def philox_normal_float64x2(seed: Integer, sequence: Integer, offset: Integer) -> tuple[float, float]:
    """Two float64 of mean 0 and variance 1."""
    a, b = philox_uniform_float64x2(seed, sequence, offset)
    return normal_pair(a, b)


def philox_uniform_float32(seed: Integer, sequence: Integer, offset: Integer) -> float:
    """A float32 of [0, 1): the first of the four of this offset."""
    return philox_uniform_float32x4(seed, sequence, offset)[0]


def philox_uniform_float64(seed: Integer, sequence: Integer, offset: Integer) -> float:
    """A float64 of [0, 1): the first of the two of this offset."""
    return philox_uniform_float64x2(seed, sequence, offset)[0]


def philox_normal_float32(seed: Integer, sequence: Integer, offset: Integer) -> float:
    """A float32 of mean 0 and variance 1: the first of the four of this offset."""
    return philox_normal_float32x4(seed, sequence, offset)[0]


def philox_normal_float64(seed: Integer, sequence: Integer, offset: Integer) -> float:
    """A float64 of mean 0 and variance 1: the first of the two of this offset."""
    return philox_normal_float64x2(seed, sequence, offset)[0]
