/* Locks that are free in a forked child, whichever thread of its parent held them. */
#ifndef CUJIT_CORE_FORK_LOCK_H
#define CUJIT_CORE_FORK_LOCK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* --- held for a moment: a fork waits until it is free, so that the child finds whole what is under it ------------------- */

typedef struct ShortLock ShortLock;

/* Static and zero, and locked by short_lock() alone. Who has one takes no other one, and does not fork. */
struct ShortLock {
    pthread_mutex_t mutex;
    _Atomic bool is_known; /* it is in the list */
    ShortLock *next; /* of all that there are */
};

/* fork_lock.c: puts the lock in the list. */
void short_lock_first(ShortLock *lock);

static inline void short_lock(ShortLock *lock)
{
    if (!atomic_load_explicit(&lock->is_known, memory_order_acquire))
        short_lock_first(lock);
    pthread_mutex_lock(&lock->mutex);
}

static inline void short_unlock(ShortLock *lock) { pthread_mutex_unlock(&lock->mutex); }

/* --- held for as long as a compilation takes: it is made anew in the child, which has no such thread --------------------- */

typedef struct LongLock LongLock;

/* The thread that forks holds none. */
struct LongLock {
    pthread_mutex_t mutex;
    LongLock *next, *previous; /* of all that there are */
};

void long_lock_init(LongLock *lock);
/* Nobody holds it. */
void long_lock_destroy(LongLock *lock);

/* --- what a library's own state is changed by: a fork waits until it is done, up to 10 s, since nothing makes that anew -- */

/* Any number of threads at a time, none of which forks, takes Python's lock or waits for one that does. A thread that begins while
 * another one forks waits for that. */
void whole_work_begin(void);
/* For a MemoryCleanup, too; unused is nothing. */
void whole_work_end(void *unused);

#endif
