/* The threads of a block by warps. */
#ifndef CUJIT_RUNTIME_HOST_WARP_H
#define CUJIT_RUNTIME_HOST_WARP_H

#include "runtime/host/threads/host_worker.h"

extern const HostServices host_warp_services;
/* All threads of the block are ready. Returns the fiber of the first. */
HostFiber *host_warps_begin(HostWorker *worker);
/* Of a block that is paused because its threads wait at barriers in shared memory: whether one of them waits no longer. */
bool host_warps_can_go_on(HostWorker *worker);
/* Says in worker->hang what they wait for. */
void host_warps_describe(HostWorker *worker);

#endif
