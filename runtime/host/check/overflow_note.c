/* Which occurrence is the first does not depend on which worker comes first: that of the first thread of the first block is
 * kept. */
#include "runtime/host/check/overflow_note.h"

#include <stdbool.h>
#include <sched.h>

static int compare_indices(const int32_t *a, const int32_t *b)
{
    for (int axis = 3; axis-- > 0;)
        if (a[axis] != b[axis])
            return a[axis] < b[axis] ? -1 : 1;
    return 0;
}

static bool is_before(const OverflowCase *a, const OverflowCase *b)
{
    int order = compare_indices(a->block_index, b->block_index);
    return order ? order < 0 : compare_indices(a->thread_index, b->thread_index) < 0;
}

void host_note_overflow(OverflowRecord *record, const OverflowCase *occurrence)
{
    while (__atomic_exchange_n(&record->lock, 1, __ATOMIC_ACQUIRE))
        sched_yield();
    if (!record->count || is_before(occurrence, &record->first))
        record->first = *occurrence;
    record->count++;
    __atomic_store_n(&record->lock, 0, __ATOMIC_RELEASE);
}
