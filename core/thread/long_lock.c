/* The list of all locks is held while the process is forked, so that the child finds it whole. */
#include "core/thread/long_lock.h"

#include <stddef.h>

static pthread_mutex_t listing = PTHREAD_MUTEX_INITIALIZER;
static LongLock *all; /* under it */

static void before_fork(void) { pthread_mutex_lock(&listing); }
static void after_fork_in_parent(void) { pthread_mutex_unlock(&listing); }

static void after_fork_in_child(void)
{
    pthread_mutex_init(&listing, NULL);
    for (LongLock *lock = all; lock; lock = lock->next)
        pthread_mutex_init(&lock->mutex, NULL);
}

static void watch_forks(void) { pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child); }

void long_lock_init(LongLock *lock)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    pthread_mutex_init(&lock->mutex, NULL);
    pthread_mutex_lock(&listing);
    lock->previous = NULL;
    lock->next = all;
    if (all)
        all->previous = lock;
    all = lock;
    pthread_mutex_unlock(&listing);
}

void long_lock_destroy(LongLock *lock)
{
    pthread_mutex_lock(&listing);
    *(lock->previous ? &lock->previous->next : &all) = lock->next;
    if (lock->next)
        lock->next->previous = lock->previous;
    pthread_mutex_unlock(&listing);
    pthread_mutex_destroy(&lock->mutex);
}
