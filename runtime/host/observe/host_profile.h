/* What the lanes of a warp do together in a launch that is observed (option observe="accesses"). One such launch at a time:
 * its blocks run one after the other. */
#ifndef CUJIT_RUNTIME_HOST_PROFILE_H
#define CUJIT_RUNTIME_HOST_PROFILE_H

#include "runtime/host/threads/host_worker.h"

/* Before a launch of a kernel that is observed; blocks: how many of them exist at once. False with a diagnostic, and then
 * nothing is to be ended. */
bool host_profile_begin(const HostKernel *kernel, const RtLaunch *launch, int64_t blocks, Diag *diag);
/* Behind it. False with a diagnostic where not all of it could be counted. */
bool host_profile_end(const HostKernel *kernel, Diag *diag);
/* The service of compiled code. */
void host_observe(HostThread *thread, ObservedSite *site, int32_t event, int32_t depth, const void *address,
                  int64_t detail);

#endif
