/* Where threads of a checked launch on a GPU leave what they tell of themselves: an array of int64 in the device's memory,
 * zeroed, of which the host reads the beginning behind the launch. python/cujit/_kernel_functions/watchers.py writes it. */
#ifndef CUJIT_CORE_WATCH_STATE_H
#define CUJIT_CORE_WATCH_STATE_H

#include "core/target.h"

typedef enum WatcherId {
#define WATCHER(id, name, count, checks) WATCHER_##id,
#include "core/kernel/watcher.def"
#undef WATCHER
    WATCHER_COUNT
} WatcherId;

typedef struct WatcherInfo {
    const char *name;
    uint32_t count; /* of its numbers */
    CheckSet checks; /* that need it */
} WatcherInfo;

extern const WatcherInfo watcher_info[WATCHER_COUNT];

/* Words of the state. */
enum { STATE_NOTES = 64 }; /* NOTE_WORDS for each exception of the module */

/* Words of a note: what went wrong in arithmetic, counted. A thread that comes before all that came so far adds a case, as
 * long as there is room: nobody waits for another thread. */
enum {
    NOTE_TIMES,
    NOTE_RANK, /* the highest of all: NOTE_FIRST_RANK less the number of the thread, by blocks and threads */
    NOTE_CASES, /* their count */
    NOTE_FIRST_CASE = 4,
    NOTE_WORDS = 64
};
/* Words of a case. */
enum {
    CASE_RANK,
    CASE_OPERANDS, /* 2 */
    CASE_WORDS = 3,
    MOST_CASES = (NOTE_WORDS - NOTE_FIRST_CASE) / CASE_WORDS
};
#define NOTE_FIRST_RANK (INT64_C(1) << 62)
enum { STATE_THREADS = 1024 }; /* a thread's number: its block's times this, and its own in the block */

/* Words that a thread keeps. */
enum { OWN_WORDS = 8 };

#endif
