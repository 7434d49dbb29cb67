"""What checked kernels call on a GPU, run by the threads of any device."""
import numpy as np

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
