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
enum {
    STATE_FAULT, /* 1 once a thread has found one: it writes those up to STATE_SLOTS, the host reads them behind the launch */
    STATE_SITE,
    STATE_THREAD, /* its number in the block */
    STATE_BLOCK, /* its number in the grid */
    STATE_SLOTS, /* EXCEPTION_SLOTS: those of watch_kind.h, where the earlier block and thread are a number each */
    STATE_RELEASES = 32, /* how often a thread has told others of what it did */
    STATE_SHIFT, /* a cell of the shadow is of 1 << so many bytes; what follows is written by the host before the launch */
    STATE_RANGES, /* their count */
    STATE_RANGES_AT, /* places of these, in words */
    STATE_BLOCKS_AT,
    STATE_SLABS, /* of shared memory; blocks take turns */
    STATE_SLAB_CELLS,
    STATE_SLABS_AT,
    STATE_FRESH, /* arrays in global memory of which bytes are not written: their count, and the place of what is kept of them */
    STATE_FRESH_AT,
    STATE_SHARED_WORDS, /* bits of the shared memory of a block, of so many blocks */
    STATE_SHARED_BLOCKS,
    STATE_SHARED_AT,
    STATE_MEETINGS_AT, /* what is kept of the threads of each block, so many words */
    STATE_MEETING_WORDS,
    STATE_ENDS, /* 1: threads that have missed others end, and those that these miss; 0: other blocks wait for them */
    STATE_NOTES = 64 /* NOTE_WORDS for each exception of the module */
};

/* Words of a range of global memory. */
enum {
    RANGE_BEGIN, /* addresses */
    RANGE_END,
    RANGE_CELLS_AT, /* the place of the first one's cell */
    RANGE_WORDS
};
/* Words of an array of which bytes are not written. There is a bit for each byte, 1: it is written. */
enum {
    FRESH_BEGIN, /* addresses */
    FRESH_END,
    FRESH_BITS_AT,
    FRESH_IS_TOUCHED, /* by what the kernel does not tell of: all of it counts as written */
    FRESH_WORDS
};
/* Words of a block whose threads may miss each other. */
enum {
    MEETING_LOCK, /* 1: a thread has it */
    MEETING_BLOCKED, /* threads that wait */
    MEETING_GONE, /* that have ended */
    MEETING_RAISED, /* those of them that an exception has ended */
    MEETING_ARRIVED, /* threads that wait at a barrier of the block, */
    MEETING_PLACE, /* what the first of them waits for, -1: not all of them wait for that */
    MEETING_ROUND, /* how many such barriers they have left */
    MEETING_IS_ABANDONED, /* threads that wait end: an exception has ended who they wait for */
    MEETING_GONE_LANES, /* 32: a bit for each lane of a warp */
    MEETING_RAISED_LANES = MEETING_GONE_LANES + 32,
    MEETING_WAITS = MEETING_RAISED_LANES + 32, /* what each thread waits for; 0: nothing */
};
/* Bits of that: a mask, a line, MeetingFlags, and the intrinsic's number + 1. */
enum { WAIT_LINE = 32, WAIT_LINE_BITS = 20, WAIT_IS_EXCHANGE = 52, WAIT_OPERATION = 53 };
typedef enum MeetingFlags {
    MEETING_IS_EXCHANGE = 1, /* all lanes of the mask have to be there */
    MEETING_IS_LIBRARY = 2, /* but for those that the block does not have */
} MeetingFlags;
/* What a block keeps: the numbers of its last release and of its last look at those of others. And the most blocks that
 * there is room for in a cell. */
enum { BLOCK_WORDS = 2, MOST_SHADOWED_BLOCKS = (1 << 19) - 1 };
/* A cell: the last write (who, what, value), the last atomic or volatile write, and two reads (who, what). */
enum { CELL_WORDS = 9 };
/* Accesses whose places in the code a cell has room for. */
enum { MOST_SITES = 1 << 17 };

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
enum {
    OWN_CALL_LINE = 8, /* of the user's last call of a library function */
    OWN_NDIM, /* of the access at hand, and its indices: TYPE_MAX_NDIM at most */
    OWN_INDICES,
    OWN_ARRAYS_END = 21, /* behind the last of its arrays that has begun */
    OWN_WORDS_OF_NOTES = 8,
    OWN_WORDS =
        64, /* where `init` is looked for, its arrays follow, OWN_ARRAY_WORDS each (from, to, bits), then their bits */
    OWN_ARRAY_WORDS = 3
};

#endif
