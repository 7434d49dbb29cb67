/* What is in use of a device's memory, what of it is kept for whoever asks next, and the limit of both. */
#ifndef CUJIT_RUNTIME_MEMORY_POOL_H
#define CUJIT_RUNTIME_MEMORY_POOL_H

#include "runtime/runtime.h"

enum { POOL_CLASSES = 64 * 8, POOL_PLACE = 96 };

typedef struct PoolBlock PoolBlock;
/* Zeroed, it is empty. All fields are memory_pool.c's, and all but the atomic one behind its lock. */
typedef struct MemoryPool {
    PoolBlock **blocks; /* in use, by their addresses: chains */
    size_t capacity, count;
    PoolBlock *kept[POOL_CLASSES]; /* by their sizes, the last one first */
    size_t used_bytes, kept_bytes, kept_count, limit, most_kept;
    uint64_t releases, settled; /* the number of the last release, and of the last that all work to come is behind */
    uint64_t all_settled;       /* the same where other libraries may have worked on it */
    uint64_t allocations;       /* that the device was asked for */
    _Atomic bool has_limit;
    bool is_known; /* limit and most_kept have been looked up */
} MemoryPool;

/* Memory for work that is launched from now on, in any stream. waits: NULL, or *waits becomes true, without a diagnostic, where
 * something has to be waited for first, and nothing is done. */
bool pool_allocate(RtDevice *device, size_t size, RtPointer *pointer, bool *waits, Diag *diag);
/* The same from the device itself, to which it goes back: it is counted only. */
bool pool_allocate_apart(RtDevice *device, size_t size, RtPointer *pointer, Diag *diag);
/* Either's memory, once all work that is under way is done, or by its place in the default stream. What is neither's goes
 * to the device, which says what it is. What is kept is waited for by whoever gets it next. */
bool pool_release(RtDevice *device, RtPointer pointer, bool waits, Diag *diag);
/* Pinned memory likewise. */
bool pool_allocate_host(RtDevice *device, RtHostBuffer *buffer, Diag *diag);
bool pool_release_host(RtDevice *device, RtHostBuffer *buffer, Diag *diag);

#endif
