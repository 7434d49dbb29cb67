/* Whether a launch is better done by one thread than by several. */
#ifndef CUJIT_RUNTIME_HOST_TRIAL_H
#define CUJIT_RUNTIME_HOST_TRIAL_H

#include "runtime/host/threads/host_worker.h"

/* What the launching thread has done, and the time that passed. */
typedef struct HostTimes {
    int64_t alone_blocks, alone;
    int64_t shared_blocks, shared; /* with helpers; until the last one had ended */
} HostTimes;

/* Whether the launch is to begin with one worker, by what the last ones took, where so many may take part. */
bool host_try_alone(const HostKernel *kernel, int participants);
/* When it is to have help: what it would take with all workers. */
int64_t host_trial_nanoseconds(const HostJob *job);
void host_trial_note(const HostJob *job, const HostTimes *times);

#endif
