/* Threads and the cores they may run on. */
#define _GNU_SOURCE
#include "runtime/worker_thread.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>

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
    sigset_t blocked, before;
    /* Signals belong to the program's threads, except those that a fault of this thread raises. */
    sigfillset(&blocked);
    sigdelset(&blocked, SIGSEGV);
    sigdelset(&blocked, SIGBUS);
    sigdelset(&blocked, SIGFPE);
    sigdelset(&blocked, SIGILL);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    int error = pthread_create(thread, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error)
        return false;
    pthread_setname_np(*thread, name);
    return true;
}
