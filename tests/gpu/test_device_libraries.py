"""NVIDIA's libraries for code in kernels: CUB's block reduction, as CUDA C that NVRTC compiles."""
import numpy as np
import pytest

from cujit import _core, cuda
from cujit.errors import LinkerError

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(_core.gpu_count() == 0, reason="needs a GPU")]
THREADS = 128


CUB = """
#include <cub/block/block_reduce.cuh>
extern "C" __device__ double block_sum(double x)
{
    using Reduce = cub::BlockReduce<double, %d>;
    __shared__ typename Reduce::TempStorage memory;
    return Reduce(memory).Sum(x);
}
"""


def test_cubs_block_reduction_in_a_kernel():
    block_sum = cuda.declare_device("block_sum", "double (double x)", link=cuda.CUSource(CUB % THREADS), abi="c")

    @cuda.jit
    def kernel(x, out):
        total = block_sum(x[cuda.grid(1)])
        if cuda.threadIdx.x == 0:
            out[cuda.blockIdx.x] = total

    x, out = np.arange(4.0 * THREADS), cuda.device_array(4)
    try:
        kernel[4, THREADS](cuda.to_device(x), out)
    except LinkerError as error:
        if "cannot open source file" in str(error) or "is needed" in str(error):
            pytest.skip(f"NVRTC or CUB's headers are not installed: {error}")
        raise
    assert (out.copy_to_host() == x.reshape(4, THREADS).sum(1)).all()
