/* The one way to get memory, in all rooms, and what happens when there is none: a failure like any other, DIAG_NO_MEMORY.
 *
 * Two functions, by what the caller holds. memory_try() returns NULL: for those that hold what a jump must not leave behind
 * (a lock, Python's objects, frames of C++ between them and the guard). memory_alloc() never does: arenas, texts and tables
 * get theirs from it at hundreds of places, where a test of each would be most of the code. Without memory it leaves the
 * guard that the work is done in, by a jump.
 *
 * That is right where between a guard and memory_alloc() there are only frames of C, and nothing in them but memory and
 * what has a MemoryCleanup. The guard knows the blocks that were made in it, and frees them; what was there before, it
 * leaves alone, so whatever the work puts into older objects is of no use after a failure, except to arenas, whose new
 * memory is theirs. Guards may stand in one another (Python's code can run in one): each is for itself, and blocks that
 * outlive theirs belong to nobody but their owner. */
#ifndef CUJIT_CORE_MEMORY_H
#define CUJIT_CORE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "core/diagnostic/diag.h"

/* Zeroed bytes, aligned for any type; NULL when memory is out. memory_free() them. */
void *memory_try(size_t size);
/* Likewise, with an alignment of a power of two from that of a pointer up, and not zeroed. free() them. */
void *memory_try_aligned(size_t alignment, size_t size);
/* The same with DIAG_NO_MEMORY beside the NULL. */
void *memory_new(size_t size, Diag *diag);

/* Bytes, aligned for any type, not zeroed. Never NULL. memory_free() them. */
void *memory_alloc(size_t size);
/* As realloc(); old may be NULL. */
void *memory_resize(void *old, size_t size);
/* The same for a part of a larger thing, which is freed where that is: owner is another block, that of the whole. */
void *memory_resize_part(const void *owner, void *old, size_t size);
char *memory_copy_text(const char *text);
/* Fails as memory_alloc() does. */
_Noreturn void memory_fail(size_t size);
/* NULL is allowed. */
void memory_free(void *memory);

/* Writes a byte to each page, so that the system has made all of them: that is not to be waited for later. */
void memory_touch(volatile char *memory, size_t size);
/* The same for what malloc has for this thread; a thread's first block has its heap made. */
void memory_touch_heap(size_t size);

/* Does the work, and gives back its result; false with DIAG_NO_MEMORY, whatever else had failed, where it ran out of
 * memory. */
bool memory_guard(bool (*work)(void *data), void *data, Diag *diag);
/* The same without a Diag, which is much for a small stack: *wanted is how many bytes there were not, MEMORY_ENOUGH where
 * the work was done. */
#define MEMORY_ENOUGH SIZE_MAX
bool memory_guard_small(bool (*work)(void *data), void *data, size_t *wanted);

/* For work that the caller waits for, on a thread of its own: the guard that the caller is in, to be given to
 * memory_lend_guard() there. It does the work as if it was called in that guard; false where it ran out of memory, which the
 * caller then says by memory_fail(). */
typedef struct MemoryGuard MemoryGuard;
MemoryGuard *memory_own_guard(void);
bool memory_lend_guard(MemoryGuard *guard, void (*work)(void *data), void *data);

/* Something of the work's that is no memory, to be ended with run(object) when a failure leaves the block of code that
 * holds the cleanup. run() asks for no memory. Last begun, first ended. */
typedef struct MemoryCleanup {
    struct MemoryCleanup *outer;
    void (*run)(void *object);
    void *object;
} MemoryCleanup;
void memory_defer(MemoryCleanup *cleanup, void (*run)(void *object), void *object);
/* Ends it now. */
void memory_end(MemoryCleanup *cleanup);
/* Leaves it to the caller. */
void memory_cancel(MemoryCleanup *cleanup);

#ifdef CUJIT_FAULTS
/* For tests: of the requests from now on, of all threads, the n-th fails (1: the next one), and those behind it if
 * for_good. 0: none. */
void memory_fail_at(long n, bool for_good);
/* How many requests have failed so. */
long memory_failures(void);
#endif

#endif
