"""What checked kernels call on a GPU (core/kernel/watcher.def). `state` is the launch's, in the device's memory, zeroed
where it begins; `own` is what the thread keeps of itself; their words are core/kernel/watch_state.h's."""
from cujit import cuda
from cujit.types import int32, int64, uint32

# Words of the state, of a note, and of one of its cases.
_NOTES = 64
_TIMES, _RANK, _CASES, _FIRST_CASE, _NOTE_WORDS = 0, 1, 2, 4, 64
_CASE_RANK, _OPERANDS, _CASE_WORDS, _MOST_CASES = 0, 1, 3, 20
_FIRST_RANK = 1 << 62

# Words of a thread.
_THREAD, _BLOCK = 0, 1
_THREADS = 1024


def watch_begin(state, own):
    for word in range(own.size):
        own[word] = 0
    own[_THREAD] = cuda.threadIdx.x + cuda.blockDim.x * (cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)
    own[_BLOCK] = cuda.blockIdx.x + cuda.gridDim.x * (cuda.blockIdx.y + cuda.gridDim.y * cuda.blockIdx.z)


def watch_overflow(state, own, number, first, second):
    """Counts. Of a thread that comes before all others so far, by blocks and threads, it leaves the operands."""
    note = _NOTES + number * _NOTE_WORDS
    cuda.atomic.add(state, note + _TIMES, 1)
    rank = _FIRST_RANK - (own[_BLOCK] * _THREADS + own[_THREAD])
    if cuda.atomic.max(state, note + _RANK, rank) >= rank:
        return
    place = cuda.atomic.add(state, note + _CASES, 1)
    if place < _MOST_CASES:
        case = note + _FIRST_CASE + place * _CASE_WORDS
        state[case + _CASE_RANK] = rank
        state[case + _OPERANDS] = first
        state[case + _OPERANDS + 1] = second


# --- races ------------------------------------------------------------------------------------------------------------
# A cell of the shadow has the last write, the last atomic or volatile write, and two reads of so many bytes: two words
# each, who (block + 1, thread, epoch, whole, part) and what (a tag of the first word, the site, the kind, when, a hash
# of the value). A block's barriers count its epochs; within one, a warp counts the times that all of its lanes met,
# and a lane those that it met some of them. What threads tell others by fences and atomics has a number: an access is
# known to who has looked since its block told. That and the cell's few words make what is found less than the CPU
# device finds, and never more. Words that do not belong together, since another thread has come between them, have
# different tags; a write that finds such a pair looks again, as its other half may be on the way.

# Words of the state, of a range, and of a cell.
_FAULT, _SITE, _FAULT_THREAD, _FAULT_BLOCK, _SLOTS = 0, 1, 2, 3, 4
_RELEASES, _SHIFT, _RANGES, _RANGES_AT, _BLOCKS_AT, _SLABS, _SLAB_CELLS, _SLABS_AT = 32, 33, 34, 35, 36, 37, 38, 39
_BEGIN, _END, _CELLS_AT, _RANGE_WORDS = 0, 1, 2, 3
_WRITE, _WRITTEN, _STRONG, _READ, _OTHER_READ, _CELL_WORDS = 0, 2, 3, 5, 7, 9

# More words of a thread.
_EPOCH, _WHOLE, _PART, _HAS_FENCED, _HAS_SEEN, _LOOKED, _CALL_LINE, _NDIM, _INDICES = 2, 3, 4, 5, 6, 7, 8, 9, 10
_OTHER, _OTHER_WHAT, _OTHER_VALUE, _WROTE, _KNOWN = 18, 19, 20, 24, 32

# Bits of `who`, and of `what`.
_WHO_BLOCK, _WHO_THREAD, _WHO_EPOCH, _WHO_WHOLE = 44, 34, 18, 6
_LAST_EPOCH, _LAST_WHOLE, _LAST_PART = 0xFFFF, 0xFFF, 0x3F
_WHAT_TAG, _WHAT_SITE, _WHAT_KIND, _WHAT_WHEN = 55, 38, 35, 15
_LAST_SITE, _LAST_WHEN, _HAS_HASH, _HASH = 0x1FFFF, 0xFFFFF, 0x4000, 0x7FFF

# Kinds of accesses, and the slots of a fault with its flags (core/watch_kind.h).
_A_READ, _A_WRITE, _AN_ATOMIC, _A_STRONG_READ, _A_STRONG_WRITE = 0, 1, 2, 3, 4
(_SLOT_KIND, _SLOT_ACCESS, _SLOT_VALUE, _SLOT_FLAGS, _SLOT_CALL_LINE, _SLOT_SITE, _SLOT_EARLIER, _SLOT_EARLIER_VALUE,
 _SLOT_BLOCK) = range(9)
_SLOT_THREAD, _SLOT_NDIM, _SLOT_INDICES = 11, 14, 15
_LOOKS_AGAIN = 64
_HAS_VALUE, _HAS_EARLIER_VALUE, _SAME_BLOCK, _SAME_WARP = 1, 2, 4, 8
_IS_RACE, _IS_UNWRITTEN = 0, 1


def _shared_offset(address):
    """Where in the block's shared memory; -1: not there. No kernel of the CPU device calls a watcher; where one is
    called by hand, an address below 2**16, which no array has, is one in shared memory."""
    return address if 0 <= address < 0x10000 else int64(-1)


_shared_offset.__assembly__ = ("{ .reg .pred is_shared; .reg .b64 offset; isspacep.shared is_shared, $1; "
                               "cvta.to.shared.u64 offset, $1; selp.b64 $0, offset, -1, is_shared; }", True, False)


def _cell_of(state, own, address):
    offset, shift = _shared_offset(address), state[_SHIFT]
    if offset >= 0:
        cell = offset >> shift
        if cell >= state[_SLAB_CELLS]:
            return int64(-1)
        return state[_SLABS_AT] + (own[_BLOCK] % state[_SLABS] * state[_SLAB_CELLS] + cell) * _CELL_WORDS
    place = state[_RANGES_AT]
    for _ in range(state[_RANGES]):
        if state[place + _BEGIN] <= address < state[place + _END]:
            return state[place + _CELLS_AT] + (address - state[place + _BEGIN] >> shift) * _CELL_WORDS
        place += _RANGE_WORDS
    return int64(-1)


def _tag_of(who):
    return (who ^ who >> 6 ^ who >> 18 ^ who >> 34 ^ who >> 44 ^ who >> 52) & 0xFF


def _hash_of(value):
    return (value ^ value >> 14 ^ value >> 28 ^ value >> 42 ^ value >> 56) & (_HAS_HASH - 1) | _HAS_HASH


def _is_ordered(state, own, who, when):
    block, thread = (who >> _WHO_BLOCK) - 1, who >> _WHO_THREAD & 1023
    if block == own[_BLOCK]:
        epoch = who >> _WHO_EPOCH & _LAST_EPOCH
        if thread == own[_THREAD] or epoch != own[_EPOCH] or epoch == _LAST_EPOCH:
            return True
        if thread >> 5 == own[_THREAD] >> 5:
            whole, part = who >> _WHO_WHOLE & _LAST_WHOLE, who & _LAST_PART
            if whole != own[_WHOLE] or whole == _LAST_WHOLE or part == _LAST_PART or own[_KNOWN + (thread & 31)] > part:
                return True
    if when == _LAST_WHEN:
        return True
    return own[_LOOKED] > when and cuda.ldcg(state, state[_BLOCKS_AT] + 2 * block) > when


def _suspect(state, own, is_shared, who, what, value, is_harmless):
    """Remembers the access, if it is another thread's and nothing orders it. A slab of shared memory is of several
    blocks, one after the other."""
    if who == 0 or is_harmless or own[_OTHER] != 0 or what >> _WHAT_TAG != _tag_of(who):
        return
    if is_shared and (who >> _WHO_BLOCK) - 1 != own[_BLOCK]:
        return
    if not _is_ordered(state, own, who, what >> _WHAT_WHEN & _LAST_WHEN):
        own[_OTHER] = who
        own[_OTHER_WHAT] = what
        own[_OTHER_VALUE] = value


def _suspect_reads(state, own, is_shared, cell, also_strong):
    for read in (_READ, _OTHER_READ):
        what = cuda.ldcg(state, cell + read + 1)
        is_strong = what >> _WHAT_KIND & 7 == _A_STRONG_READ
        _suspect(state, own, is_shared, cuda.ldcg(state, cell + read), what, int64(0), is_strong and not also_strong)


def _settled(state, place, who, what, mine):
    """What belongs to `who`. Where two threads write at once, each may have come first in one of the words: then both
    find words that do not belong together. The one that came second in the first word looks again, and puts its own."""
    for _ in range(_LOOKS_AGAIN):
        if who == 0 or what >> _WHAT_TAG == _tag_of(who):
            break
        what = cuda.ldcg(state, place)
        if what >> _WHAT_TAG == _tag_of(who):
            cuda.atomic.exch(state, place, mine)
    return what


def _note_write(state, own, is_shared, cell, who, what, has_value, value):
    before = cuda.atomic.exch(state, cell + _WRITTEN, value) if has_value else int64(0)
    other = cuda.atomic.exch(state, cell + _WRITE, who)
    other_what = cuda.atomic.exch(state, cell + _WRITE + 1, what)
    cuda.threadfence()
    other_what = _settled(state, cell + _WRITE + 1, other, other_what, what)
    is_same = has_value and what & _HASH == other_what & _HASH
    _suspect(state, own, is_shared, other, other_what, before, is_same)
    _suspect(state, own, is_shared, cuda.ldcg(state, cell + _STRONG), cuda.ldcg(state, cell + _STRONG + 1), int64(0),
             False)
    _suspect_reads(state, own, is_shared, cell, True)
    mine = _WROTE + 2 * (cell & 3)
    own[mine] = cell
    own[mine + 1] = what & _HASH if has_value else int64(0)


def _note_read(state, own, is_shared, cell, who, what, kind):
    other = cuda.atomic.exch(state, cell + _READ, who)
    other_what = cuda.atomic.exch(state, cell + _READ + 1, what)
    if other != 0 and other >> _WHO_THREAD != who >> _WHO_THREAD:
        cuda.atomic.exch(state, cell + _OTHER_READ, other)
        cuda.atomic.exch(state, cell + _OTHER_READ + 1, other_what)
    cuda.threadfence()
    mine = _WROTE + 2 * (cell & 3)
    written = cuda.ldcg(state, cell + _WRITE + 1)
    wrote_it_too = kind == _A_READ and own[mine] == cell and own[mine + 1] != 0 and own[mine + 1] == written & _HASH
    _suspect(state, own, is_shared, cuda.ldcg(state, cell + _WRITE), written, cuda.ldcg(state, cell + _WRITTEN),
             wrote_it_too)
    if kind == _A_READ:
        _suspect(state, own, is_shared, cuda.ldcg(state, cell + _STRONG), cuda.ldcg(state, cell + _STRONG + 1),
                 int64(0), False)


def _note_strong(state, own, is_shared, cell, who, what):
    cuda.atomic.exch(state, cell + _STRONG, who)
    cuda.atomic.exch(state, cell + _STRONG + 1, what)
    cuda.threadfence()
    _suspect(state, own, is_shared, cuda.ldcg(state, cell + _WRITE), cuda.ldcg(state, cell + _WRITE + 1),
             cuda.ldcg(state, cell + _WRITTEN), False)
    _suspect_reads(state, own, is_shared, cell, False)


def _note_access(state, own, first, size, kind, site, is_scalar, value):
    shift, step = state[_SHIFT], 1 << state[_SHIFT]
    is_shared = first < state[_SLABS_AT] + state[_SLABS] * state[_SLAB_CELLS] * _CELL_WORDS
    who = ((own[_BLOCK] + 1 << _WHO_BLOCK) + (own[_THREAD] << _WHO_THREAD) + (own[_EPOCH] << _WHO_EPOCH)
           + (own[_WHOLE] << _WHO_WHOLE) + own[_PART])
    when = min(cuda.ldcg(state, _RELEASES), _LAST_WHEN)
    what = ((_tag_of(who) << _WHAT_TAG) + (min(site, _LAST_SITE) << _WHAT_SITE) + (kind << _WHAT_KIND)
            + (when << _WHAT_WHEN))
    for part in range(size >> shift):
        cell = first + part * _CELL_WORDS
        if kind == _A_WRITE:
            piece = int64(0)
            if is_scalar:
                piece = value >> (8 * step * part) if step * part < 8 else int64(0)
                if step < 8:
                    piece &= (1 << 8 * step) - 1
            _note_write(state, own, is_shared, cell, who, what + (_hash_of(piece) if is_scalar else 0), is_scalar != 0,
                        piece)
        elif kind in (_A_READ, _A_STRONG_READ):
            _note_read(state, own, is_shared, cell, who, what, kind)
        else:
            _note_strong(state, own, is_shared, cell, who, what)


def watch_access(state, own, address, size, kind, site, is_scalar, value):
    """Notes an access that comes next. 1: it may race with an earlier one, of which `own` has what is known."""
    if cuda.ldcg(state, _FAULT) != 0:
        return int64(0)
    cell = _cell_of(state, own, address)
    if cell < 0 or address & ((1 << state[_SHIFT]) - 1):
        return int64(0)
    cuda.threadfence()
    own[_OTHER] = 0
    _note_access(state, own, cell, size, kind, site, is_scalar, value)
    if own[_HAS_FENCED] and kind in (_AN_ATOMIC, _A_STRONG_WRITE):
        watch_release(state, own)
    if kind in (_AN_ATOMIC, _A_STRONG_READ):
        own[_HAS_SEEN] = 1
    return int64(own[_OTHER] != 0)


def _begin_fault(state, own, what, kind, site):
    state[_SITE] = site
    state[_FAULT_THREAD] = own[_THREAD]
    state[_FAULT_BLOCK] = own[_BLOCK]
    state[_SLOTS + _SLOT_KIND] = what
    state[_SLOTS + _SLOT_ACCESS] = kind
    state[_SLOTS + _SLOT_CALL_LINE] = own[_CALL_LINE]
    state[_SLOTS + _SLOT_NDIM] = own[_NDIM]
    for axis in range(own[_NDIM]):
        state[_SLOTS + _SLOT_INDICES + axis] = own[_INDICES + axis]


def watch_race(state, own, size, kind, site, is_scalar, value, memory):
    """The first thread leaves what the host tells of. Who writes what the memory has already disturbs nobody who has
    read it."""
    who, what = own[_OTHER], own[_OTHER_WHAT]
    earlier = what >> _WHAT_KIND & 7
    if kind == _A_WRITE and earlier == _A_READ and is_scalar and value == memory:
        return
    if cuda.atomic.cas(state, _FAULT, 0, 1) != 0:
        return
    _begin_fault(state, own, _IS_RACE, kind, site)
    reads, other_reads = kind in (_A_READ, _A_STRONG_READ), earlier in (_A_READ, _A_STRONG_READ)
    block, thread = (who >> _WHO_BLOCK) - 1, who >> _WHO_THREAD & 1023
    has_written = (earlier == _A_WRITE and size == 1 << state[_SHIFT]
                   and what & _HASH == _hash_of(own[_OTHER_VALUE]))
    flags = _HAS_VALUE if is_scalar and kind != _AN_ATOMIC else 0
    flags |= _HAS_EARLIER_VALUE if is_scalar and (other_reads or has_written) else 0
    if block == own[_BLOCK]:
        flags |= _SAME_BLOCK + (_SAME_WARP if thread >> 5 == own[_THREAD] >> 5 else 0)
    state[_SLOTS + _SLOT_VALUE] = memory if reads else value
    state[_SLOTS + _SLOT_FLAGS] = flags
    state[_SLOTS + _SLOT_SITE] = what >> _WHAT_SITE & _LAST_SITE
    state[_SLOTS + _SLOT_EARLIER] = earlier
    state[_SLOTS + _SLOT_EARLIER_VALUE] = own[_OTHER_VALUE] if has_written else memory
    state[_SLOTS + _SLOT_BLOCK] = block
    state[_SLOTS + _SLOT_THREAD] = thread


# --- threads that tell each other -------------------------------------------------------------------------------------

def watch_release(state, own):
    """What the block did so far is told to whoever looks from now on."""
    number = cuda.atomic.add(state, _RELEASES, 1) + 1
    cuda.atomic.max(state, state[_BLOCKS_AT] + 2 * own[_BLOCK], number)
    cuda.threadfence()


def watch_acquire(state, own):
    own[_HAS_SEEN] = 0
    own[_LOOKED] = cuda.ldcg(state, _RELEASES)
    cuda.atomic.max(state, state[_BLOCKS_AT] + 2 * own[_BLOCK] + 1, own[_LOOKED])


def watch_fence(state, own):
    own[_HAS_FENCED] = 1
    if own[_HAS_SEEN]:
        watch_acquire(state, own)


def watch_meeting(state, own):
    if own[_HAS_SEEN]:
        watch_acquire(state, own)
        cuda.threadfence()


def _hear(state, own):
    own[_LOOKED] = max(own[_LOOKED], cuda.ldcg(state, state[_BLOCKS_AT] + 2 * own[_BLOCK] + 1))


def _forget_lanes(own):
    own[_PART] = 0
    for lane in range(32):
        own[_KNOWN + lane] = 0


def watch_lanes(state, own, mask):
    """Lanes know of each other all that they did before; where some of them are left out, lane by lane. syncwarp lets
    lanes pass that its mask does not name."""
    if not mask >> (own[_THREAD] & 31) & 1:
        return
    if mask & 0xFFFFFFFF == 0xFFFFFFFF:
        own[_WHOLE] = min(own[_WHOLE] + 1, _LAST_WHOLE)
        _forget_lanes(own)
    else:
        own[_KNOWN + (own[_THREAD] & 31)] = own[_PART] + 1
        for lane in range(32):
            known = int32(own[_KNOWN + lane])
            most = known
            for other in range(32):
                if mask >> other & 1:
                    most = max(most, cuda.shfl_sync(uint32(mask), known, other))
            own[_KNOWN + lane] = most
        own[_PART] = min(own[_PART] + 1, _LAST_PART)
    _hear(state, own)


def watch_barrier(state, own):
    own[_EPOCH] = min(own[_EPOCH] + 1, _LAST_EPOCH)
    own[_WHOLE] = 0
    _forget_lanes(own)
    _hear(state, own)


def watch_grid_meeting(state, own):
    """All threads of the block come here, before they meet others: one number is for all of them."""
    cuda.syncthreads()
    if own[_THREAD] == 0:
        watch_release(state, own)


def watch_grid(state, own):
    watch_acquire(state, own)
    watch_barrier(state, own)


# --- what nothing has written -----------------------------------------------------------------------------------------
# A bit for each byte, 1 once it is written: of arrays in global memory of which the host says that they are not written
# in full, of each block's shared memory, and, in `own`, of the thread's own arrays.

# Words of the state, of an array in global memory, and of one of the thread's own.
_FRESH, _FRESH_AT, _SHARED_WORDS, _SHARED_BLOCKS, _SHARED_AT = 40, 41, 42, 43, 44
_BITS_AT, _IS_TOUCHED, _FRESH_WORDS = 2, 3, 4
_ARRAYS, _ARRAYS_END, _ARRAY_WORDS = 64, 21, 3


def _mask_of(word, first, last):
    """Of the bits [first, last) those that lie in the word."""
    low, high = max(first - (word << 6), int64(0)), last - (word << 6)
    mask = int64(-1) << low
    return mask & (int64(1) << high) - 1 if high < 64 else mask


def _note_bytes(state, at, first, size, writes):
    """Whether some of them are read that are not written."""
    for word in range(first >> 6, (first + size - 1 >> 6) + 1):
        mask = _mask_of(word, first, first + size)
        if cuda.ldcg(state, at + word) & mask != mask:
            if not writes:
                return True
            cuda.atomic.or_(state, at + word, mask)
    return False


def _note_own_bytes(own, at, first, size, writes):
    for word in range(first >> 6, (first + size - 1 >> 6) + 1):
        mask = _mask_of(word, first, first + size)
        if writes:
            own[at + word] |= mask
        elif own[at + word] & mask != mask:
            return True
    return False


def _own_array_of(own, address):
    for place in range(_ARRAYS, own[_ARRAYS_END], _ARRAY_WORDS):
        if own[place + _BEGIN] <= address < own[place + _END]:
            return place
    return int64(-1)


def _fresh_of(state, address):
    place = state[_FRESH_AT]
    for _ in range(state[_FRESH]):
        if state[place + _BEGIN] <= address < state[place + _END]:
            return place
        place += _FRESH_WORDS
    return int64(-1)


def _note_shared_bytes(state, own, offset, size, writes):
    if own[_BLOCK] >= state[_SHARED_BLOCKS] or offset + size > state[_SHARED_WORDS] << 6:
        return False
    return _note_bytes(state, state[_SHARED_AT] + own[_BLOCK] * state[_SHARED_WORDS], offset, size, writes)


def _has_unwritten(state, own, address, size, writes):
    offset = _shared_offset(address)
    if offset >= 0:
        return _note_shared_bytes(state, own, offset, size, writes)
    place = _own_array_of(own, address)
    if place >= 0:
        return _note_own_bytes(own, own[place + _BITS_AT], address - own[place + _BEGIN],
                               min(size, own[place + _END] - address), writes)
    place = _fresh_of(state, address)
    if place < 0 or cuda.ldcg(state, place + _IS_TOUCHED):
        return False
    return _note_bytes(state, state[place + _BITS_AT], address - state[place + _BEGIN],
                       min(size, state[place + _END] - address), writes)


def watch_bytes(state, own, address, size, writes):
    """Notes bytes that are written next. 1: some of those that are read next are not."""
    if size <= 0 or cuda.ldcg(state, _FAULT) != 0:
        return int64(0)
    return int64(_has_unwritten(state, own, address, size, writes))


def watch_unwritten(state, own, kind, site):
    """The first thread leaves what the host tells of."""
    if cuda.atomic.cas(state, _FAULT, 0, 1) == 0:
        _begin_fault(state, own, _IS_UNWRITTEN, kind, site)


def watch_fresh(state, own, place, bits_at, address, size):
    """An array of the thread's own has this place in `own`. What lay there before is no array any more: functions that
    call themselves have several with one place, of which the last one is looked after."""
    for other in range(_ARRAYS, own[_ARRAYS_END], _ARRAY_WORDS):
        if own[other + _BEGIN] < address + size and address < own[other + _END]:
            own[other + _BEGIN] = 0
            own[other + _END] = 0
    own[place + _BEGIN] = address
    own[place + _END] = address + size
    own[place + _BITS_AT] = bits_at
    own[_ARRAYS_END] = max(own[_ARRAYS_END], place + _ARRAY_WORDS)
    for word in range(bits_at, bits_at + (size + 63 >> 6)):
        own[word] = 0


def watch_touch(state, own, address, size):
    """Bytes may be written that nobody tells of. Of an array in global memory all are then, as on the CPU device."""
    place = _fresh_of(state, address)
    if place >= 0:
        cuda.atomic.exch(state, place + _IS_TOUCHED, 1)
    elif size > 0:
        _has_unwritten(state, own, address, size, int64(1))


# --- threads that miss others -----------------------------------------------------------------------------------------
# Threads wait for each other here, in front of the GPU's own barriers and exchanges, which tell nobody: each change is
# made under the block's lock, by the thread that comes or ends, or by one for all lanes that do so together; it lets go
# who waits for that. Where all threads of the block wait or have ended, they wait for ever. Who was let go meets the
# others of its warp, for the waiting has parted them, and a block's barrier of GPUs counts whole warps.

# Words of the state, and of a block.
_MEETINGS_AT, _MEETING_WORDS, _ENDS = 45, 46, 47
_LOCK, _BLOCKED, _GONE, _RAISED, _ARRIVED, _PLACE, _ROUND, _IS_ABANDONED = 0, 1, 2, 3, 4, 5, 6, 7
_GONE_LANES, _RAISED_LANES, _WAITS = 8, 40, 72
_WAIT_LINE, _WAIT_IS_EXCHANGE, _WAIT_OPERATION = 32, 52, 53
_LINE, _ALL_LANES = 0xFFFFF, 0xFFFFFFFF
_IS_EXCHANGE, _IS_LIBRARY = 1, 2
_IS_HANG, _IS_ABSENT = 2, 3


def _end_thread():
    """No kernel of the CPU device does."""
    return int64(0)


_end_thread.__assembly__ = ("{ mov.u64 $0, 0; exit; }", False, False)


def _threads():
    return int64(cuda.blockDim.x * cuda.blockDim.y * cuda.blockDim.z)


def _meetings_of(state, own):
    return state[_MEETINGS_AT] + own[_BLOCK] * state[_MEETING_WORDS]


def _lock(state, at):
    while cuda.atomic.cas(state, at + _LOCK, 0, 1) != 0:
        cuda.nanosleep(uint32(64))
    cuda.threadfence()


def _unlock(state, at):
    cuda.threadfence()
    cuda.atomic.exch(state, at + _LOCK, 0)


def _add(state, place, number):
    sum = cuda.ldcg(state, place) + number
    cuda.stcg(state, place, sum)
    return sum


def _give_up(state):
    """The launch has failed. Where other blocks wait for this one, it has to go on."""
    if state[_ENDS]:
        _end_thread()


def _tell_missing(state, own, what, thread, lanes):
    if cuda.atomic.cas(state, _FAULT, 0, 1) == 0:
        own[_NDIM] = 0
        _begin_fault(state, own, what, int64(0), int64(0))
        state[_FAULT_THREAD] = thread
        state[_SLOTS + _SLOT_VALUE] = lanes


def _look_for_hang(state, own, at):
    blocked = cuda.ldcg(state, at + _BLOCKED)
    if blocked > 0 and blocked + cuda.ldcg(state, at + _GONE) == _threads():
        if cuda.ldcg(state, at + _RAISED):
            cuda.stcg(state, at + _IS_ABANDONED, 1)
        else:
            _tell_missing(state, own, _IS_HANG, own[_THREAD], int64(0))


def _is_over(state, at):
    """Whether nobody waits any more, and is let go."""
    return cuda.ldcg(state, _FAULT) != 0 or cuda.ldcg(state, at + _IS_ABANDONED) != 0


def _wait_of(own, mask, operation, line, flags):
    shown = line if line else own[_CALL_LINE]
    return ((operation + 1 << _WAIT_OPERATION) + ((flags & _IS_EXCHANGE) << _WAIT_IS_EXCHANGE)
            + ((shown & _LINE) << _WAIT_LINE) + mask)


def _open_barrier(state, at, waiting):
    """If all threads have come to the same barrier, `waiting` of which wait already."""
    come = cuda.ldcg(state, at + _ARRIVED) + cuda.ldcg(state, at + _RAISED)
    if come < _threads() or cuda.ldcg(state, at + _PLACE) < 0 or _is_over(state, at):
        return False
    cuda.stcg(state, at + _ARRIVED, 0)
    _add(state, at + _BLOCKED, -waiting)
    _add(state, at + _ROUND, 1)
    return True


def _waits_in_vain(state, at, place, number):
    """Waits until the word has another number. A thread that has been let go has, whatever has come since, or its warp
    would wait for it."""
    while cuda.ldcg(state, place) == number:
        if _is_over(state, at):
            _lock(state, at)
            is_over = cuda.ldcg(state, place) == number
            _unlock(state, at)
            return is_over
        cuda.nanosleep(uint32(64))
    return False


def _lanes_here(own):
    """Of the warp: those that the block has."""
    left = _threads() - (own[_THREAD] & ~31)
    return (int64(1) << left) - 1 if left < 32 else int64(_ALL_LANES)


def _meet_warp(state, own, at, mask):
    lanes = mask & _lanes_here(own) & ~cuda.ldcg(state, at + _GONE_LANES + (own[_THREAD] >> 5))
    cuda.threadfence()
    cuda.syncwarp(uint32(lanes))


def _lanes_alike(word):
    """Those that are here together with the same word."""
    return int64(uint32(cuda.match_any_sync(cuda.activemask(), word)))


def _arrive(state, own, at, here, count):
    """As so many threads. The round of the barrier that they wait for; -1: it is open."""
    _lock(state, at)
    round = cuda.ldcg(state, at + _ROUND)
    arrived = _add(state, at + _ARRIVED, count)
    if arrived == count:
        cuda.stcg(state, at + _PLACE, here)
    elif cuda.ldcg(state, at + _PLACE) != here:
        cuda.stcg(state, at + _PLACE, -1)
    if _open_barrier(state, at, arrived - count):
        round = int64(-1)
    else:
        _add(state, at + _BLOCKED, count)
        _look_for_hang(state, own, at)
    _unlock(state, at)
    return round


def watch_meet_block(state, own, operation, line):
    at, here = _meetings_of(state, own), _wait_of(own, int64(0), operation, line, int64(0))
    if _is_over(state, at):
        _give_up(state)
        return
    place, round = at + _WAITS + own[_THREAD], int64(0)
    cuda.stcg(state, place, here)
    cuda.threadfence()
    alike = _lanes_alike(here)
    first = int32(cuda.ffs(alike)) - 1
    if own[_THREAD] & 31 == first:
        round = _arrive(state, own, at, here, int64(cuda.popc(alike)))
    round = cuda.shfl_sync(uint32(alike), round, first)
    if round >= 0 and _waits_in_vain(state, at, at + _ROUND, round):
        _give_up(state)
        return
    cuda.stcg(state, place, 0)
    _meet_warp(state, own, at, int64(_ALL_LANES))


def _let_lanes_go(state, own, at, lane, here):
    """If all lanes that this one waits for wait for the same. What waits is no more then; their number."""
    if _is_over(state, at):
        return int64(0)
    warp = at + _WAITS + (own[_THREAD] & ~31)
    mine = cuda.ldcg(state, warp + lane)
    gone = cuda.ldcg(state, at + _GONE_LANES + (own[_THREAD] >> 5))
    lanes = (mine & _ALL_LANES | int64(1) << lane) & here & ~gone
    for other in range(32):
        if lanes >> other & 1:
            same = cuda.ldcg(state, warp + other) ^ mine
            if same & ~(_LINE << _WAIT_LINE) != 0:
                return int64(0)
    count = int64(0)
    for other in range(32):
        if lanes >> other & 1:
            cuda.stcg(state, warp + other, 0)
            count += 1
    return count


def _absent_lanes(state, own, at, mask, here):
    """Those of the mask that have returned, or that the block does not have."""
    warp = own[_THREAD] >> 5
    gone = cuda.ldcg(state, at + _GONE_LANES + warp) & ~cuda.ldcg(state, at + _RAISED_LANES + warp)
    return mask & (gone | ~here) & _ALL_LANES


def watch_meet_lanes(state, own, mask, operation, line, flags):
    """A mask may lack the lane itself: syncwarp lets it pass, others wait for ever."""
    at, here, lane = _meetings_of(state, own), _lanes_here(own), own[_THREAD] & 31
    if flags & _IS_LIBRARY:
        mask &= here
    if not flags & _IS_EXCHANGE and not mask >> lane & 1:
        return
    if _is_over(state, at):
        _give_up(state)
        return
    place, word = at + _WAITS + own[_THREAD], _wait_of(own, mask, operation, line, flags)
    alike = _lanes_alike(word & ~(_LINE << _WAIT_LINE))
    if mask >> lane & 1 and mask & ~alike == 0:
        return
    _lock(state, at)
    cuda.stcg(state, place, word)
    absent = _absent_lanes(state, own, at, mask, here) if flags & _IS_EXCHANGE else int64(0)
    count = int64(0)
    if absent:
        _tell_missing(state, own, _IS_ABSENT, own[_THREAD], absent)
    else:
        count = _let_lanes_go(state, own, at, lane, here)
    if count:
        _add(state, at + _BLOCKED, 1 - count)
    else:
        _add(state, at + _BLOCKED, 1)
        if not absent:
            _look_for_hang(state, own, at)
    _unlock(state, at)
    if _waits_in_vain(state, at, place, word):
        _give_up(state)
    elif mask >> lane & 1:
        _meet_warp(state, own, at, mask)


def _leave_warp(state, own, at, raises):
    """Lanes that wait for this one wait no more."""
    here, warp = _lanes_here(own), at + _WAITS + (own[_THREAD] & ~31)
    for lane in range(32):
        if here >> lane & 1:
            waits = cuda.ldcg(state, warp + lane)
            if waits & _ALL_LANES != 0:
                absent = int64(0)
                if waits >> _WAIT_IS_EXCHANGE & 1 and not raises:
                    absent = _absent_lanes(state, own, at, waits & _ALL_LANES, here)
                if absent:
                    _tell_missing(state, own, _IS_ABSENT, (own[_THREAD] & ~31) + lane, absent)
                else:
                    _add(state, at + _BLOCKED, -_let_lanes_go(state, own, at, int64(lane), here))


def watch_gone(state, own, raises):
    at, alike = _meetings_of(state, own), _lanes_alike(raises)
    if own[_THREAD] & 31 != cuda.ffs(alike) - 1 or _is_over(state, at):
        return
    count, warp = int64(cuda.popc(alike)), own[_THREAD] >> 5
    _lock(state, at)
    _add(state, at + _GONE, count)
    _add(state, at + _GONE_LANES + warp, alike)
    if raises:
        _add(state, at + _RAISED, count)
        _add(state, at + _RAISED_LANES + warp, alike)
        arrived = cuda.ldcg(state, at + _ARRIVED)
        if arrived:
            _open_barrier(state, at, arrived)
    _leave_warp(state, own, at, raises)
    _look_for_hang(state, own, at)
    _unlock(state, at)
