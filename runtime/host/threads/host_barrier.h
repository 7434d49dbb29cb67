/* The threads of a block, one after the other, or as fibers that wait for each other. */
#ifndef CUJIT_RUNTIME_HOST_BARRIER_H
#define CUJIT_RUNTIME_HOST_BARRIER_H

#include "runtime/host/threads/host_worker.h"

extern const HostServices host_services;
/* Runs every thread of the block whose index is in worker->frame, as fibers; a paused block goes on. Ends when all have
 * returned, when all that have not wait for the whole grid (worker->paused), or when none can go on (worker->hang). */
void host_block_run(HostWorker *worker);
/* Runs the kernel's blocks_entry on a fiber's stack instead of the thread's own. */
void host_blocks_run(HostWorker *worker, int64_t first, int64_t count);

#endif
