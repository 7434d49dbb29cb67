"""Attention, softmax(q @ k.T * scale) @ v, as Hopper GPUs do it: one thread copies tiles of k and v into shared memory
by the tensor memory accelerator, two groups of four warps have 64 rows of q each and go through them. What a group has
of q @ k.T stays in registers: its exponentials are the left operand of the second product."""
import math

import numpy as np

from cujit import cuda, float16, float32, uint64

ROWS = 64  # of q, for a group of four warps
BLOCK_Q, BLOCK_K = 2 * ROWS, 128  # rows of q for a block, rows of k and v in a stage
PIECE = 64  # columns that a row of shared memory has
THREADS = 384  # one group copies, two compute


def make_attention(depth=128, causal=False, stages=2, dtype=float16):
    """A function attention(q, k, v, out) of device arrays (heads, rows, depth), depth 64 or 128."""
    pieces = depth // PIECE
    tile_bytes = BLOCK_K * depth * 2

    @cuda.jit(launch_bounds=(THREADS, 1), fastmath=True, literals="weak")
    def attention_kernel(map_q, map_k, map_v, map_out, rows, scale):
        q = cuda.shared.array((pieces, BLOCK_Q, PIECE), dtype, swizzle=128)
        k = cuda.shared.array((stages, pieces, BLOCK_K, PIECE), dtype, swizzle=128)
        v = cuda.shared.array((stages, pieces, BLOCK_K, PIECE), dtype, swizzle=128)
        has_q = cuda.shared.array(1, uint64)
        has_k, has_v = cuda.shared.array(stages, uint64), cuda.shared.array(stages, uint64)
        free_k, free_v = cuda.shared.array(stages, uint64), cuda.shared.array(stages, uint64)
        thread, group = cuda.threadIdx.x % 128, cuda.threadIdx.x // 128
        tile = cuda.gridDim.x - 1 - cuda.blockIdx.x  # causal: those with the most to do come first
        head = cuda.blockIdx.y * rows
        steps = tile + 1 if causal else rows // BLOCK_K
        if cuda.threadIdx.x == 0:
            cuda.mbarrier.init(has_q, 0, 1)
            for i in range(stages):
                cuda.mbarrier.init(has_k, i, 1)
                cuda.mbarrier.init(has_v, i, 1)
                cuda.mbarrier.init(free_k, i, 2)
                cuda.mbarrier.init(free_v, i, 2)
            cuda.mbarrier.fence_init()
        cuda.syncthreads()
        if group == 0:
            cuda.setmaxnreg_dec(24)
            if thread == 0:
                cuda.mbarrier.arrive_expect_tx(has_q, 0, BLOCK_Q * depth * 2)
                for i in range(pieces):
                    cuda.tma.load(q[i], map_q, (head + tile * BLOCK_Q, i * PIECE), has_q, 0)
                for step in range(steps):
                    stage, phase = step % stages, step // stages % 2
                    cuda.mbarrier.wait(free_k, stage, phase ^ 1)
                    cuda.mbarrier.arrive_expect_tx(has_k, stage, tile_bytes)
                    for i in range(pieces):
                        cuda.tma.load(k[stage, i], map_k, (head + step * BLOCK_K, i * PIECE), has_k, stage)
                    cuda.mbarrier.wait(free_v, stage, phase ^ 1)
                    cuda.mbarrier.arrive_expect_tx(has_v, stage, tile_bytes)
                    for i in range(pieces):
                        cuda.tma.load(v[stage, i], map_v, (head + step * BLOCK_K, i * PIECE), has_v, stage)
        else:
            cuda.setmaxnreg_inc(240)
            scores = cuda.local.array(BLOCK_K // 2, float32)
            weights = cuda.local.array((BLOCK_K // 16, 8), dtype)  # as fragments of 16 columns
            sums = cuda.local.array(depth // 2, float32)
            most, total = cuda.local.array(2, float32), cuda.local.array(2, float32)  # of this thread's two rows
            own, lane, warp = (group - 1) * ROWS, thread % 32, thread // 32
            row, column = warp * 16 + lane // 4, lane % 4 * 2
            for i in range(2):
                most[i], total[i] = -math.inf, 0.0
            for i in range(depth // 8):
                for j in range(4):
                    sums[4 * i + j] = 0.0
            cuda.mbarrier.wait(has_q, 0, 0)
            for step in range(steps):
                stage, phase = step % stages, step // stages % 2
                cuda.mbarrier.wait(has_k, stage, phase)
                cuda.wgmma.fence(scores)
                for i in range(0, depth, 16):
                    cuda.wgmma.mma(scores, q, (i // PIECE, own, i % PIECE), k, (stage, i // PIECE, 0, i % PIECE),
                                   accumulate=i > 0)
                cuda.wgmma.commit()
                cuda.wgmma.wait(0, scores)
                if thread == 0:
                    cuda.mbarrier.arrive(free_k, stage)
                for half in cuda.literal_unroll((0, 1)):
                    largest = most[half]
                    last = own + row + 8 * half if step == steps - 1 else BLOCK_K  # that the row looks at, if causal
                    for i in range(BLOCK_K // 8):
                        for j in range(2):
                            place = 4 * i + 2 * half + j
                            if causal:
                                scores[place] = cuda.selp(8 * i + column + j > last, float32(-math.inf), scores[place])
                            largest = max(largest, scores[place])
                    largest = max(largest, cuda.shfl_xor_sync(0xffffffff, largest, 1))
                    largest = max(largest, cuda.shfl_xor_sync(0xffffffff, largest, 2))
                    smaller = cuda.libdevice.exp2f((most[half] - largest) * scale)
                    shift, added = largest * scale, float32(0.0)
                    for i in range(BLOCK_K // 16):
                        for j in range(2):
                            for pair in range(2):
                                place = 4 * j + 2 * half + pair
                                weight = cuda.libdevice.exp2f(scores[8 * i + place] * scale - shift)
                                added += weight
                                weights[i, place] = dtype(weight)
                    most[half], total[half] = largest, total[half] * smaller + added
                    for i in range(depth // 8):
                        for j in range(2):
                            sums[4 * i + 2 * half + j] *= smaller
                cuda.mbarrier.wait(has_v, stage, phase)
                cuda.wgmma.fence(sums, weights)
                for i in range(BLOCK_K // 16):
                    cuda.wgmma.mma(sums, weights[i], v, (stage, 0, 16 * i, 0), transpose_b=True)
                cuda.wgmma.commit()
                cuda.wgmma.wait(0, sums, weights)
                if thread == 0:
                    cuda.mbarrier.arrive(free_v, stage)
            for half in cuda.literal_unroll((0, 1)):
                total[half] += cuda.shfl_xor_sync(0xffffffff, total[half], 1)
                total[half] += cuda.shfl_xor_sync(0xffffffff, total[half], 2)
                for i in range(depth // 8):  # the group's rows of q are of no use any more
                    place = 4 * i + 2 * half
                    cuda.wide.store(q[i // 8, own + row + 8 * half], i % 8 * 8 + column,
                                    (dtype(sums[place] / total[half]), dtype(sums[place + 1] / total[half])))
            cuda.fence_proxy_async()
            cuda.barrier_sync(group, 128)
            if thread == 0:
                for i in range(pieces):
                    cuda.tma.store(map_out, (head + tile * BLOCK_Q + own, i * PIECE), q[i, own:own + ROWS])
                cuda.tma.commit()
                cuda.tma.wait(0)

    def attention(q, k, v, out, stream=0):
        """out = softmax(q @ k.T / sqrt(depth)) @ v for each head; as many rows of k as of q, a multiple of 128."""
        heads, rows, columns = q.shape
        if columns != depth or rows % BLOCK_Q or not q.shape == k.shape == v.shape == out.shape:
            raise ValueError(f"{q.shape}: arrays are (heads, rows, {depth}), with rows a multiple of {BLOCK_Q}")
        maps = [cuda.tensor_map(array.reshape(heads * rows, depth), (edge, PIECE), swizzle=128)
                for array, edge in ((q, BLOCK_Q), (k, BLOCK_K), (v, BLOCK_K), (out, ROWS))]
        scale = np.float32(math.log2(math.e) / math.sqrt(depth))
        attention_kernel[(rows // BLOCK_Q, heads), THREADS, stream](*maps, rows, scale)

    attention.kernel = attention_kernel
    return attention


def expected(q, k, v, causal):
    q, k, v = (array.astype(np.float32) for array in (q, k, v))
    scores = q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[2])
    if causal:
        scores = np.where(np.tri(q.shape[1], dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(2, keepdims=True))
    return weights / weights.sum(2, keepdims=True) @ v


def main(heads=2, rows=256, depth=64):
    device = cuda.get_current_device()
    if device.kind == "cuda" and device.compute_capability != (9, 0):
        return "skipped: wgmma is of compute capability 9.0"
    rng = np.random.default_rng(5)
    q, k, v = (rng.normal(size=(heads, rows, depth)).astype(np.float16) for _ in range(3))
    for causal in (False, True):
        out = cuda.device_array(q.shape, np.float16)
        make_attention(depth, causal)(cuda.to_device(q), cuda.to_device(k), cuda.to_device(v), out)
        np.testing.assert_allclose(out.copy_to_host(), expected(q, k, v, causal), rtol=1e-2, atol=2e-3)
    return f"{heads} heads of ({rows}, {depth})"


if __name__ == "__main__":
    print(main())
