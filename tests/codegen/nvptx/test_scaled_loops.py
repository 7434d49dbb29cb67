"""Loops whose variable is doubled or halved are written out on a GPU: all that is made of it is a number then."""
import re

import numpy as np
import pytest

from cujit import cuda, float32, int32

X = float32[::1]

CHANGES = {
    "doubled": ("half = 1", "half < 512", "half *= 2", 9),
    "shifted left": ("half = 3", "half <= 48", "half <<= 1", 5),
    "halved": ("half = 256", "half > 0", "half //= 2", 9),
    "shifted right": ("half = 81", "half", "half >>= 1", 7),
    "by three": ("half = 1", "half < 243", "half *= 3", 5),
    "until": ("half = 64", "not half < 2", "half //= 2", 6),
}

# Quotients and remainders are by what is known only when the loop is written out.
BODY = """
        j = t % half
        low = t // half
        x[low] = x[j] * x[low + half] + x[j + 2 * half]
        x[j] = x[low] * x[j + half] - x[low + 2 * half]
        cuda.syncthreads()
"""


def make(start, test, change, body=BODY):
    lines = f"def kernel(x, n):\n    t = cuda.threadIdx.x\n    {start}\n    while {test}:{body}        {change}\n"
    namespace = {"cuda": cuda, "np": np, "int32": int32}
    exec(lines, namespace)
    return namespace["kernel"]


def is_marked(kernel, *types):
    return "!unroll" in cuda.jit(kernel).inspect("unroll", types, 90)


def barriers(kernel, *types):
    return len(re.findall(r"\bbar\.sync", cuda.jit(kernel).inspect("asm", types, 90)))


@pytest.mark.parametrize("change", CHANGES)
def test_written_out(change):
    *parts, trips = CHANGES[change]
    kernel = make(*parts)
    assert is_marked(kernel, X, int32)
    assert barriers(kernel, X, int32) == trips


def test_butterflies():
    assert barriers(butterflies, X, X) == 1 + 6


@pytest.mark.parametrize("parts", [
    ("half = n", "half > 0", "half //= 2"),
    ("half = 1", "half < n", "half *= 2"),
    ("half = 1", "half < 512", "half *= n"),
    ("half = 0", "half < 512", "half *= 2"),
    ("half = 1", "half < 512", "half = half * 2 + n"),
    ("half = -64", "half < -1", "half //= 2"),
    ("half = 1", "half < 1 << 40", "half *= 2"),
], ids=lambda parts: " ".join(parts))
def test_left_as_they_are(parts):
    assert not is_marked(make(*parts), X, int32)


def test_too_much_to_write_out():
    body = "".join(f"\n        x[t + {i}] = (x[t + half] + {i}) / (1 + x[t])" for i in range(12))
    body += "\n        cuda.syncthreads()\n"
    assert not is_marked(make(*CHANGES["doubled"][:3], body), X, int32)


def butterflies(x, out):
    part = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    for k in range(2):
        part[t + 32 * k] = x[t + 32 * k]
    cuda.syncthreads()
    half = 1
    while half < 64:
        low = t // half * 2 * half + t % half
        a, b = part[low], part[low + half]
        part[low], part[low + half] = a + b, a - b
        cuda.syncthreads()
        half *= 2
    half = 32
    while half:
        out[t % half] = part[t % half]
        out[t % half + half] = part[t % half + half]
        half >>= 1


def test_values():
    x = np.random.default_rng(8).integers(0, 9, 64).astype(np.float32)
    out = np.zeros(64, np.float32)
    cuda.jit(butterflies)[1, 32](x, out)
    signs = np.array([[(-1) ** (i & j).bit_count() for i in range(64)] for j in range(64)])
    np.testing.assert_array_equal(out, signs @ x)
