/* What the threads of every block have: a fiber, and services that need no other thread (host_print.c: printing). */
#ifndef CUJIT_RUNTIME_HOST_THREAD_H
#define CUJIT_RUNTIME_HOST_THREAD_H

#include "runtime/host/threads/host_worker.h"

/* The next unused fiber of this block, made on first use. Its stack pointer is where it begins or continues. */
HostFiber *host_fiber_take(HostWorker *worker);

/* Leaves the block for good, from one of its threads: worker->hang says why. */
void host_leave_block(HostWorker *worker);

uint64_t host_clock(HostThread *thread);
void host_debug(HostThread *thread);
void host_print(HostThread *thread, const char *format, const uint64_t *values);

#endif
