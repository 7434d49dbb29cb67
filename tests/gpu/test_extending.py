"""PTX of the program's on a GPU, with what the CPU device cannot have; and conversions to fp8 beside numba's."""
import numpy as np
import pytest

from cujit import cuda
from cujit.cuda import fp8
from cujit.extending import asm

pytestmark = pytest.mark.gpu

lane = asm("mov.u32 %0, %laneid;", "uint32()", pure=True)
store = asm("st.global.f32 [%0], %1;", "void(uint64, float32)")
load = asm("ld.global.f32 %0, [%1];", "float32(uint64)")
total = asm("redux.sync.add.s32 %0, %1, 0xffffffff;", "int32(int32)")


def test_registers_of_the_thread():
    @cuda.jit
    def kernel(out):
        out[cuda.grid(1)] = lane()

    out = np.zeros(96, np.int32)
    kernel[1, 96](out)
    np.testing.assert_array_equal(out, np.arange(96) % 32)


def test_memory_by_addresses():
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        store(out.ctypes.data + 4 * i, 2 * load(x.ctypes.data + 4 * i))

    x, out = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    kernel[2, 32](x, out)   # a host array that only PTX writes is copied back
    np.testing.assert_array_equal(out, 2 * x)


@pytest.mark.skipif(cuda.is_available() and cuda.get_current_device().compute_capability < (8, 0), reason="sm_80")
def test_collectives():
    @cuda.jit
    def kernel(out):
        out[cuda.grid(1)] = total(cuda.threadIdx.x)

    out = np.zeros(32, np.int32)
    kernel[1, 32](out)
    assert set(out) == {496}


def test_fp8_beside_numba(monkeypatch):
    monkeypatch.setattr(np, "row_stack", np.vstack, raising=False)   # numba-cuda asks NumPy 2.5 for it
    numba_cuda = pytest.importorskip("numba.cuda")
    theirs = pytest.importorskip("numba.cuda._internal.cuda_fp8")
    rng = np.random.default_rng(5)
    x = np.concatenate([rng.standard_normal(4000) * 10.0 ** rng.integers(-7, 6, 4000),
                        [0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan]]).astype(np.float32)

    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            for k in range(4):
                out[i, k] = fp8.cvt_float_to_fp8(x[i], k & 1, k >> 1)

    ours, other = np.zeros((2, x.size, 4), np.uint8)
    kernel[64, 64](x, ours)
    sat, kind = theirs.saturation_t, theirs.fp8_interpretation_t
    their_float, convert, count = numba_cuda.float32, theirs.cvt_float_to_fp8, numba_cuda.grid

    @numba_cuda.jit
    def numbas(x, out):
        i = count(1)
        if i < x.size:
            out[i, 0] = convert(their_float(x[i]), sat.NOSAT, kind.E4M3)
            out[i, 1] = convert(their_float(x[i]), sat.SATFINITE, kind.E4M3)
            out[i, 2] = convert(their_float(x[i]), sat.NOSAT, kind.E5M2)
            out[i, 3] = convert(their_float(x[i]), sat.SATFINITE, kind.E5M2)

    numbas[64, 64](x, other)
    wrong = [(float(x[i]), ours[i].tolist(), other[i].tolist()) for i in range(x.size) if (ours[i] != other[i]).any()]
    assert not wrong, wrong[:10]
