"""Shared memory of any size and place, cache hints, alignment."""
import re

import numpy as np
import pytest

from cujit import cuda, errors, float32, float64, int32, types, uint8

DTYPES = [np.bool_, np.int8, np.uint16, np.int32, np.uint64, np.float16, np.float32, np.float64, np.complex64,
          np.complex128]
LOADS = ["ldg", "ldca", "ldcg", "ldcs", "ldlu", "ldcv"]
STORES = ["stcg", "stcs", "stwb", "stwt"]


def name_of(x):
    return getattr(x, "__name__", x)


# --- cache hints ------------------------------------------------------------------------------------------------------


def copier(load, store):
    scope = {"cuda": cuda}
    exec(f"def kernel(x, out):\n    i, j = cuda.grid(2)\n"
         f"    cuda.{store}(out, (i, j), cuda.{load}(x, (i, j)))\n", scope)
    return scope["kernel"]


@pytest.mark.parametrize("dtype", DTYPES, ids=name_of)
def test_hints_move_every_type(rng, dtype):
    x = (rng.random((4, 8)) * 100).astype(dtype)
    for load, store in zip(LOADS, STORES * 2):
        out = np.zeros_like(x)
        cuda.jit(copier(load, store))[1, (4, 8)](x, out)
        np.testing.assert_array_equal(out, x)


def test_places_of_hinted_accesses():
    @cuda.jit
    def kernel(x, out):
        tile = cuda.shared.array(4, float64)
        tile[0] = x[1]
        cuda.stcg(tile, 1, cuda.ldca(tile, 0))
        cuda.stwt(out, -1, cuda.ldcg(x[::2], 1))
        cuda.stcs(out[:2], 0, tile[1])
        cuda.stwb(out, 1, 7)

    out = np.zeros(4)
    kernel[1, 1](np.arange(4.0), out)
    assert out.tolist() == [1, 7, 0, 2]


@pytest.mark.parametrize("load, store", list(zip(LOADS, STORES * 2)))
def test_hints_in_ptx(assembles, load, store):
    for text, bits in ("float32", "b32"), ("int8", "b8"), ("complex128", "b64"), ("float16", "b16"):
        signature = f"void({text}[:,::1], {text}[:,::1])"
        ptx = assembles(copier(load, store), signature, (8, 0))
        hint = "nc" if load == "ldg" else load[2:]
        assert re.search(rf"ld\.global\.{hint}\.[vbuf0-9.]+", ptx), ptx
        assert f"st.global.{store[2:]}.{bits}" in ptx


def test_hints_on_shared_memory_are_generic(assembles):
    def kernel(out):
        tile = cuda.shared.array(32, float32)
        cuda.stcg(tile, cuda.threadIdx.x, 1.0)
        out[cuda.threadIdx.x] = cuda.ldcv(tile, cuda.threadIdx.x)

    ptx = assembles(kernel, "void(float32[::1])", (9, 0))
    assert "st.cg.b32" in ptx and "ld.cv.b32" in ptx


@pytest.mark.parametrize("call, message", [
    ("cuda.ldcg(out)", "takes 2 arguments, 1 given"),
    ("cuda.ldcg(out, 1.5)", "the index of an element"),
    ("cuda.ldcg(x, 0)", "an array of numbers"),
    ("cuda.stcg(out, 0, 1j)", "complex128"),
    ("cuda.stcg(table, 0, 1)", "read-only"),
])
def test_hints_that_are_refused(refused, call, message):
    refused(call, message, table=np.arange(3))


# --- dynamic shared memory --------------------------------------------------------------------------------------------


def test_arrays_at_offsets_with_extents_of_run_time():
    @cuda.jit
    def kernel(x, rows, columns, out):
        grid = cuda.shared.dynamic((rows, columns), float32)
        sums = cuda.shared.dynamic(rows, np.float64, offset=rows * columns * 4)
        flags = cuda.shared.dynamic(4, "u1", offset=rows * columns * 4 + rows * 8)
        i = cuda.threadIdx.x
        for j in range(columns):
            grid[i, j] = x[i, j]
        sums[i] = 0
        if i < 4:
            flags[i] = i + 1
        cuda.syncthreads()
        for j in range(columns):
            sums[i] += grid[(i + 1) % rows, j]
        out[i] = sums[i] + grid.size + flags[i % 4] * 1000

    x, out = np.arange(32, dtype=np.float32).reshape(8, 4), np.zeros(8)
    kernel[1, 8, 0, 8 * 4 * 4 + 8 * 8 + 4](x, 8, 4, out)
    assert out.tolist() == (np.roll(x.sum(1), -1) + 32 + (np.arange(8) % 4 + 1) * 1000).tolist()


def test_dynamic_arrays_alias_as_in_numba():
    @cuda.jit
    def kernel(out):
        words, other = cuda.shared.array(0, int32), cuda.shared.array(shape=0, dtype=float64)
        rows = cuda.shared.dynamic((2, 4), uint8)
        if cuda.threadIdx.x == 0:
            words[0], words[1] = 0x01020304, 5
        cuda.syncthreads()
        out[cuda.threadIdx.x] = rows[0, cuda.threadIdx.x] + 10 * rows[1, 0] + 100 * len(words) + 1000 * len(other)

    out = np.zeros(4, np.int64)
    kernel[1, 4, 0, 64](out)
    assert out.tolist() == [8000 + 1600 + 50 + k for k in (4, 3, 2, 1)]


# --- more static shared memory than 48 KiB ----------------------------------------------------------------------------


def large(x, out):
    first = cuda.shared.array(8000, float64)
    second = cuda.shared.array((50, 40), float32, alignment=256)
    rest = cuda.shared.array(0, float64)
    i = cuda.threadIdx.x
    for k in range(i, 8000, cuda.blockDim.x):
        first[k] = x[k % x.size]
    second[i % 50, i // 50] = i
    if i < 4:
        rest[i] = i * 1000
    cuda.syncthreads()
    out[i] = first[7999 - i] + second[i % 50, i // 50] + rest[i % 4] + len(rest)


def test_large_static_arrays_need_nothing_of_the_user():
    x, out = np.arange(500.0), np.zeros(100)
    kernel = cuda.jit(large)
    kernel[2, 100, 0, 32](x, out)
    i = np.arange(100)
    np.testing.assert_array_equal(out, x[(7999 - i) % 500] + i + i % 4 * 1000 + 4)
    overload = next(iter(kernel.overloads.values()))
    assert overload.shared_mem_per_block >= 64000 + 8000


@pytest.mark.parametrize("cc", [(8, 0), (9, 0), (12, 0)])
@pytest.mark.parametrize("opt", [True, False])
def test_large_static_arrays_in_ptx(cc, opt):
    ptx, _ = cuda.compile_ptx(large, "void(float64[::1], float64[::1])", cc=cc, opt=opt)
    assert ".extern .shared .align 256" in ptx
    assert not re.search(r"\.shared[^;\n]*\[[1-9]", ptx)


def test_small_static_arrays_stay_static(assembles):
    def kernel(out):
        tile = cuda.shared.array(64, types.complex64, alignment=128)
        tile[cuda.threadIdx.x] = out[0]
        cuda.syncthreads()
        out[1] = tile[3]

    ptx = assembles(kernel, "void(complex64[::1])", (7, 5))
    assert re.search(r"\.shared \.align 128 \.b8 \S+\[512\]", ptx)


def test_more_than_the_device_has_is_refused():
    @cuda.jit
    def kernel(out):
        tile = cuda.shared.array(300000, uint8)
        tile[cuda.threadIdx.x] = 1
        out[0] = tile[0]

    with pytest.raises(errors.LaunchConfigurationError, match="the shared arrays of kernel 'kernel' are 300000 bytes"):
        kernel[1, 1](np.zeros(1))


def test_records_in_shared_and_local_memory():
    particle = np.dtype([("position", np.float32), ("mass", np.float64), ("kind", np.int8)], align=True)

    @cuda.jit
    def kernel(records, out):
        shared = cuda.shared.array(4, particle)
        mine = cuda.local.array((2, 2), particle, alignment=16)
        i = cuda.threadIdx.x
        shared[i] = records[i]
        mine[1, 0] = records[i]
        mine[1, 0].mass *= 2
        cuda.syncthreads()
        out[i] = shared[3 - i].position + mine[1, 0].mass + shared[i]["kind"]

    records, out = np.zeros(4, particle), np.zeros(4)
    records["position"], records["mass"], records["kind"] = np.arange(4), np.arange(4) * 10, np.arange(4) * 10
    kernel[1, 4](records, out)
    assert out.tolist() == [3, 32, 61, 90]


@pytest.mark.parametrize("alignment", [1, 8, 64, 256, 1024])
def test_arrays_begin_where_they_are_asked_to(alignment):
    @cuda.jit
    def kernel(out):
        small, mine = cuda.shared.array(3, np.uint8), cuda.local.array(3, np.uint8, alignment)
        tile, dynamic = cuda.shared.array(5, np.uint8, alignment), cuda.shared.array(0, np.uint8, alignment)
        small[0] = mine[0] = tile[0] = dynamic[0] = 1
        out[0], out[1], out[2] = mine.ctypes.data, tile.ctypes.data, dynamic.ctypes.data

    out = np.zeros(3, np.uint64)
    kernel[1, 1, 0, 100](out)
    assert (out > 0).all() and (out % alignment == 0).all()


def waiting(load):
    def kernel(flag, data, out):
        if cuda.blockIdx.x == 1:
            data[0] = 42
            cuda.threadfence()
            cuda.atomic.exch(flag, 0, 1)
        else:
            while load(flag, 0) == 0:
                pass
            cuda.threadfence()
            out[0] = cuda.ldcg(data, 0)

    return kernel


@pytest.mark.parametrize("load, instruction", [(cuda.ldcv, "ld.volatile.global.b32"),
                                               (cuda.ldcg, "ld.relaxed.gpu.global.b32")])
def test_a_loop_that_waits_reads_memory_in_each_trip(load, instruction, assembles):
    """ptxas takes a loop of ld.cv or ld.cg alone for one load."""
    ptx = assembles(waiting(load), "void(int32[::1], int32[::1], int32[::1])", (9, 0))
    assert instruction in ptx and ptx.count("ld.global.cg.b32") == 1   # what comes behind the loop
    for _ in range(20):
        flag, data, out = (cuda.to_device(np.zeros(1, np.int32)) for _ in range(3))
        cuda.jit(waiting(load))[2, 1](flag, data, out)
        assert out.copy_to_host()[0] == 42


def test_a_device_function_may_be_called_by_a_loop_that_waits(assembles):
    read = cuda.jit(device=True)(lambda x: cuda.ldcv(x, 0))

    def kernel(flag):
        while read(flag) == 0:
            pass

    assert "ld.volatile.b32" in assembles(kernel, "void(int32[::1])", (9, 0))
