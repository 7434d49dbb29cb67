/* Launches that run alone: the only one, by one worker. Their atomics need no lock (HostLone in host_abi.h). */
#ifndef CUJIT_RUNTIME_HOST_LONE_H
#define CUJIT_RUNTIME_HOST_LONE_H

#include "runtime/host/threads/host_worker.h"

/* Around each launch. worker: prepared, and alone until others join it; NULL: it has several from the beginning. */
void host_lone_begin(HostWorker *worker);
void host_lone_end(HostWorker *worker);
/* Other workers join the launch. Called by the worker's thread, between blocks. */
void host_lone_share(HostWorker *worker);
/* Kernels of other processes may use the same memory from now on. */
void host_lone_never(void);
/* Whether the worker's thread, which has been stopped in code of a kernel, is in the middle of an atomic without a lock. */
bool host_lone_is_busy(const HostWorker *worker);

void host_lone_before_fork(void);
void host_lone_after_fork(bool is_child);

#endif
