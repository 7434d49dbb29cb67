/* Between two questions a wait is one of the C library's, with a time at which it ends. */
#define _GNU_SOURCE
#include "core/thread/asking_wait.h"

#include <stddef.h>

#include "core/base/clock.h"

bool wait_asking(pthread_cond_t *come, pthread_mutex_t *lock, bool (*has_come)(const void *what), const void *what,
                 bool (*interrupted)(void))
{
    enum { ASK = 50000000 };
    bool stops = false;
    while (!has_come(what) && !stops) {
        struct timespec until = clock_time(clock_nanoseconds() + ASK);
        int error = 0;
        while (!has_come(what) && !error)
            error = pthread_cond_clockwait(come, lock, CLOCK_MONOTONIC, &until);
        if (has_come(what) || !interrupted)
            continue;
        pthread_mutex_unlock(lock);
        stops = interrupted();
        pthread_mutex_lock(lock);
    }
    return !stops;
}
