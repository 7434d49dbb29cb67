"""What checked kernels call on a GPU (core/kernel/watcher.def). `state` is the launch's, in the device's memory, zeroed
where it begins; `own` is what the thread keeps of itself; their words are core/kernel/watch_state.h's."""
from cujit import cuda

# Words of the state, of a note, and of one of its cases.
_NOTES = 64
_TIMES, _RANK, _CASES, _FIRST_CASE, _NOTE_WORDS = 0, 1, 2, 4, 64
_CASE_RANK, _OPERANDS, _CASE_WORDS, _MOST_CASES = 0, 1, 3, 20
_FIRST_RANK = 1 << 62

# Words of a thread.
_THREAD, _BLOCK = 0, 1
_THREADS = 1024


def watch_begin(state, own):
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
