"""The float16 matmul of examples/tensor_matmul.py beside cuBLAS (through CuPy), in TFLOP/s.

    python benchmarks/tensor_matmul.py [sizes ...]

Medians over launches, timed by events. Needs a GPU of compute capability 8.0; without CuPy only cujit is timed."""
import sys
from pathlib import Path

import numpy as np
from peers import available
from timing import median_kernel_ms, print_table

from cujit import cuda

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
import tensor_matmul  # noqa: E402


def cublas_ms(peer, a, b):
    x, y = peer.put(a), peer.put(b)
    out = peer.cupy.empty((x.shape[0], y.shape[1]), np.float16)
    return median_kernel_ms(peer, lambda: peer.cupy.matmul(x, y, out=out))


def row(peers, size):
    rng = np.random.default_rng(1)
    a, b = (rng.normal(size=(size, size)).astype(np.float16) for _ in range(2))
    x, y, out = cuda.to_device(a), cuda.to_device(b), cuda.device_array((size, size), np.float32)
    ours = median_kernel_ms(peers["cujit"], lambda: tensor_matmul.matmul(x, y, out))
    theirs = cublas_ms(peers["CuPy RawKernel"], a, b) if "CuPy RawKernel" in peers else None
    rows = rng.integers(0, size, 8)
    np.testing.assert_allclose(out.copy_to_host()[rows], a[rows].astype(np.float32) @ b.astype(np.float32), rtol=1e-2,
                               atol=1e-1)
    flops = 2 * size ** 3 / 1e9
    return [str(size), flops / ours, flops / theirs if theirs else None, ours / theirs if theirs else None]


def main(sizes):
    if cuda.get_current_device().kind == "cpu":
        raise SystemExit("there is no GPU")
    peers, _ = available(("cujit", "CuPy RawKernel"))
    print_table("float16 matmul, TFLOP/s", ["m = n = k", "cujit", "cuBLAS", "time over cuBLAS"],
                [row(peers, size) for size in sizes])


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]] or [1024, 4096, 8192])
