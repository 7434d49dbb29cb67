/* Threads that run blocks. */
#ifndef CUJIT_RUNTIME_HOST_POOL_H
#define CUJIT_RUNTIME_HOST_POOL_H

#include "runtime/host/threads/host_worker.h"

/* Threads that run blocks, the launching one included: the cores this process may use, or CUJIT_CPU_THREADS.
 * False with DIAG_HOST_THREADS when that is no number. */
bool host_pool_size(int *count, Diag *diag);
/* How many participants the job should have, by what the kernel's blocks took in its last launch, if so many may take part: for
 * each of them work that takes longer than to wake it. A power of two, or all, so that it seldom is another one from launch to
 * launch. All take part where threads may wait for other blocks. */
int host_pool_few(const HostJob *job, int participants);
/* Runs the job on the calling thread and on idle pool threads, which start where it has work for them. */
bool host_pool_run(HostJob *job, int participants, Diag *diag);
/* A worker for the calling thread, NULL when memory is out; given back by host_pool_return. */
HostWorker *host_pool_borrow(void);
void host_pool_return(HostWorker *worker);

#endif
