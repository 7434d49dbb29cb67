"""Correct programs as users write them: no type checker finds an error here. test_stubs.py runs it, too."""
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cujit import cuda, float32, float64, guvectorize, int32, types, vectorize, void
from cujit.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32

Vector = NDArray[np.float32]
TILE = 32


@cuda.jit(device=True, inline="always")
def clamped(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


@cuda.jit(void(float32[:], float32[:], int32))
def scale(x: Vector, out: Vector, count: int) -> None:
    i = cuda.grid(1)
    if i < count:
        out[i] = clamped(float32(2) * x[i], 0.0, 10.0)


@cuda.jit(["void(float32[::1], float32[::1])", void(float64[::1], float64[::1])], fastmath=True)
def block_sums(x: Vector, out: Vector) -> None:
    shared, lane = cuda.shared.array(TILE, float32), cuda.threadIdx.x
    total = float32(0)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        total += math.sqrt(abs(x[i]))
    shared[lane] = total
    cuda.syncthreads()
    if lane == 0:
        for k in range(1, cuda.blockDim.x):
            total += shared[k]
        cuda.atomic.add(out, 0, total)


@cuda.jit(cache=True, launch_bounds=(256, 2), max_registers=64)
def grouped(matrix: NDArray[np.int32], counts: NDArray[np.int32], pairs: Any) -> None:
    i, j = cuda.grid(2)
    tile = cuda.cg.tiled_partition(cuda.cg.this_thread_block(), 8)
    found = cuda.cg.reduce(tile, matrix[i, j], cuda.cg.plus)
    if tile.thread_rank() == 0 and cuda.laneid % tile.size == 0:
        cuda.atomic.max(counts, (0,), found, scope="block")
    mask = cuda.ballot_sync(0xFFFFFFFF, found > 3)
    neighbour = cuda.shfl_down_sync(mask, int32(found), 1)
    scratch = cuda.local.array((2, 2), dtype=np.int32)
    scratch[0, 1] = cuda.popc(mask) + neighbour + cuda.libdevice.clz(i)
    pairs[i, j] = cuda.float2(scratch[0, 1], cuda.fma(1.0, 2.0, 3.0))
    cuda.cg.this_grid().sync()


@cuda.jit
def noise(states: Any, out: Vector) -> None:
    i = cuda.grid(1)
    if i < out.size:
        out[i] = xoroshiro128p_uniform_float32(states, i)


@vectorize(["float32(float32, float32)", float64(float64, float64)])
def hypotenuse(x: float, y: float) -> float:
    return math.hypot(x, y)


@guvectorize([void(float64[:], float64[:])], "(n)->()")
def largest(x: NDArray[np.float64], out: NDArray[np.float64]) -> None:
    out[0] = max(x)


total_of = cuda.reduce(lambda a, b: a + b)


def main() -> None:
    stream = cuda.stream()
    host = np.arange(100, dtype=np.float32)
    x = cuda.to_device(host, stream=stream)
    out = cuda.device_array_like(x)
    sums = cuda.to_device(np.zeros(1, np.float32))
    scale[4, TILE, stream](x, out, 100)
    block_sums[(2, 1), (TILE, 1), stream, 0](out, sums)
    noise.forall(out.size, stream=stream)(create_xoroshiro128p_states(100, seed=1), out)
    stream.synchronize()
    result: NDArray[Any] = out[10:20].reshape(2, 5).copy_to_host()
    with cuda.pinned(host), cuda.gpus[0]:
        print(result.mean(), hypotenuse(host, host).sum(), total_of(x), types.float32 == float32, sums.copy_to_host())
    print(largest(host.reshape(10, 10).astype(np.float64)), scale.signatures, block_sums.inspect_asm())


if __name__ == "__main__":
    main()
