"""What ptxas gets wrong (codegen/nvptx/ptxas_fault.def) is not in the PTX, and results are right: on a GPU, its own."""
import re
from pathlib import Path

import numpy as np
import pytest

from cujit import cuda, int64, types, uint8, uint32, uint64, void

ROOT = Path(__file__).parents[3]
TABLE = ROOT / "codegen/nvptx/ptxas_fault.def"
DIVISORS = [*range(2, 40), 49, 60, 100, 125, 255, 256, 641, 1000, 1023, 1 << 20, 6700417, (1 << 31) - 1]


def test_every_row_has_a_test():
    rows = re.findall(r"^(?:REWRITTEN|NOT_EMITTED)\((\w+),", TABLE.read_text(), re.M)
    assert rows
    for row in rows:
        assert f"test_{row}" in globals(), row


def wide_differences(text):
    """The differences in 64 bits of widened words, in LLVM's text."""
    words = set(re.findall(r"(%\w+) = zext (?:nneg )?i32 ", text))
    found = re.findall(r"= sub (?:nuw |nsw )*i64 (%\w+), (%\w+)", text)
    return [pair for pair in found if words.issuperset(pair)]


def differences(divisor, narrow):
    """Of quotients and what was divided, in all ways in which a high word of a product comes into a difference."""
    def kernel(x, out, rounds):
        t = cuda.threadIdx.x
        a = narrow(x[t])
        b = t // divisor - t                            # what ranges prove
        c = int64(a // narrow(divisor)) - int64(a)      # what they do not
        d = int64(uint32(uint64(a) * uint64(divisor) >> uint64(32))) - int64(uint32(a))
        shared = cuda.shared.array(64, int64)
        shared[t] = 0
        for i in range(rounds):
            cuda.syncthreads()
            shared[t] ^= b + i
            cuda.syncthreads()
            shared[t] += c
            cuda.syncthreads()
        out[t, 0] = shared[t]
        out[t, 1] = d
        out[t, 2] = b

    return kernel


def expected(x, divisor, rounds):
    out = np.zeros((x.size, 3), np.int64)
    for t, value in enumerate(map(int, x)):
        b, c, kept = t // divisor - t, value // divisor - value, 0
        for i in range(rounds):
            kept = (kept ^ b + i) + c
        out[t] = kept, (value * divisor >> 32 & 0xffffffff) - value, b
    return out


@pytest.mark.parametrize("narrow, dtype", [(uint32, np.uint32), (uint8, np.uint8)], ids=["uint32", "uint8"])
@pytest.mark.parametrize("divisors", [DIVISORS[i::8] for i in range(8)], ids=str)
def test_high_word(divisors, narrow, dtype):
    x = np.array([0, 1, 2, 99, np.iinfo(dtype).max, np.iinfo(dtype).max - 1, 7, 0] * 8, dtype)
    for divisor in divisors:
        if divisor > np.iinfo(dtype).max:
            continue
        kernel = differences(divisor, narrow)
        signature = narrow[::1], int64[:, ::1], int64
        for cc in [(7, 5), (9, 0)]:
            ptx, _ = cuda.compile_ptx(kernel, void(*signature), cc=cc)
            assert not re.search(r"(mul|mad)\.hi\.u32", ptx), divisor
            text = cuda.jit(kernel).inspect("nvvm", signature, 10 * cc[0] + cc[1])  # libNVVM makes the code
            assert " sub " in text and not wide_differences(text), divisor
        out = np.zeros((x.size, 3), np.int64)
        cuda.jit(kernel)[1, x.size](x, out, 3)
        assert (out == expected(x, divisor, 3)).all(), divisor


def test_high_word_of_product():
    """No high word of a product of 32 bits is asked for: ptxas joins it with a difference, through a sum as well."""
    def kernel(x, y, out, rounds):
        t = cuda.threadIdx.x
        a, b, shared = x[t], y[t], cuda.shared.array(64, int64)
        shared[t] = 0
        for i in range(rounds):
            cuda.syncthreads()
            shared[t] += (int64(uint32(a) // uint32(641)) + 768) - b
            shared[t] ^= int64(cuda.mulhi(uint32(a), uint32(i + 3))) - int64(uint32(b))
        out[t] = shared[t]

    for cc in [(7, 5), (8, 0), (9, 0), (10, 0), (12, 0)]:
        for optimized in True, False:
            ptx, _ = cuda.compile_ptx(kernel, void(int64[::1], int64[::1], int64[::1], int64), cc=cc, opt=optimized)
            assert ptx.count("mul.wide.u32 \t%wide") >= 1 and not re.search(r"(mul|mad)\.hi\.u32|div\.u32", ptx), ptx
    x, y, out = np.arange(64) * 641, np.arange(64) % 3 << 32, np.zeros(64, np.int64)
    want = np.zeros(64, np.int64)
    for i in range(5):
        want = (want + x // 641 + 768 - y) ^ ((x * (i + 3) >> 32) - (y & 0xFFFFFFFF))
    cuda.jit(kernel)[1, 64](x, y, out, 5)
    assert (out == want).all()


def test_shifted_negative():
    """No negative is shifted to the right: ptxas negates what is left of the number."""
    def kernel(x, out):
        t = cuda.threadIdx.x
        i = cuda.grid(1)
        out[t, 0] = -t // 2 + (t & x[t])
        out[t, 1] = -(i % 64) // 16 + x[t]
        out[t, 2] = (t - 2 * t >> 3) + x[t]
        out[t, 3] = int64(uint32(-t) >> uint32(4)) + x[t]

    signature = void(int64[::1], int64[:, ::1])
    for cc in [(7, 5), (9, 0)]:
        ptx, _ = cuda.compile_ptx(kernel, signature, cc=cc)
        negative = set(re.findall(r"neg\.s\d+\s+(%\w+),", ptx))
        shifted = re.findall(r"shr\.\w+\s+%\w+, (%\w+),", ptx)
        assert shifted and not negative & set(shifted), ptx
    x, out, t = np.arange(64) * 37 % 101, np.zeros((64, 4), np.int64), np.arange(64)
    cuda.jit(kernel)[1, 64](x, out)
    want = [-t // 2 + (t & x), -t // 16 + x, (-t >> 3) + x, ((-t & 0xFFFFFFFF) >> 4) + x]
    assert (out == np.array(want).T).all()


PACKED = np.dtype([("d", "f8"), ("f", "f4"), ("h", "f2"), ("ok", "?")])


def test_byte_of_float():
    """No byte is stored from a register that a float was computed in."""
    def change(a):
        i = cuda.grid(1)
        a[i].d *= 2
        a[i].f += 1
        a[i].h *= a[i].h
        a[i].ok = not a[i].ok

    ptx, _ = cuda.compile_ptx(change, void(types.from_dtype(PACKED)[::1]), cc=(9, 0))
    floats = set(re.findall(r"(?:add|mul|fma)[.\w]*\.f(?:16|32|64)\s+(%\w+)", ptx))
    stored = re.findall(r"st\.global\.b8\s+\[[^]]*\], (%\w+)", ptx)
    assert floats and len(stored) == 15 and not floats & set(stored)
    rows = np.zeros(8, PACKED)
    rows["d"], rows["f"], rows["h"] = np.arange(24).reshape(3, 8) / 4
    want = [rows["d"] * 2, rows["f"] + np.float32(1), rows["h"] * rows["h"], ~rows["ok"]]
    cuda.jit(change)[1, 8](rows)
    assert all((rows[name] == column).all() for name, column in zip(PACKED.names, want, strict=True))
