"""Kernels as LTO-IR that libNVVM has made, linked and run: the same results as the PTX that cujit makes by itself."""
import math

import numpy as np
import pytest
from test_link import machine

from cujit import _core, cuda, types
from cujit.cuda._link import toolkit
from cujit.errors import LinkerError
from cujit.types import bfloat16, complex64, float16, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(_core.gpu_count() == 0, reason="needs a GPU")]


def has_libraries():
    toolkit.find()
    try:
        cuda.compile(lambda x: x, (int32,), cc=(9, 0), output="ltoir")
        _core.link((cuda.PTXSource(".version 7.8\n.target sm_90\n.address_size 64\n"),), 90)
    except LinkerError as error:
        return error.code != "TOOLKIT_MISSING"
    return True


pytestmark.append(pytest.mark.skipif(not has_libraries(), reason="libNVVM or nvJitLink is not installed"))


def elementary(x, out):
    i = cuda.grid(1)
    v = x[i]
    out[i] = (math.sin(v) + math.exp(v) * math.log(v) + math.sqrt(v) / (v + 1) + math.tanh(v) + v ** 2.5
              + math.atan2(v, 2.0) + math.erf(v) + math.lgamma(v) + math.fmod(v, 0.3) + math.hypot(v, 1.0))


def integers(a, b, out):
    i = cuda.grid(1)
    x, y = a[i], b[i]
    out[i] = (min(x, y) + max(x, 3) + abs(x) + x // y + x % y + (x << (y & 7)) + (x >> 3) + (x > y) - (x < y)
              + cuda.popc(x) + cuda.clz(x) + cuda.ffs(y) + cuda.brev(x))


def unsigned(a, b, out):
    i = cuda.grid(1)
    x, y = a[i], b[i]
    out[i] = (cuda.funnelshift_l(x, y, x) ^ cuda.funnelshift_r(x, y, y) ^ cuda.mulhi(x, y)
              ^ cuda.byte_perm(x, y, 0x5410) ^ (x - y if x > y else uint32(0)) ^ cuda.sad(x, y, x))


def to_integers(x, narrow, wide):
    i = cuda.grid(1)
    narrow[i] = int8(x[i])
    wide[i] = int64(x[i]) + int32(x[i]) + uint32(abs(x[i]))


def shared_sum(x, out):
    tile = cuda.shared.array(128, float64)
    i, t = cuda.grid(1), cuda.threadIdx.x
    tile[t] = x[i]
    cuda.syncthreads()
    step = 64
    while step:
        if t < step:
            tile[t] += tile[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        cuda.atomic.add(out, 0, tile[0])
        cuda.atomic.max(out, 1, tile[0])


def warps(x, out):
    i = cuda.grid(1)
    total = x[i]
    for k in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(-1, total, k)
    lanes = cuda.ballot_sync(-1, x[i] % 3 == 0)
    out[i] = (cuda.shfl_sync(-1, total, 0) + cuda.popc(lanes) + cuda.match_any_sync(-1, x[i] % 4)
              + cuda.syncthreads_count(x[i] > 5) + cuda.any_sync(-1, x[i] > 100) + cuda.dp4a(int32(x[i]), int32(i), 1))


def atomics(counts, small, old):
    i = cuda.grid(1)
    cuda.atomic.add(counts, i % 7, 1)
    cuda.atomic.sub(counts, 8, i)
    cuda.atomic.max(counts, 9, i, scope="block")
    cuda.atomic.or_(counts, 10, 1 << (i % 31), order="acq_rel", scope="system")
    cuda.atomic.add(small, i % 5, 3)
    cuda.atomic.max(small, 6, i % 50)
    old[i] = cuda.atomic.cas(small, 32 + i, 0, i % 100)


def switched(x, out):
    i = cuda.grid(1)
    match x[i] % 7:
        case 0:
            out[i] = x[i] * 2
        case 1 | 4:
            out[i] = -x[i]
        case 5:
            out[i] = x[i] * x[i] + i
        case _:
            out[i] = 100


def complexes(z, out):
    i = cuda.grid(1)
    out[i] = z[i] * z[i].conjugate() / (z[i] + 1) + abs(z[i])


def halves(h, words, out):
    i = cuda.grid(1)
    b = words.view(bfloat16)
    h[i] = -abs(h[i]) * h[i] + math.sqrt(abs(h[i]))
    b[i] = -abs(b[i]) * b[i] + math.copysign(b[i], -b[i])
    out[i] = max(h[i], float16(0.5)) + float32(b[i])


def locals_(x, out):
    i = cuda.grid(1)
    local = cuda.local.array(8, float32)
    for k in range(8):
        local[k] = x[i] * k
    pair = (x[i], i)
    for k in range(i % 8):
        pair = (pair[0] + local[(k * 3) % 8], pair[1] + 1)
    out[i] = pair[0] + pair[1]


N = 256
RANDOM = np.random.default_rng(3)


def wave(dtype=np.float32):
    return np.linspace(0.1, 5, N).astype(dtype)


def whole(dtype, low=-1000):
    return RANDOM.integers(low, 1000, N).astype(dtype)


def zeros(dtype, n=N):
    return np.zeros(n, dtype)


KERNELS = {
    "elementary32": (elementary, (float32, float32), lambda: (wave(), zeros(np.float32))),
    "elementary64": (elementary, (float64, float64), lambda: (wave(np.float64), zeros(np.float64))),
    "integers": (integers, (int64,) * 3, lambda: (whole(np.int64), whole(np.int64, 1), zeros(np.int64))),
    "integers32": (integers, (int32,) * 3, lambda: (whole(np.int32), whole(np.int32, 1), zeros(np.int32))),
    "unsigned": (unsigned, (uint32,) * 3,
                 lambda: (whole(np.uint32, 0) << 20, whole(np.uint32, 0) << 18, zeros(np.uint32))),
    "to_integers": (to_integers, (float32, int8, int64),
                    lambda: (np.linspace(-120, 120, N).astype(np.float32), zeros(np.int8), zeros(np.int64))),
    "shared_sum": (shared_sum, (float64, float64), lambda: (np.arange(N, dtype=np.float64), zeros(np.float64, 2))),
    "warps": (warps, (int64, int64), lambda: (whole(np.int64, 0), zeros(np.int64))),
    "atomics8": (atomics, (int64, uint8, uint8), lambda: (zeros(np.int64, 16), zeros(np.uint8, 300), zeros(np.uint8))),
    "atomics16": (atomics, (int64, int16, int16), lambda: (zeros(np.int64, 16), zeros(np.int16, 300), zeros(np.int16))),
    "atomics32": (atomics, (int32, uint32, uint32),
                  lambda: (zeros(np.int32, 16), zeros(np.uint32, 300), zeros(np.uint32))),
    "switched": (switched, (int64, int64), lambda: (whole(np.int64, 0), zeros(np.int64))),
    "complexes": (complexes, (complex64, complex64), lambda: ((wave() + 1j).astype(np.complex64), zeros(np.complex64))),
    "halves": (halves, (float16, uint16, float32),
               lambda: (wave(np.float16), (wave().view(np.uint32) >> 16).astype(np.uint16), zeros(np.float32))),
    "locals": (locals_, (float32, float32), lambda: (wave(), zeros(np.float32))),
}


def by_lto(function, signature, options):
    """The kernel's machine code, by way of LTO-IR; its parameters are pointers and extents."""
    sm = machine()
    code, _ = cuda.compile(function, signature, device=False, abi="numba", cc=(sm // 10, sm % 10), output="ltoir",
                           **options)
    cubin, _ = _core.link((cuda.LTOIR(code),), sm, lto=True)
    return cuda.RawModule(code=cubin).get_function(function.__name__)


@pytest.mark.parametrize("options", [{}, {"opt": False}], ids=["", "O0"])
@pytest.mark.parametrize("name", KERNELS)
def test_linked_kernels_compute_the_same(name, options):
    function, elements, make = KERNELS[name]
    signature = types.void(*(element[::1] for element in elements))
    arrays = make()
    expected, found = [cuda.to_device(array) for array in arrays], [cuda.to_device(array) for array in arrays]
    cuda.jit(signature, check=False)(function)[2, N // 2](*expected)
    parameters = [part for array in found for part in (array, np.int64(array.size))]
    by_lto(function, signature, options)[2, N // 2](*parameters)
    cuda.synchronize()
    for array, want, got in zip(arrays, expected, found):
        want, got = want.copy_to_host(), got.copy_to_host()
        if np.issubdtype(array.dtype, np.inexact):
            np.testing.assert_allclose(got, want, rtol=1e-3 if array.dtype == np.float16 else 1e-5)
        else:
            assert got.tolist() == want.tolist()


def test_inspect_lto_ptx_is_of_the_current_device():
    kernel = cuda.jit(types.void(float32[::1], float32[::1]), check=False)(locals_)
    (text,) = kernel.inspect_lto_ptx().values()
    assert f".target sm_{machine()}" in text and text == kernel.inspect_lto_ptx("void(float32[::1], float32[::1])")
