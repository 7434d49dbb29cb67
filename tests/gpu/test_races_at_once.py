"""Two threads write to one place at the very same time: the shadow's two words may come from one each."""
import numpy as np
import pytest

from cujit import cuda, errors, float64, int8, int32

pytestmark = [pytest.mark.gpu,
              pytest.mark.skipif(cuda.get_current_device().kind == "cpu", reason="needs a GPU")]
LAUNCHES = 300


@cuda.jit(check="race")
def lanes(out):
    i = cuda.threadIdx.x
    small = out.view(int8)
    if i == 0:
        out[2] = 1.5
    elif i == 1:
        small[19] = 3


@cuda.jit(check="race")
def warps(out):
    if cuda.threadIdx.x % 32 == 0:
        out[2] = cuda.threadIdx.x


@cuda.jit(check="race")
def blocks(out):
    if cuda.threadIdx.x == 0:
        out[2] = cuda.blockIdx.x


@pytest.mark.parametrize("kernel, dtype, grid, threads", [(lanes, float64, 1, 32), (warps, int32, 1, 64),
                                                          (blocks, int32, 2, 32)])
def test_each_launch_finds_it(kernel, dtype, grid, threads):
    out = cuda.to_device(np.zeros(8, dtype=np.dtype(str(dtype))))
    found = 0
    for _ in range(LAUNCHES):
        try:
            kernel[grid, threads](out)
            cuda.synchronize()
        except errors.RaceError:
            found += 1
    assert found == LAUNCHES
