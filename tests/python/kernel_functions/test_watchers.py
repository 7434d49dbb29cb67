"""What checked kernels call on a GPU, run by the threads of any device."""
import numpy as np
import pytest

from cujit import cuda, int64
from cujit._kernel_functions import watchers

NOTES, NOTE_WORDS, FIRST_CASE, MOST_CASES = 64, 64, 4, 20
FIRST_RANK = 1 << 62


@cuda.jit
def note(state, number, first):
    own = cuda.local.array(8, int64)
    watchers.watch_begin(state, own)
    place = own[1] * 1024 + own[0]
    if place >= first:
        watchers.watch_overflow(state, own, number, place, -place)


def test_overflows_are_counted_and_the_first_thread_s_is_kept():
    state = np.zeros(NOTES + 3 * NOTE_WORDS, np.int64)
    note[(3, 2), (8, 4)](state, 1, 2 * 1024 + 5)
    times, rank, cases = state[NOTES + NOTE_WORDS:][:3]
    assert times == 4 * 32 - 5 and FIRST_RANK - rank == 2 * 1024 + 5 and 1 <= cases <= times
    kept = state[NOTES + NOTE_WORDS + FIRST_CASE:][:3 * min(cases, MOST_CASES)].reshape(-1, 3)
    number = FIRST_RANK - kept[:, 0].max()
    assert (number == 2 * 1024 + 5 or cases > MOST_CASES) and [number, -number] in kept[:, 1:].tolist()
    assert not state[:NOTES + NOTE_WORDS].any() and not state[NOTES + 2 * NOTE_WORDS:].any()


def test_cases_without_room_are_left_out():
    @cuda.jit
    def backwards(state):
        own = cuda.local.array(8, int64)
        watchers.watch_begin(state, own)
        for place in range(100, 0, -1):
            own[0] = place
            watchers.watch_overflow(state, own, 0, place, 0)

    state = np.zeros(NOTES + 2 * NOTE_WORDS, np.int64)
    backwards[1, 1](state)
    assert state[NOTES] == 100 and state[NOTES + 2] == 100 and FIRST_RANK - state[NOTES + 1] == 1
    assert state[NOTES + FIRST_CASE:][:3 * MOST_CASES].reshape(-1, 3)[:, 1].tolist() == list(range(100, 80, -1))
    assert not state[NOTES + NOTE_WORDS:].any()


# --- races ------------------------------------------------------------------------------------------------------------

READ, WRITE, ATOMIC, STRONG_READ, STRONG_WRITE = range(5)
SITE, THREAD, BLOCK, SLOTS = 1, 2, 3, 4
ACCESS, VALUE, FLAGS, CALL_LINE, EARLIER_SITE, EARLIER, EARLIER_VALUE, EARLIER_BLOCK = range(1, 9)
EARLIER_THREAD, NDIM, INDICES = 11, 14, 15
SHIFT, RANGES, RANGES_AT, BLOCKS_AT, SLABS, SLAB_CELLS, SLABS_AT = range(33, 40)
BLOCKS, CELLS = 8, 512  # GPUs keep the first KiB of shared memory, or more, for themselves
ARRAY = 1 << 50  # an address that no array has: 64 cells of 8 bytes
OWN_SHARED = 64  # a word that watchers do not use
ON_GPU = cuda.get_current_device().kind == "cuda"


def fresh_state():
    """As the host makes it: one array, and shared memory of 64 cells for each block."""
    state = np.zeros(64 + 3 + 2 * BLOCKS + 9 * CELLS * (BLOCKS + 1), np.int64)
    state[SHIFT:SLABS_AT + 1] = 3, 1, 64, 67, BLOCKS, CELLS, 67 + 2 * BLOCKS
    state[64:67] = ARRAY, ARRAY + 8 * CELLS, 67 + 2 * BLOCKS + 9 * CELLS * BLOCKS
    return state


@cuda.jit(device=True)
def in_shared(own, place):
    """The address of a byte of shared memory: watchers of the CPU device take what is below 2**16 for one."""
    return own[OWN_SHARED] + place


@cuda.jit(device=True)
def access(state, own, address, kind, site, value, memory):
    if watchers.watch_access(state, own, address, 8, kind, site, 1, value):
        own[9] = 1
        own[10] = address >> 3 & 7
        watchers.watch_race(state, own, 8, kind, site, 1, value, memory)


def found(body, grid=1, threads=64):
    """The state that threads leave which do what body(state, own, block, thread) says."""
    @cuda.jit
    def kernel(state):
        own = cuda.local.array(65, int64)
        watchers.watch_begin(state, own)
        if ON_GPU:
            own[OWN_SHARED] = cuda.shared.array(64, int64).ctypes.data
        body(state, own, own[1], own[0])

    state = fresh_state()
    kernel[grid, threads](state)
    return state


def test_a_race_and_what_is_told_of_it():
    @cuda.jit(device=True)
    def body(state, own, block, thread):
        own[8] = 17
        if thread == 3:
            access(state, own, in_shared(own, 40), WRITE, 7, 1234, 0)
        cuda.syncwarp()  # which the watchers are not told of
        if thread == 5:
            access(state, own, in_shared(own, 40), READ, 9, 0, 1234)

    state = found(body, grid=2)
    assert state[:4].tolist() == [1, 9, 5, state[BLOCK]]
    slots = state[SLOTS:]
    assert [slots[i] for i in (0, ACCESS, VALUE, CALL_LINE, EARLIER_SITE, EARLIER, EARLIER_VALUE)] == \
        [0, READ, 1234, 17, 7, WRITE, 1234]
    assert slots[FLAGS] == 1 + 2 + 4 + 8 and slots[EARLIER_BLOCK] == state[BLOCK] and slots[EARLIER_THREAD] == 3
    assert slots[NDIM] == 1 and slots[INDICES] == 5


KINDS = [READ, WRITE, ATOMIC, STRONG_READ, STRONG_WRITE]


@pytest.mark.parametrize("second", KINDS)
@pytest.mark.parametrize("first", KINDS)
def test_what_races_with_what(first, second):
    reads, strong = (READ, STRONG_READ), (ATOMIC, STRONG_READ, STRONG_WRITE)

    def body_at(is_shared):
        def body(state, own, block, thread):
            address = in_shared(own, 64) if is_shared else int64(ARRAY + 64)
            if block == 0 and thread < 2:
                access(state, own, address, first if thread == 0 else second, thread, 50 + thread, 3)
        return body

    races = not (first in reads and second in reads) and not (first in strong and second in strong)
    if (first, second) == (STRONG_READ, WRITE):
        races = True
    for is_shared in True, False:
        state = found(body_at(is_shared), threads=2)
        assert state[0] == races


def test_the_same_value_and_what_is_there_already():
    def same(state, own, block, thread):
        access(state, own, ARRAY, WRITE, 1, 5, 5)
        access(state, own, ARRAY, READ, 2, 0, 5)
        access(state, own, ARRAY, WRITE, 3, 5, 5)

    def other(state, own, block, thread):
        access(state, own, ARRAY, WRITE, 1, 5 + block, 5)

    def reader(state, own, block, thread):
        access(state, own, ARRAY, READ, 1, 0, 5)
        access(state, own, ARRAY, WRITE, 2, thread, 5)

    assert not found(same, grid=3)[0]
    assert found(other, grid=2)[0] and found(reader, threads=2)[0]


def test_what_the_array_does_not_have_is_let_be():
    def body(state, own, block, thread):
        for address in (ARRAY - 8, ARRAY + 8 * CELLS, ARRAY + 4, in_shared(own, 8 * CELLS)):
            access(state, own, address, WRITE, 1, thread, 5)

    assert not found(body)[0]


def test_shared_memory_is_each_block_s():
    def body(state, own, block, thread):
        access(state, own, in_shared(own, 8 * thread), WRITE, 1, block, 5)

    assert not found(body, grid=4 * BLOCKS, threads=8)[0]


def test_whole_blocks_and_lanes_that_meet():
    def barrier(state, own, block, thread):
        access(state, own, in_shared(own, 8 * thread), WRITE, 1, thread, 5)
        watchers.watch_meeting(state, own)
        cuda.syncthreads()
        watchers.watch_barrier(state, own)
        access(state, own, in_shared(own, 8 * (63 - thread)), READ, 2, 0, 5)

    def whole(state, own, block, thread):
        access(state, own, in_shared(own, 8 * thread), WRITE, 1, thread, 5)
        cuda.syncwarp()
        watchers.watch_lanes(state, own, -1)
        access(state, own, in_shared(own, 8 * (thread ^ 31)), WRITE, 2, 100, 5)

    def too_far(state, own, block, thread):
        access(state, own, in_shared(own, 8 * thread), WRITE, 1, thread, 5)
        cuda.syncwarp()
        watchers.watch_lanes(state, own, -1)
        access(state, own, in_shared(own, 8 * (thread ^ 32)), READ, 2, 0, 5)

    assert not found(barrier)[0] and not found(whole)[0]
    state = found(too_far)
    assert state[0] and state[SLOTS + FLAGS] & 12 == 4


@pytest.mark.parametrize("masks, is_known", [((0xFFFF,), False), ((0x3FF, 0x600), True), ((0x600, 0x3FF), False),
                                             ((0x3FF, 0x600, 0xFFFFFFFF), True)])
def test_lanes_tell_what_others_have_told_them(masks, is_known):
    """Lane 0 writes and lane 10 reads."""
    def body(state, own, block, thread):
        if thread == 0:
            access(state, own, ARRAY, WRITE, 1, 4, 5)
        for mask in masks:
            if mask >> thread & 1:
                cuda.syncwarp(mask)
                watchers.watch_lanes(state, own, mask)
        if thread == 10 + 10 * (len(masks) == 1):
            access(state, own, ARRAY, READ, 2, 0, 5)

    assert found(body, threads=32)[0] != is_known


def test_lanes_that_a_mask_does_not_name_pass():
    def body(state, own, block, thread):
        watchers.watch_lanes(state, own, 0xFFFF)
        own[2] = thread

    assert not found(body, threads=32)[0]


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("behind", [True, False])
def test_a_flag_with_its_fences(before, behind):
    @cuda.jit
    def kernel(state, flag):
        own = cuda.local.array(64, int64)
        watchers.watch_begin(state, own)
        if own[1] == 0:
            access(state, own, ARRAY, WRITE, 1, 4, 5)
            if before:
                watchers.watch_fence(state, own)
            access(state, own, ARRAY + 8, ATOMIC, 2, 0, 5)
            cuda.threadfence()
            cuda.atomic.exch(flag, 0, 1)
        else:
            while cuda.atomic.add(flag, 0, 0) != 1:
                pass
            access(state, own, ARRAY + 8, ATOMIC, 3, 0, 5)
            if behind:
                watchers.watch_fence(state, own)
            access(state, own, ARRAY, READ, 4, 0, 5)

    state = fresh_state()
    kernel[2, 1](state, np.zeros(1, np.int64))
    assert (state[0] == 0) == (before and behind)
    assert state[32] == before


def test_meetings_of_the_grid():
    def body(state, own, block, thread):
        watchers.watch_begin(state, own)
        access(state, own, ARRAY + 8 * (block * 8 + thread), WRITE, 1, thread, 5)
        watchers.watch_grid_meeting(state, own)
        cuda.cg.this_grid().sync()
        watchers.watch_grid(state, own)
        access(state, own, ARRAY + 8 * ((block ^ 1) * 8 + thread), WRITE, 2, 7, 5)

    assert not found(body, grid=4, threads=8)[0]


# --- what nothing has written -----------------------------------------------------------------------------------------

FRESH, FRESH_AT, SHARED_WORDS, SHARED_BLOCKS, SHARED_AT = range(40, 45)
TOUCHED, BITS = 67, 68


def state_of_bytes():
    """Of an array of 200 bytes, of which the first two are written, and of shared memory of two blocks."""
    state = np.zeros(80 + 2 * 64, np.int64)
    state[FRESH:SHARED_AT + 1] = 1, 64, 64, 2, 80
    state[64:69] = ARRAY, ARRAY + 200, BITS, 0, 3
    return state


def saw_of(body, state, grid=1, threads=1):
    """What watch_bytes says of the reads that body(state, own, read) makes, a bit for each."""
    @cuda.jit
    def kernel(state, saw):
        own = cuda.local.array(200, int64)
        watchers.watch_begin(state, own)
        base = int64(0)
        if ON_GPU:
            base = int64(cuda.shared.array(64, int64).ctypes.data)
        saw[own[1], own[0]] = body(state, own, base)

    saw = np.zeros((grid, threads), np.int64)
    kernel[grid, threads](state, saw)
    return saw.tolist()


@cuda.jit(device=True)
def write(state, own, address, size):
    watchers.watch_bytes(state, own, address, size, 1)


@cuda.jit(device=True)
def lacks(state, own, address, size):
    return watchers.watch_bytes(state, own, address, size, 0)


def test_bytes_of_an_array():
    def body(state, own, base):
        write(state, own, ARRAY + 60, 8)
        write(state, own, ARRAY + 128, 72)
        saw = lacks(state, own, ARRAY, 2) | lacks(state, own, ARRAY, 3) << 1 | lacks(state, own, ARRAY + 60, 8) << 2
        saw |= lacks(state, own, ARRAY + 59, 8) << 3 | lacks(state, own, ARRAY + 61, 8) << 4
        saw |= lacks(state, own, ARRAY + 192, 16) << 5 | lacks(state, own, ARRAY + 120, 9) << 6
        return saw | lacks(state, own, ARRAY + 200, 8) << 7 | lacks(state, own, ARRAY - 1, 1) << 8

    state = state_of_bytes()
    assert saw_of(body, state) == [[2 + 8 + 16 + 64]]
    assert state[BITS:BITS + 4].view(np.uint64).tolist() == [0xF << 60 | 3, 0xF, 2**64 - 1, 0xFF]


def test_what_somebody_else_may_write_is_written():
    def body(state, own, base):
        saw = lacks(state, own, ARRAY + 9, 1)
        watchers.watch_touch(state, own, ARRAY + 8, 16)
        watchers.watch_touch(state, own, base + 8, 16)
        return saw | lacks(state, own, ARRAY + 100, 8) << 1 | lacks(state, own, base + 8, 16) << 2 \
            | lacks(state, own, base + 7, 2) << 3

    state = state_of_bytes()
    assert saw_of(body, state) == [[1 + 8]] and state[TOUCHED] == 1


def test_shared_memory_has_bits_for_each_block():
    def body(state, own, base):
        if own[1] != 1:
            write(state, own, base + 8 * own[0], 8)
        return lacks(state, own, base + 8 * own[0], 8) | lacks(state, own, base + 1000, 8) << 1

    assert saw_of(body, state_of_bytes(), grid=3, threads=2) == [[2, 2], [3, 3], [0, 0]]


def test_arrays_of_a_thread():
    """The last one that lies somewhere is looked after; words 64 to 69 of `own` are for two, then come their bits."""
    def body(state, own, base):
        watchers.watch_fresh(state, own, 64, 70, ARRAY + 1000, 100)
        watchers.watch_fresh(state, own, 67, 72, ARRAY + 2000, 64)
        write(state, own, ARRAY + 1096, 4)
        write(state, own, ARRAY + 2000, 8)
        saw = lacks(state, own, ARRAY + 1096, 4) | lacks(state, own, ARRAY + 1095, 2) << 1
        saw |= lacks(state, own, ARRAY + 2000, 8) << 2 | lacks(state, own, ARRAY + 2004, 8) << 3
        watchers.watch_fresh(state, own, 64, 70, ARRAY + 1000, 100)
        saw |= lacks(state, own, ARRAY + 1096, 4) << 4
        watchers.watch_fresh(state, own, 67, 72, ARRAY + 1090, 64)
        return saw | lacks(state, own, ARRAY + 1000, 4) << 5 | lacks(state, own, ARRAY + 1096, 4) << 6 \
            | lacks(state, own, ARRAY + 2008, 4) << 7

    assert saw_of(body, state_of_bytes()) == [[2 + 8 + 16 + 64]]


def test_the_first_unwritten_element_is_told_of():
    def body(state, own, base):
        own[8], own[9], own[10] = 12, 1, 7
        watchers.watch_unwritten(state, own, READ, 3)
        watchers.watch_unwritten(state, own, ATOMIC, 4)
        return lacks(state, own, ARRAY + 100, 8)

    state = state_of_bytes()
    assert saw_of(body, state) == [[0]]
    slots = state[SLOTS:]
    assert state[:4].tolist() == [1, 3, 0, 0] and slots[:3].tolist() == [1, READ, 0]
    assert slots[CALL_LINE] == 12 and slots[NDIM] == 1 and slots[INDICES] == 7


# --- threads that miss others -----------------------------------------------------------------------------------------

MEETINGS = 64  # where the state has what is kept of the block
BLOCKED, GONE, RAISED, ARRIVED, PLACE, ROUND, IS_ABANDONED = range(1, 8)
GONE_LANES, RAISED_LANES, WAITS = 8, 40, 72
IS_HANG, IS_ABSENT = 2, 3
ALL_LANES = 0xFFFFFFFF
SHUFFLE, SYNCWARP = 1, 0  # flags of what is no barrier
RETURNS, RAISES = 0, 1


def met(body, threads=64):
    """The fault, and what is kept of the block, of threads that do what body(state, own, thread) says; it returns how
    they end."""
    @cuda.jit
    def kernel(state):
        own = cuda.local.array(64, int64)
        watchers.watch_begin(state, own)
        watchers.watch_gone(state, own, body(state, own, own[0]))

    state = np.zeros(MEETINGS + WAITS + threads, np.int64)
    state[45:48] = MEETINGS, WAITS + threads, 0
    kernel[1, threads](state)
    return state[:MEETINGS], state[MEETINGS:]


def test_threads_that_meet():
    def body(state, own, thread):
        for k in range(3 + thread % 2):
            if k < 3:
                watchers.watch_meet_block(state, own, 5, 70 + k)
            watchers.watch_meet_lanes(state, own, ALL_LANES if k < 3 else 0xAAAAAAAA, 6, 80, SHUFFLE)
        return RETURNS

    fault, block = met(body)
    assert not fault[:32].any() and block[ROUND] == 3 and block[GONE] == 64
    assert not block[BLOCKED] and not block[ARRIVED] and not block[WAITS:].any()
    assert block[GONE_LANES:GONE_LANES + 2].tolist() == [ALL_LANES] * 2


def test_threads_that_return_are_missed():
    def body(state, own, thread):
        if thread >= 10:
            watchers.watch_meet_block(state, own, 5, 70)
        return RETURNS

    fault, block = met(body)
    assert fault[:5].tolist() == [1, 0, fault[THREAD], 0, IS_HANG]
    assert block[WAITS:].tolist() == [0] * 10 + [(6 << 53) + (70 << 32)] * 54


def test_other_barriers_and_other_masks():
    def lines(state, own, thread):
        own[8] = 90  # of the user's call, where the library's barrier is in no line
        watchers.watch_meet_block(state, own, 5, 70 * (thread % 2))
        return RETURNS

    def masks(state, own, thread):
        watchers.watch_meet_lanes(state, own, 0xFFFF if thread < 8 else ALL_LANES, 6, 80, SYNCWARP)
        return RETURNS

    def both(state, own, thread):
        if thread == 3:
            watchers.watch_meet_block(state, own, 5, 70)
        else:
            watchers.watch_meet_lanes(state, own, ALL_LANES, 6, 80, SYNCWARP)
        return RETURNS

    fault, block = met(lines)
    assert fault[0] and fault[SLOTS] == IS_HANG and (block[WAITS:] >> 32 & 0xFFFFF).tolist() == [90, 70] * 32
    fault, block = met(masks, 32)
    assert fault[0] and (block[WAITS:] & ALL_LANES).tolist() == [0xFFFF] * 8 + [ALL_LANES] * 24
    fault, block = met(both, 32)
    assert fault[0] and (block[WAITS:] >> 53).tolist() == [7] * 3 + [6] + [7] * 28


def test_a_lane_that_its_mask_lacks():
    def body(state, own, thread):
        watchers.watch_meet_lanes(state, own, 0xFFFF if thread < 17 else 0xFFFF0000, 6, 80, SHUFFLE)
        return RETURNS

    fault, block = met(body, 32)
    assert fault[0] and block[WAITS + 16] & ALL_LANES == 0xFFFF


@pytest.mark.parametrize("flags, threads, lanes", [(SHUFFLE, 40, 0xFFFFFF00), (SHUFFLE + 2, 40, 0), (SYNCWARP, 40, 0),
                                                   (SHUFFLE, 64, 0), (SHUFFLE + 2, 39, 0xFFFFFF80)])
def test_lanes_that_are_not_there(flags, threads, lanes):
    """The block has 40 threads or 64, of which `threads` take part."""
    size = 64 if threads == 64 else 40

    def body(state, own, thread):
        if thread < threads:
            watchers.watch_meet_lanes(state, own, ALL_LANES, 6, 80, flags)
        return RETURNS

    fault, _ = met(body, size)
    if threads == 39:  # the library names the lanes that the block has
        lanes &= 0xFF
    assert fault[0] == (lanes != 0) and fault[SLOTS + VALUE] == lanes
    assert not lanes or (fault[SLOTS] == IS_ABSENT and 32 <= fault[THREAD] < 40)


def test_an_exception_is_no_reason_to_miss_a_thread():
    def at_barrier(state, own, thread):
        if thread == 5:
            return RAISES
        watchers.watch_meet_block(state, own, 5, 70)
        watchers.watch_meet_lanes(state, own, ALL_LANES, 6, 80, SHUFFLE)
        return RETURNS

    def among_returned(state, own, thread):
        if thread == 5:
            return RAISES
        if thread > 9:
            watchers.watch_meet_block(state, own, 5, 70)
        return RETURNS

    fault, block = met(at_barrier)
    assert not fault[:32].any() and block[ROUND] == 1 and block[RAISED_LANES] == 1 << 5 and not block[IS_ABANDONED]
    fault, block = met(among_returned)
    assert not fault[:32].any() and block[IS_ABANDONED] and block[ROUND] == 0
