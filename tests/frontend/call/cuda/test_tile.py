"""Copies of tiles, barriers in shared memory and wgmma: values against NumPy, PTX for the architecture that has them,
and what the CPU device says where they are used in a wrong way."""
import importlib.util
import re
import textwrap
from pathlib import Path

import numpy as np
import pytest

from cujit import bfloat16, cuda, errors, float16, float32, int8, int32, int64, typeof, uint8, uint64

KINDS = {"f16": (float16, np.float16, 16), "bf16": (bfloat16, None, 16), "tf32": (float32, np.float32, 8),
         "e4m3": (uint8, np.uint8, 32), "e5m2": (uint8, np.uint8, 32), "s8": (int8, np.int8, 32),
         "u8": (uint8, np.uint8, 32)}
ON_GPU = cuda.get_current_device().kind == "cuda"
pytestmark = pytest.mark.skipif(ON_GPU and cuda.get_current_device().compute_capability != (9, 0), reason="needs sm_90")
reports = pytest.mark.skipif(ON_GPU, reason="the CPU device reports it")


def small_floats(kind):
    """The value of each of the 256 bit patterns."""
    bits, bias, fraction = (4, 7, 3) if kind == "e4m3" else (5, 15, 2)
    values = []
    for code in range(256):
        e, f = code >> fraction & (1 << bits) - 1, code & (1 << fraction) - 1
        value = (f / 2 ** fraction if e == 0 else 1 + f / 2 ** fraction) * 2.0 ** (max(e, 1) - bias)
        special = (code & 127) == 127 if kind == "e4m3" else e == 31
        values.append(np.nan if special else -value if code & 128 else value)
    return np.array(values)


def operands(kind, shape, rng):
    """An array for the kernel, and its values as float64."""
    if kind == "bf16":
        bits = (rng.normal(size=shape).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
        return bits, (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    if kind in ("e4m3", "e5m2"):
        codes = rng.integers(0, 256, shape).astype(np.uint8) & 0xBB   # no NaN or infinity
        return codes, small_floats(kind)[codes]
    if kind in ("s8", "u8"):
        values = rng.integers(-128 if kind == "s8" else 0, 128 if kind == "s8" else 256, shape).astype(KINDS[kind][1])
        return values, values.astype(np.float64)
    values = rng.normal(size=shape).astype(KINDS[kind][1])
    cut = (values.view(np.uint32) & 0xffffe000).view(np.float32) if kind == "tf32" else values
    return values, cut.astype(np.float64)


def product_kernel(kind, columns, swizzle, transpose_a=False, transpose_b=False, depth=None, fragment=False):
    """c = a @ b.T of 64 rows and so many columns by four warps; a transposed operand lies as (k, rows)."""
    dtype, _, step = KINDS[kind]
    size = {"tf32": 4, "f16": 2, "bf16": 2}.get(kind, 1)
    row = swizzle // size
    depth = depth or row
    shape_a = (max(64 // row, 1), depth, row) if transpose_a else (depth // row, 64, row)
    shape_b = (max(columns // row, 1), depth, row) if transpose_b else (depth // row, columns, row)
    sums, said = int32 if kind in ("s8", "u8") else float32, kind if kind in ("e4m3", "e5m2") else None
    bytes_ = (int(np.prod(shape_a)) + int(np.prod(shape_b))) * size

    @cuda.jit(launch_bounds=128)
    def kernel(map_a, map_b, c):
        a = cuda.shared.array(shape_a, dtype, swizzle=swizzle)
        b = cuda.shared.array(shape_b, dtype, swizzle=swizzle)
        done = cuda.shared.array(1, uint64)
        acc = cuda.local.array(columns // 2, sums)
        part = cuda.local.array(2 * step // 4, dtype)
        thread = cuda.threadIdx.x
        lane, warp = thread % 32, thread // 32
        for i in range(columns // 2):
            acc[i] = 7
        if thread == 0:
            cuda.mbarrier.init(done, 0, 1)
            cuda.mbarrier.fence_init()
        cuda.syncthreads()
        if thread == 0:
            cuda.mbarrier.arrive_expect_tx(done, 0, bytes_)
            for i in range(shape_a[0]):
                cuda.tma.load(a[i], map_a, (0, i * row), done, 0)
            for i in range(shape_b[0]):
                cuda.tma.load(b[i], map_b, (0, i * row), done, 0)
        cuda.mbarrier.wait(done, 0, 0)
        for k in range(0, depth, step):
            at_a = (0, k, 0) if transpose_a else (k // row, 0, k % row)
            at_b = (0, k, 0) if transpose_b else (k // row, 0, k % row)
            if fragment:
                each = 4 // size
                for i in range(4 * each):
                    word = i // each
                    part[i] = a[k // row, warp * 16 + lane // 4 + word % 2 * 8,
                                k % row + lane % 4 * each + i % each + word // 2 * 4 * each]
                cuda.wgmma.fence(acc, part)
                cuda.wgmma.mma(acc, part, b, at_b, transpose_b=transpose_b, kind=said)
                cuda.wgmma.commit()
                cuda.wgmma.wait(0, acc, part)
            else:
                cuda.wgmma.fence(acc)
                cuda.wgmma.mma(acc, a, at_a, b, at_b, transpose_a=transpose_a, transpose_b=transpose_b, kind=said)
                cuda.wgmma.commit()
                cuda.wgmma.wait(0, acc)
        for i in range(columns // 2):
            c[warp * 16 + lane // 4 + i % 4 // 2 * 8, i // 4 * 8 + lane % 4 * 2 + i % 2] = acc[i]

    box_a = (depth, row) if transpose_a else (64, row)
    box_b = (depth, row) if transpose_b else (columns, row)
    return kernel, depth, box_a, box_b, sums


def check_product(kind, columns, swizzle, transpose_a=False, transpose_b=False, **options):
    kernel, depth, box_a, box_b, sums = product_kernel(kind, columns, swizzle, transpose_a, transpose_b, **options)
    rng = np.random.default_rng(columns)
    a, a_values = operands(kind, (64, depth), rng)
    b, b_values = operands(kind, (columns, depth), rng)
    put = lambda array, turned: cuda.to_device(np.ascontiguousarray(array.T if turned else array))   # noqa: E731
    c = cuda.device_array((64, columns), np.int32 if sums is int32 else np.float32)
    maps = (cuda.tensor_map(put(a, transpose_a), box_a, swizzle), cuda.tensor_map(put(b, transpose_b), box_b, swizzle))
    kernel[1, 128](*maps, c)
    want = a_values @ b_values.T + 7
    close = 1e-5 if not ON_GPU or kind not in ("e4m3", "e5m2") else 2e-3   # Hopper keeps some 13 bits of such sums
    np.testing.assert_allclose(c.copy_to_host(), want, rtol=1e-4, atol=close * max(np.abs(want).max(), 1))


@pytest.mark.parametrize("swizzle", (32, 64, 128))
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_kinds_and_swizzles(kind, swizzle):
    check_product(kind, 32, swizzle)


@pytest.mark.parametrize("columns", (8, 24, 96, 256))
def test_columns(columns):
    check_product("f16", columns, 128)


@pytest.mark.parametrize("transposed", ((True, False), (False, True), (True, True)))
@pytest.mark.parametrize("kind", ("f16", "bf16"))
def test_transposed(kind, transposed):
    check_product(kind, 128, 128, *transposed)


def test_transposed_in_narrow_rows():
    check_product("f16", 64, 64, True, True)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_fragments(kind):
    check_product(kind, 16, 128, fragment=True)


def test_several_rows_of_shared_memory():
    check_product("f16", 64, 128, depth=128)


# --- copies ---------------------------------------------------------------------------------------------------------

def overlap(index, box, shape):
    """Where the box and the array have elements in common: slices of the array, and of the box."""
    bounds = [(max(i, 0), max(min(i + size, extent), i, 0)) for i, size, extent in zip(index, box, shape)]
    return (tuple(slice(*each) for each in bounds),
            tuple(slice(first - i, end - i) for (first, end), i in zip(bounds, index)))


@pytest.mark.parametrize("swizzle", (0, 32, 64, 128))
@pytest.mark.parametrize("ndim", (1, 2, 3, 4, 5))
def test_boxes(ndim, swizzle):
    """A box goes in and out again; what lies outside of the array is zero, and stays when it is written. Along an
    axis it is read from below 0 on, where it cannot be written."""
    if swizzle and ndim == 1:
        pytest.skip("a swizzled array has two axes")
    last = (swizzle or 64) // 4
    shape, box, index = (3, 4, 5, 6, 40)[5 - ndim:], (2, 1, 3, 4, last)[5 - ndim:], (2, -1, 3, 4, 28)[5 - ndim:]
    count, to_index = int(np.prod(box)) * 4, tuple(max(i, 0) for i in index)

    @cuda.jit
    def kernel(source, target, seen):
        tile = cuda.shared.array(box, float32, alignment=128, swizzle=swizzle)
        done = cuda.shared.array(1, uint64)
        if cuda.threadIdx.x == 0:
            cuda.mbarrier.init(done, 0, 1)
            cuda.mbarrier.fence_init()
            cuda.mbarrier.arrive_expect_tx(done, 0, count)
            cuda.tma.load(tile, source, index, done, 0)
        cuda.syncthreads()
        cuda.mbarrier.wait(done, 0, 0)
        flat = tile.reshape(-1)
        for i in range(cuda.threadIdx.x, flat.size, cuda.blockDim.x):
            seen[i] = flat[i]
            flat[i] += 1
        cuda.fence_proxy_async()
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.tma.store(target, to_index, tile)
            cuda.tma.commit()
            cuda.tma.wait(0)

    array = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    source, target = cuda.to_device(array), cuda.to_device(np.zeros_like(array))
    seen = cuda.device_array(count // 4, np.float32)
    kernel[1, 32](cuda.tensor_map(source, box, swizzle), cuda.tensor_map(target, box, swizzle), seen)
    want, left = np.zeros(box, np.float32), np.zeros_like(array)
    inside, places = overlap(index, box, shape)
    want[places] = array[inside]
    inside, places = overlap(to_index, box, shape)
    left[inside] = want[places] + 1
    np.testing.assert_array_equal(seen.copy_to_host().reshape(box), want)
    np.testing.assert_array_equal(target.copy_to_host(), left)


def test_multicast():
    @cuda.jit
    def kernel(source, out):
        tile = cuda.shared.array((2, 32), float32, alignment=128)
        done = cuda.shared.array(1, uint64)
        free = cuda.shared.array(1, uint64)
        cluster = cuda.cg.this_cluster()
        rank = cluster.block_rank()
        if cuda.threadIdx.x == 0:
            cuda.mbarrier.init(done, 0, 1)
            cuda.mbarrier.init(free, 0, 2)
            cuda.mbarrier.fence_init()
        cluster.sync()
        for turn in range(2):
            if cuda.threadIdx.x == 0:
                cuda.mbarrier.arrive_expect_tx(done, 0, 2 * 32 * 4)
                cuda.tma.load(tile[rank], source, (2 * turn + rank, 0), done, 0, multicast=3)
            cuda.mbarrier.wait(done, 0, turn)
            for i in range(2):
                out[turn, rank, i, cuda.threadIdx.x] = tile[i, cuda.threadIdx.x]
            cuda.syncthreads()
            if cuda.threadIdx.x < 2:
                cuda.mbarrier.arrive_cluster(free, 0, cuda.threadIdx.x)
            cuda.mbarrier.wait(free, 0, turn)
        cluster.sync()

    array = np.arange(128, dtype=np.float32).reshape(4, 32)
    out = cuda.to_device(np.zeros((2, 2, 2, 32), np.float32))
    kernel[2, 32, 0, 0, 2](cuda.tensor_map(cuda.to_device(array), (1, 32)), out)
    np.testing.assert_array_equal(out.copy_to_host(), np.stack([array.reshape(2, 2, 32)] * 2, 1))


def test_bytes_may_come_before_they_are_announced():
    @cuda.jit
    def kernel(source, out):
        tiles = cuda.shared.array((2, 1, 32), float32, alignment=128)
        done = cuda.shared.array(1, uint64)
        cuda.mbarrier.init(done, 0, 2)
        cuda.tma.load(tiles[0], source, (0, 0), done, 0)
        cuda.tma.load(tiles[1], source, (1, 0), done, 0)
        cuda.mbarrier.test_wait(done, 0, 0)
        cuda.mbarrier.arrive_expect_tx(done, 0, 128)
        cuda.mbarrier.arrive_expect_tx(done, 0, 128)
        cuda.mbarrier.wait(done, 0, 0)
        for i in range(2):
            out[i] = tiles[i, 0, 5]

    array, out = np.arange(64, dtype=np.float32).reshape(2, 32), np.zeros(2, np.float32)
    kernel[1, 1](cuda.tensor_map(cuda.to_device(array), (np.int64(1), 32)), out)
    np.testing.assert_array_equal(out, [5, 37])


def test_maps_in_graphs_are_made_before():
    @cuda.jit
    def kernel(source, out):
        tile = cuda.shared.array((1, 32), float32, alignment=128)
        done = cuda.shared.array(1, uint64)
        cuda.mbarrier.init(done, 0, 1)
        cuda.mbarrier.arrive_expect_tx(done, 0, 128)
        cuda.tma.load(tile, source, (0, 0), done, 0)
        cuda.mbarrier.wait(done, 0, 0)
        out[0] = tile[0, 5]

    array = cuda.to_device(np.arange(37 * 32, dtype=np.float32).reshape(37, 32))   # in no other map
    out = cuda.to_device(np.zeros(1, np.float32))
    with pytest.raises(errors.CudaAPIError, match="cannot be recorded in a graph"), cuda.graph():
        cuda.tensor_map(array, (1, 32))
    kernel[1, 1](cuda.tensor_map(array, (1, 32)), out)
    assert out.copy_to_host()[0] == 5
    out[0] = 0
    with cuda.graph() as g:
        kernel[1, 1](cuda.tensor_map(array, (1, 32)), out)
    g.launch()
    assert out.copy_to_host()[0] == 5


@pytest.mark.parametrize("what, problem", [
    (dict(box=(8, 10)), "40 bytes; it must be a multiple of 16"),
    (dict(box=(8, 16), swizzle=128), "64 bytes; with this swizzle it has 128"),
    (dict(box=(257, 16)), "257 elements along axis 0"), (dict(box=16), "the box has 1 axes, the array 2"),
    (dict(box=(8, 16), swizzle=16), "swizzle=16"), (dict(box=(8, 16), view=np.s_[:, ::2]), "neighbours"),
    (dict(box=(8, 16), view=np.s_[:, 1:33]), "behind a multiple of 16"),
    (dict(box=(8, 16), swizzle=-1), "swizzle=-1"),
    (dict(box=(256, 256, 128, 64), view=np.s_[None, None]), "2147483648 bytes; less than 1048576"),
    (dict(box=(256, 256, 256, 64), view=np.s_[None, None]), "4294967296 bytes; less than 1048576"),
])
def test_maps_that_cannot_be(what, problem):
    array = cuda.device_array((32, 64), np.float32)[what.pop("view", np.s_[:])]
    with pytest.raises(ValueError, match=re.escape(problem)):
        cuda.tensor_map(array, **what)


def example(name):
    spec = importlib.util.spec_from_file_location(name, Path(__file__).parents[4] / "examples" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ("wgmma_matmul", "wgmma_attention"))
def test_examples(name):
    assert "skipped" not in example(name).main()


@pytest.mark.parametrize("options", (dict(dtype=uint8, kind="e4m3"), dict(cluster=2, stages=2)))
def test_other_matrix_products(options):
    size = 1 if "kind" in options else 2
    rng = np.random.default_rng(1)
    a, b = (rng.integers(0x20, 0x3c, (256, 256 // size)).astype(np.uint8) for _ in range(2))
    if size == 2:
        a, b = a.astype(np.float16), b.astype(np.float16) / 64
    x, y = (small_floats("e4m3")[each] if size == 1 else each.astype(np.float64) for each in (a, b))
    c = cuda.device_array((256, 256), np.float16)
    example("wgmma_matmul").make_matmul(**options)(cuda.to_device(a), cuda.to_device(b), c)
    np.testing.assert_allclose(c.copy_to_host(), x @ y.T, rtol=4e-3)


# --- swizzled arrays ------------------------------------------------------------------------------------------------

def test_swizzled_arrays_are_indexed_like_others():
    @cuda.jit
    def kernel(out):
        tile = cuda.shared.array((2, 16, 16), float32, swizzle=64)
        i = cuda.threadIdx.x
        for k in range(16):
            tile[1, i, k] = i * 16 + k
        cuda.syncthreads()
        turned = tile[1].T
        for k in range(16):
            out[0, k, i] = turned[k, i]
            out[1, i, k] = tile[1, ::-1][15 - i, k]
        row = cuda.wide.load(tile[1, i], 4, 4)
        for k in range(4):
            out[2, i, k] = row[k]
        cuda.atomic.add(tile, (1, i, 3), 1000.0)
        out[3, i, 0] = tile[1].reshape(256)[i * 16 + 3]

    out = np.zeros((4, 16, 16), np.float32)
    kernel[1, 16](out)
    numbers = np.arange(256, dtype=np.float32).reshape(16, 16)
    np.testing.assert_array_equal(out[0], numbers.T)
    np.testing.assert_array_equal(out[1], numbers)
    np.testing.assert_array_equal(out[2, :, :4], numbers[:, 4:8])
    np.testing.assert_array_equal(out[3, :, 0], numbers[:, 3] + 1000)


def test_pieces_of_swizzled_rows():
    """What takes 16 bytes of a row at once finds them."""
    @cuda.jit
    def kernel(x, out):
        tile = cuda.shared.array((8, 64), float16, swizzle=128)
        lane = cuda.laneid
        for i in range(2):
            cuda.cp_async(tile, (lane % 8, (lane // 8 + 4 * i) * 8), x, (lane % 8, (lane // 8 + 4 * i) * 8), 8)
        cuda.cp_async_commit()
        cuda.cp_async_wait(0)
        cuda.syncthreads()
        part = cuda.ldmatrix_x1(tile, lane % 8, 24)
        out[lane // 4, lane % 4 * 2] = part[0]
        out[lane // 4, lane % 4 * 2 + 1] = part[1]

    x, out = np.arange(512, dtype=np.float16).reshape(8, 64), np.zeros((8, 8), np.float16)
    kernel[1, 32](x, out)
    np.testing.assert_array_equal(out, x[:, 24:32])


# --- code -----------------------------------------------------------------------------------------------------------

def test_sums_are_in_registers():
    """Loops over more accumulators than other kernels' arrays have elements, which wgmma uses whole."""
    map_ = typeof(cuda.tensor_map(cuda.device_array((128, 128), np.float16), (128, 64), 128))
    kernel = example("wgmma_attention").make_attention(128, True).kernel
    code, _ = cuda.compile_ptx(kernel.py_func, (map_, map_, map_, map_, int64, float32), cc=(9, 0),
                               launch_bounds=(384, 1), fastmath=True, literals="weak")
    assert "local" not in code


def test_code_is_for_the_architecture_that_has_it():
    kernel = product_kernel("f16", 256, 128)[0]
    map_ = typeof(cuda.tensor_map(cuda.device_array((64, 64), np.float16), (64, 64), 128))
    types = (map_, map_, float32[:, :])
    code, _ = cuda.compile_ptx(kernel.py_func, types, cc=(9, 0), launch_bounds=128)
    assert ".target sm_90a" in code and ".version 8.0" in code
    assert "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16" in code
    for cc, name in (((8, 0), "sm_80"), ((10, 0), "sm_100")):
        with pytest.raises(errors.UnsupportedError, match=f"is not available on {name}: sm_90"):
            cuda.compile_ptx(kernel.py_func, types, cc=cc)


# --- what is wrong --------------------------------------------------------------------------------------------------

def run(body, threads=128, shape=(64, 64)):
    """A kernel of these lines on arrays of ones: a tile, a barrier, accumulators."""
    text = "def kernel(map_, out):\n" + textwrap.indent(textwrap.dedent("""
        tile = cuda.shared.array((64, 64), float16, swizzle=128)
        done = cuda.shared.array(2, uint64)
        acc = cuda.local.array(32, float32)
        thread = cuda.threadIdx.x
        """) + textwrap.dedent(body), "    ")
    names = {"cuda": cuda, "float16": float16, "float32": float32, "uint64": uint64}
    exec(text, names)
    array = cuda.to_device(np.ones(shape, np.float16))
    cuda.jit(names["kernel"])[1, threads](cuda.tensor_map(array, (64, 64), 128), cuda.device_array(4, np.float32))


BEGIN = """
if thread == 0:
    cuda.mbarrier.init(done, 0, 1)
cuda.syncthreads()
"""
LOAD = BEGIN + """
if thread == 0:
    cuda.mbarrier.arrive_expect_tx(done, 0, 8192)
    cuda.tma.load(tile, map_, (0, 0), done, 0)
"""


@reports
@pytest.mark.parametrize("body, problem", [
    ("if thread == 0:\n    cuda.mbarrier.arrive(done, 0)", "no barrier: cuda.mbarrier.init comes first"),
    (BEGIN + "if thread == 0:\n    cuda.mbarrier.arrive(done, 0, 2)", "more threads arrive than the barrier is for"),
    (LOAD + "cuda.mbarrier.wait(done, 0, 1)\ncuda.mbarrier.wait(done, 0, 0)\ncuda.mbarrier.wait(done, 0, 1)",
     "for a phase of parity 1.*lacks 1 of 1 arrivals and 0 bytes"),
    (LOAD.replace("8192", "8200") + "cuda.mbarrier.wait(done, 0, 0)", "lacks 0 of 1 arrivals and 8 bytes"),
    (LOAD.replace("8192", "4096") + "cuda.mbarrier.wait(done, 0, 0)", "more bytes than were announced"),
    (BEGIN + "if thread == 0:\n    cuda.mbarrier.expect_tx(done, 0, 2**20)", r"less than 2\*\*20 bytes"),
    (LOAD, "ended while copies into its shared memory were under way"),
    ("tile[thread // 2, 0] = 2\ncuda.syncthreads()\nif thread == 0:\n    cuda.tma.store(map_, (0, 0), tile)",
     "no cuda.fence_proxy_async"),
    ("if thread == 0:\n    cuda.tma.store(map_, (0, -8), tile)", "the index of a store is below 0"),
    ("tile[thread // 2, 0] = 2\ncuda.syncthreads()\ncuda.wgmma.fence(acc)\n"
     "cuda.wgmma.mma(acc, tile, (0, 0), tile, (0, 0))", "no cuda.fence_proxy_async"),
    (LOAD + "cuda.mbarrier.wait(done, 0, 0)\ncuda.wgmma.mma(acc, tile, (0, 0), tile, (0, 0))", "no cuda.wgmma.fence"),
    (LOAD + "cuda.mbarrier.wait(done, 0, 0)\ncuda.wgmma.fence(acc)\ncuda.wgmma.mma(acc, tile, (0, 0), tile, (0, 0))\n"
     "cuda.wgmma.commit()\nacc[0] = 1\ncuda.wgmma.wait(0, acc)", "were written before a cuda.wgmma.wait"),
    (LOAD + "cuda.mbarrier.wait(done, 0, 0)\nif thread % 32 < 16:\n    cuda.wgmma.fence(acc)\n"
     "    cuda.wgmma.mma(acc, tile, (0, 0), tile, (0, 0))", "all 32 lanes of a warp take part"),
    (LOAD + "cuda.mbarrier.wait(done, 0, 0)\ncuda.wgmma.fence(acc)\ncuda.wgmma.mma(acc, tile, (0, 8), tile, (0, 0))",
     "multiple of 32 bytes"),
    (LOAD.replace("load(tile,", "load(tile[:32],"), "the tile is smaller than the map's boxes"),
    ("if thread == 0:\n    cuda.tma.store(map_, (0, 0), tile[8:])", "the tile is smaller than the map's boxes"),
])
def test_reports(body, problem):
    with pytest.raises(errors.CujitError, match=problem):
        run(body)


@reports
def test_accumulators_of_a_caller():
    """How many there are only the launch knows."""
    @cuda.jit(device=True)
    def multiply(acc, tile):
        cuda.wgmma.mma(acc, tile, (0, 0), tile, (0, 0), columns=64)

    @cuda.jit(launch_bounds=128)
    def kernel(out, last):
        tile = cuda.shared.array((64, 64), float16, swizzle=128)
        acc = cuda.local.array(32, float32)
        for i in range(32):
            acc[i] = 1
        for j in range(64):
            tile[cuda.threadIdx.x // 2, j] = 1
        cuda.fence_proxy_async()
        cuda.syncthreads()
        cuda.wgmma.fence(acc)
        multiply(acc[:last], tile)
        cuda.wgmma.commit()
        cuda.wgmma.wait(0, acc)
        out[cuda.threadIdx.x] = acc[31]

    out = np.zeros(128, np.float32)
    kernel[1, 128](out, 32)
    assert (out == 17).all()
    with pytest.raises(errors.CujitError, match="c has fewer elements than its columns need"):
        kernel[1, 128](out, 31)


def test_a_tile_is_no_number_before_its_barrier_says_so():
    if ON_GPU:
        pytest.skip("a GPU may be done")

    @cuda.jit
    def kernel(source, out):
        tile = cuda.shared.array((1, 32), float32, alignment=128)
        done = cuda.shared.array(1, uint64)
        cuda.mbarrier.init(done, 0, 1)
        cuda.mbarrier.arrive_expect_tx(done, 0, 128)
        cuda.tma.load(tile, source, (0, 0), done, 0)
        out[0] = tile[0, 5]
        out[1] = cuda.mbarrier.test_wait(done, 0, 0)
        cuda.mbarrier.wait(done, 0, 0)
        out[2] = tile[0, 5]
        out[3] = cuda.mbarrier.test_wait(done, 0, 0)

    out = np.zeros(4, np.float32)
    kernel[1, 1](cuda.tensor_map(cuda.to_device(np.arange(32, dtype=np.float32).reshape(1, 32)), (1, 32)), out)
    np.testing.assert_array_equal(out, [np.nan, 0, 5, 1])


@pytest.mark.parametrize("body, problem", [
    ("cuda.mbarrier.init(out, 0, 1)", "a shared array of uint64"),
    ("cuda.tma.load(tile, out, (0, 0), done, 0)", "what cuda.tensor_map"),
    ("cuda.tma.load(tile, map_, 0, done, 0)", "each of the map's 2 axes"),
    ("cuda.tma.load(acc, map_, (0, 0), done, 0)", "tile of 4"),
    ("cuda.wgmma.mma(out, tile, (0, 0), tile, (0, 0))", "local array of float32"),
    ("cuda.wgmma.mma(acc, out, 0, tile, (0, 0))", "one type of elements"),
    ("cuda.wgmma.mma(cuda.local.array(6, float32), tile, (0, 0), tile, (0, 0))", "no wgmma of 12 columns"),
    ("cuda.wgmma.mma(acc, tile, (0, 0), tile, (0, 0), columns=128)", "c has 32 elements, 128 columns need 64"),
    ("cuda.wgmma.wait(acc)", "number of groups"),
    ("cuda.setmaxnreg_inc(30)", "a multiple of 8"),
    ("cuda.shared.array((4, 8), float32, swizzle=128)", "numbers along the last one are 128 bytes, not 32"),
])
def test_refused(body, problem):
    with pytest.raises(errors.CujitError, match=re.escape(problem)) as caught:
        run(body)
    assert "<string>:7 in kernel" in str(caught.value)
