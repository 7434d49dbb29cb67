/* Threads and the cores they may run on. */
#define _GNU_SOURCE
#include "runtime/worker_thread.h"

#include <errno.h>
#include <sched.h>

#include "core/thread/own_stack.h"

int worker_thread_cores(void)
{
    for (int cores = 1024; cores <= 1 << 20; cores *= 2) {
        cpu_set_t *set = CPU_ALLOC(cores);
        size_t size = CPU_ALLOC_SIZE(cores);
        if (!set)
            return 1;
        int failed = sched_getaffinity(0, size, set);
        int count = failed ? 0 : CPU_COUNT_S(size, set);
        int error = errno;
        CPU_FREE(set);
        if (!failed)
            return count > 0 ? count : 1;
        if (error != EINVAL)
            return 1;
    }
    return 1;
}

bool worker_thread_start(pthread_t *thread, const char *name, void *(*run)(void *argument), void *argument)
{
    int error = start_without_signals(thread, NULL, run, argument);
    if (error)
        return false;
    pthread_setname_np(*thread, name);
    return true;
}
