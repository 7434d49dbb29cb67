"""Numbered barriers of a block, and what the CPU device says of threads that wait for ever."""
import numpy as np
import pytest

from cujit import cuda, errors

cpu_only = pytest.mark.skipif(cuda.get_current_device().kind == "cuda", reason="undefined on a GPU, which may hang")


def test_producers_arrive_and_consumers_wait():
    """The first warp fills a buffer; the second takes it out: two barriers, full and empty."""
    @cuda.jit
    def kernel(x, out):
        buffer = cuda.shared.array(32, np.int64)
        lane = cuda.laneid
        if cuda.threadIdx.x < 32:
            for turn in range(8):
                if turn > 0:
                    cuda.barrier_sync(2, 64)
                buffer[lane] = x[turn, lane]
                cuda.barrier_arrive(barrier=1, count=64)
        else:
            for turn in range(8):
                cuda.barrier_sync(1, 64)
                out[turn, lane] = buffer[31 - lane]
                if turn < 7:
                    cuda.barrier_arrive(2, 64)

    x, out = np.arange(256).reshape(8, 32), np.zeros((8, 32), np.int64)
    kernel[1, 64](x, out)
    np.testing.assert_array_equal(out, x[:, ::-1])


def test_pairs_of_warps_meet_by_themselves():
    """Each pair has its own barrier, whose number is known at run time; one pair does more turns than the other."""
    @cuda.jit
    def kernel(out):
        cells = cuda.shared.array(128, np.int64)
        i = cuda.threadIdx.x
        pair = i // 64
        total = 0
        for turn in range(3 + 2 * pair):
            cells[i] = i * turn
            cuda.barrier_sync(pair + 1, 64)
            total += cells[pair * 64 + (i + 1) % 64]
            cuda.barrier_sync(pair + 1, 64)
        out[i] = total

    out = np.zeros(128, np.int64)
    kernel[1, 128](out)
    i = np.arange(128)
    assert out.tolist() == ((i // 64 * 64 + (i + 1) % 64) * np.where(i < 64, 3, 10)).tolist()


def test_a_last_warp_that_is_not_whole_counts_as_one():
    @cuda.jit
    def kernel(out):
        cells = cuda.shared.array(40, np.int64)
        i = cuda.threadIdx.x
        cells[i] = i
        cuda.barrier_sync(3, 64)
        out[i] = cells[39 - i]

    out = np.zeros(40, np.int64)
    kernel[1, 40](out)
    assert out.tolist() == list(range(39, -1, -1))


@pytest.mark.parametrize("call, message", [
    ("cuda.barrier_sync(0, 32)", "numbered barriers are 1 to 15"),
    ("cuda.barrier_arrive(16, 32)", "numbered barriers are 1 to 15"),
    ("cuda.barrier_sync(1, 33)", "a multiple of 32"),
    ("cuda.barrier_sync(1)", "takes 2 arguments, 1 given"),
    ("cuda.barrier_sync(1, 2.5)", "it takes integers"),
])
def test_what_is_refused(refused, call, message):
    refused(call, message)


@pytest.mark.parametrize("cc", [(7, 5), (9, 0), (12, 0)])
def test_barriers_assemble(assembles, cc):
    def kernel(out):
        cuda.barrier_arrive(1, 64)
        cuda.barrier_sync(2, 64)
        out[0] = 1

    ptx = assembles(kernel, "void(int64[::1])", cc)
    assert "barrier.sync" in ptx or "barrier.cta.sync" in ptx
    assert "arrive" in ptx


# --- hangs ------------------------------------------------------------------------------------------------------------


def hang_of(kernel, threads, *arguments):
    with pytest.raises(errors.KernelHangError) as caught:
        kernel[1, threads](*arguments)
    return str(caught.value)


@cpu_only
def test_a_numbered_barrier_to_which_too_few_come():
    @cuda.jit
    def kernel(out):
        if cuda.threadIdx.x < 32:
            cuda.barrier_sync(4, 64)
        out[cuda.threadIdx.x] = 1

    line = kernel.py_func.__code__.co_firstlineno + 3
    message = hang_of(kernel, 64, np.zeros(64))
    assert f"threads 0-31 wait at cuda.barrier_sync 4 in line {line}" in message


@cpu_only
def test_a_barrier_and_a_numbered_one():
    @cuda.jit
    def kernel(out):
        if cuda.threadIdx.x < 32:
            cuda.barrier_sync(1, 64)
        else:
            cuda.syncthreads()
        out[cuda.threadIdx.x] = 1

    message = hang_of(kernel, 64, np.zeros(64))
    assert "threads 0-31 wait at cuda.barrier_sync 1" in message
    assert "threads 32-63 wait at cuda.syncthreads" in message


@cpu_only
def test_lanes_that_wait_for_one_that_is_elsewhere():
    @cuda.jit
    def kernel(out):
        if cuda.laneid == 5:
            cuda.syncthreads()
        else:
            cuda.syncwarp()
        out[cuda.threadIdx.x] = 1

    message = hang_of(kernel, 32, np.zeros(32))
    line = kernel.py_func.__code__.co_firstlineno + 3
    assert f"thread 5 waits at cuda.syncthreads in line {line}" in message
    assert "threads 0-4, 6-31 wait at cuda.syncwarp with mask 0xffffffff" in message


@cpu_only
def test_votes_of_a_block_of_different_kinds():
    @cuda.jit
    def kernel(out):
        if cuda.threadIdx.x < 10:
            cuda.syncthreads_count(1)
        else:
            cuda.syncthreads()
        out[cuda.threadIdx.x] = 1

    message = hang_of(kernel, 32, np.zeros(32))
    assert "threads 0-9 wait at cuda.syncthreads_count" in message
    assert "threads 10-31 wait at cuda.syncthreads" in message


@cpu_only
@pytest.mark.parametrize("number, count, shown", [(1, 0, "1 in line {} for 0"), (17, 64, "17 in line {} for 64"),
                                                  (0, 64, "0 in line {} for 64"), (2, 40, "2 in line {} for 40")])
@pytest.mark.parametrize("name", ["barrier_sync", "barrier_arrive"])
def test_numbers_that_no_barrier_has(name, number, count, shown):
    """Those that are constants are refused by the compiler."""
    call = getattr(cuda, name)

    @cuda.jit
    def kernel(number, count):
        call(number, count)

    line = kernel.py_func.__code__.co_firstlineno + 2
    assert hang_of(kernel, 64, number, count) == (
        f"kernel 'kernel': thread 0 of block (0, 0, 0) calls cuda.{name} {shown.format(line)} threads; "
        "numbered barriers are 1 to 15, their counts multiples of 32")


@cpu_only
@pytest.mark.parametrize("call", ["cuda.shfl_sync(mask, i, 0)", "cuda.ballot_sync(mask, i > 3)",
                                  "cuda.match_any_sync(mask, i)", "cuda.reduce_max_sync(mask, i)"])
def test_lanes_that_their_masks_do_not_name(call):
    scope = {"cuda": cuda}
    exec(f"def kernel(mask):\n    i = cuda.threadIdx.x\n    {call}\n", scope)
    message = hang_of(cuda.jit(scope["kernel"]), 32, 0xFFFF)
    name = call.split("(")[0].replace("reduce_max_sync", "_redux.max")
    assert message.startswith(f"kernel 'kernel': thread 16 of block (0, 0, 0) calls {name} with mask 0x0000ffff")
    assert message.endswith("; every lane that calls is in the mask")


@cpu_only
def test_syncwarp_lets_lanes_pass_that_its_mask_does_not_name():
    """numba's own tests do so. On a GPU it happens to go well; its definition does not say how."""
    @cuda.jit
    def kernel(out):
        cuda.syncwarp(0xFFFF)
        out[cuda.threadIdx.x] = 1

    out = np.zeros(32)
    kernel[1, 32](out)
    assert out.all()


@cpu_only
def test_messages_name_the_lines_of_the_user():
    """Groups are functions of the library: what counts is where they are called."""
    @cuda.jit
    def kernel(x, out):
        i = cuda.threadIdx.x
        tile = cuda.cg.tiled_partition(cuda.cg.this_thread_block(), 16)
        if i < 3:
            out[i] = tile.shfl(x[i], 0)
        elif i < 32:
            out[i] = cuda.cg.reduce(tile, x[i])
        cuda.cg.this_thread_block().sync()

    line = kernel.py_func.__code__.co_firstlineno + 5
    message = hang_of(kernel, 64, np.arange(64), np.zeros(64))
    assert f"threads 0-2 wait at cuda.shfl_sync with mask 0x0000ffff in line {line};" in message
    assert f"in line {line + 2}" in message


@cpu_only
@pytest.mark.parametrize("threads, running", [(32, 16), (20, 20), (64, 63)])
def test_tensor_cores_need_whole_warps(threads, running):
    @cuda.jit
    def kernel(out):
        i = cuda.threadIdx.x
        if i < running:
            out[i] = cuda.mma.m16n8k8_f16_f32((1, 1, 1, 1), (1, 1), (0., 0., 0., 0.))[0]

    assert "; all 32 lanes of a warp take part" in hang_of(kernel, threads, np.zeros(64))


@cpu_only
@pytest.mark.parametrize("behind", ["", "cuda.syncwarp()"])
@pytest.mark.parametrize("call", ["cuda.syncthreads()", "cuda.syncthreads_count(1)"])
def test_threads_that_come_to_different_barriers(call, behind):
    """Behind a barrier that they share; as fibers of one worker, and (syncwarp, votes) scheduled by warps."""
    source = "\n".join(["def kernel(out):", " i = cuda.threadIdx.x", " cuda.syncthreads()", " if i < 16:", f"  {call}",
                        " else:", f"  {call}", f" {behind}", " out[i] = 1"])
    scope = {"cuda": cuda}
    exec(source, scope)
    message = hang_of(cuda.jit(scope["kernel"]), 64, np.zeros(64))
    name = call.split("(")[0]
    assert f"threads 0-15 wait at {name} in line 5; threads 16-63 wait at {name} in line 7" in message


@cpu_only
def test_threads_that_part_while_others_return():
    """Every other thread returns in the round in which the rest part: the report comes when none is left to run."""
    @cuda.jit
    def kernel(out):
        i = cuda.threadIdx.x
        cuda.syncthreads()
        if i % 2:
            return
        if i == 20:
            cuda.syncthreads()
        else:
            cuda.syncthreads()
        out[i] = 1

    message = hang_of(kernel, 32, np.zeros(32))
    line = kernel.py_func.__code__.co_firstlineno + 7
    assert f"in line {line + 2}; thread 20 waits at cuda.syncthreads in line {line}; none can go on" in message


@cpu_only
def test_threads_in_other_rounds_of_one_barrier():
    """They meet there, and those that have returned are not waited for: as on GPUs since Volta."""
    @cuda.jit
    def kernel(out):
        i = cuda.threadIdx.x
        for _ in range(i):
            cuda.syncthreads()
        out[i] = i

    out = np.zeros(40)
    kernel[1, 40](out)
    assert out.tolist() == list(range(40))
