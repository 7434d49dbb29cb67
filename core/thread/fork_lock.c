/* The lists of locks are held while the process is forked, and so are the short locks, so that the child finds all of it whole. */
#define _GNU_SOURCE
#include "core/thread/fork_lock.h"

#include <stddef.h>

#include "core/base/clock.h"

static pthread_mutex_t listing = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static ShortLock *all_short; /* under it, as is the next one */
static LongLock *all_long;

/* --- work that is done as a whole ---------------------------------------------------------------------------------------- */

static const int64_t longest_wait = INT64_C(10000000000);

static struct WholeWork {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    uint32_t running, forking; /* threads */
} whole = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};

/* The mutex stays locked. */
static void wait_for_whole_work(void)
{
    struct timespec until = clock_time(clock_nanoseconds() + longest_wait);
    pthread_mutex_lock(&whole.mutex);
    whole.forking++;
    while (whole.running && !pthread_cond_clockwait(&whole.changed, &whole.mutex, CLOCK_MONOTONIC, &until))
        ;
}

static void go_on(void)
{
    whole.forking--;
    pthread_cond_broadcast(&whole.changed);
    pthread_mutex_unlock(&whole.mutex);
}

/* The thread that forked has the mutex, in the child as before. */
static void forget_whole_work(void)
{
    whole.running = whole.forking = 0;
    pthread_cond_init(&whole.changed, NULL);
    pthread_mutex_unlock(&whole.mutex);
}

/* --- forks ------------------------------------------------------------------------------------------------------------ */
static void before_fork(void)
{
    wait_for_whole_work();
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

static void after_fork_in_parent(void)
{
    unlock_all();
    go_on();
}

static void after_fork_in_child(void)
{
    for (LongLock *lock = all_long; lock; lock = lock->next)
        pthread_mutex_init(&lock->mutex, NULL);
    unlock_all();
    forget_whole_work();
}

static void watch_forks(void) { pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child); }

void whole_work_begin(void)
{
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&whole.mutex);
    while (whole.forking)
        pthread_cond_wait(&whole.changed, &whole.mutex);
    whole.running++;
    pthread_mutex_unlock(&whole.mutex);
}

void whole_work_end(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&whole.mutex);
    if (!--whole.running)
        pthread_cond_broadcast(&whole.changed);
    pthread_mutex_unlock(&whole.mutex);
}

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
