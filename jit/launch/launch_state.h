/* The state that a checked launch on a GPU has (core/kernel/watch_state.h): made before it, read behind it. */
#ifndef CUJIT_JIT_LAUNCH_STATE_H
#define CUJIT_JIT_LAUNCH_STATE_H

#include "jit/cache/cache.h"
#include "jit/launch/shadow_plan.h"

typedef struct LaunchState {
    RtDevice *device;
    RtPointer pointer; /* 0: none */
    size_t count, read_count; /* of its words, and of those that the host reads */
    int64_t *words; /* behind the launch; NULL before */
    ShadowPlan plan;
} LaunchState;

/* Zeroed memory on the device, which the parameters then point to, with a shadow of the memory that the kernel writes where
 * races are looked for. False with a diagnostic. */
bool launch_state_make(const JitSpecialization *specialization, const RtLaunch *launch, LaunchState *state, Diag *diag);
/* Waits for the launch and reads. False with a diagnostic. */
bool launch_state_read(LaunchState *state, RtStream *stream, Diag *diag);
/* Releases it; a failure is told unless there was one. */
bool launch_state_release(LaunchState *state, Diag *diag);
/* What arithmetic went wrong, as the CPU device has it: a record for each exception. */
void launch_state_overflows(const JitSpecialization *specialization, const RtLaunch *launch, const LaunchState *state,
                            OverflowRecord *records);

/* False with DIAG_KERNEL_EXCEPTION where a thread has found a fault, which the diagnostic then has in place of what it had. */
bool launch_state_fault(const JitSpecialization *specialization, const RtLaunch *launch, const LaunchState *state,
                        Diag *diag);

#endif
