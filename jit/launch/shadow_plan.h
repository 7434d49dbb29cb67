/* Where the shadow of a launch's memory lies, in which a GPU looks for races (core/kernel/watch_state.h). */
#ifndef CUJIT_JIT_SHADOW_PLAN_H
#define CUJIT_JIT_SHADOW_PLAN_H

#include "jit/cache/cache.h"

typedef struct ShadowPlan {
    int64_t header[STATE_NOTES]; /* the state's first words */
    int64_t *ranges; /* RANGE_WORDS each; owned */
    uint32_t range_count;
    size_t count; /* words of the whole state */
} ShadowPlan;

/* Cells for the arrays among the arguments that the kernel may write, each once, and for the shared memory of as many
 * blocks as there may be at a time: others use it again. shared: its bytes, static and dynamic. used: words of the state in front of it. False with a diagnostic,
 * where that is more than the device has, too. */
bool shadow_plan_make(const JitSpecialization *specialization, const RtLaunch *launch, uint64_t shared, size_t used,
                      ShadowPlan *plan, Diag *diag);
void shadow_plan_free(ShadowPlan *plan);

#endif
