/* Threads and the cores they may run on. */
#define _GNU_SOURCE
#include "runtime/worker_thread.h"

#include <errno.h>
#include <sched.h>

#include "core/base/memory.h"
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

int worker_thread_core(void) { return sched_getcpu(); }

typedef struct Start {
    const char *name;
    void *(*run)(void *argument);
    void *argument;
} Start;

/* A thread's own name is one system call; another's is a file of /proc. */
static void *run_named(void *argument)
{
    Start start = *(Start *)argument;
    memory_free(argument);
    pthread_setname_np(pthread_self(), start.name);
    return start.run(start.argument);
}

bool worker_thread_start(pthread_t *thread, const char *name, void *(*run)(void *argument), void *argument)
{
    Start *start = memory_try(sizeof *start);
    if (!start)
        return false;
    *start = (Start){name, run, argument};
    if (!start_without_signals(thread, NULL, run_named, start))
        return true;
    memory_free(start);
    return false;
}
