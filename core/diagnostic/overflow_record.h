/* What went wrong in the arithmetic of a launch: a record for each exception of the module. Threads of the CPU device
 * write them; what those of a GPU leave becomes them behind the launch (jit/launch/launch_state.c). */
#ifndef CUJIT_CORE_OVERFLOW_RECORD_H
#define CUJIT_CORE_OVERFLOW_RECORD_H

#include <stdint.h>

enum { OVERFLOW_SLOTS = 2 };

/* One time that it happened. */
typedef struct OverflowCase {
    int32_t thread_index[3], block_index[3];
    uint64_t slots[OVERFLOW_SLOTS]; /* as those of an ExceptionRecord */
} OverflowCase;

typedef struct OverflowRecord {
    uint64_t count;
    uint32_t lock; /* 1 while a thread writes the rest */
    OverflowCase first; /* in the order of blocks and threads; of the thread the first in time. If count is not 0 */
} OverflowRecord;

#endif
