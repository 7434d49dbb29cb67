/* The lists of locks are held while the process is forked, and so are the short locks, so that the child finds all of it whole. */
#include "core/thread/fork_lock.h"

#include <stddef.h>

static pthread_mutex_t listing = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static ShortLock *all_short; /* under it, as is the next one */
static LongLock *all_long;

/* --- forks ------------------------------------------------------------------------------------------------------------ */
static void before_fork(void)
{
    pthread_mutex_lock(&listing);
    for (ShortLock *lock = all_short; lock; lock = lock->next)
        pthread_mutex_lock(&lock->mutex);
}

static void unlock_all(void)
{
    for (ShortLock *lock = all_short; lock; lock = lock->next)
        pthread_mutex_unlock(&lock->mutex);
    pthread_mutex_unlock(&listing);
}

static void after_fork_in_child(void)
{
    for (LongLock *lock = all_long; lock; lock = lock->next)
        pthread_mutex_init(&lock->mutex, NULL);
    unlock_all();
}

static void watch_forks(void) { pthread_atfork(before_fork, unlock_all, after_fork_in_child); }

/* --- the lists --------------------------------------------------------------------------------------------------------- */
void short_lock_first(ShortLock *lock)
{
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&listing);
    if (!lock->is_known) {
        pthread_mutex_init(&lock->mutex, NULL);
        lock->next = all_short;
        all_short = lock;
        atomic_store_explicit(&lock->is_known, true, memory_order_release);
    }
    pthread_mutex_unlock(&listing);
}

void long_lock_init(LongLock *lock)
{
    pthread_once(&once, watch_forks);
    pthread_mutex_init(&lock->mutex, NULL);
    pthread_mutex_lock(&listing);
    lock->previous = NULL;
    lock->next = all_long;
    if (all_long)
        all_long->previous = lock;
    all_long = lock;
    pthread_mutex_unlock(&listing);
}

void long_lock_destroy(LongLock *lock)
{
    pthread_mutex_lock(&listing);
    *(lock->previous ? &lock->previous->next : &all_long) = lock->next;
    if (lock->next)
        lock->next->previous = lock->previous;
    pthread_mutex_unlock(&listing);
    pthread_mutex_destroy(&lock->mutex);
}
