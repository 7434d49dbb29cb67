/* Where the shadow of a launch's memory lies, in which a GPU looks for races, and bits of what is written
 * (core/kernel/watch_state.h). */
#ifndef CUJIT_JIT_SHADOW_PLAN_H
#define CUJIT_JIT_SHADOW_PLAN_H

#include "jit/cache/cache.h"

typedef struct ShadowPlan {
    int64_t header[STATE_NOTES]; /* the state's first words */
    int64_t *ranges; /* RANGE_WORDS each; owned */
    uint32_t range_count;
    int64_t *fresh; /* what is kept of arrays that are not written in full, FRESH_WORDS each, then their bits; owned */
    size_t fresh_words;
    uint32_t fresh_count;
    size_t count; /* words of the whole state */
    bool is_made;
} ShadowPlan;

/* Cells for the arrays among the arguments that the kernel may write, each once, and for the shared memory of as many
 * blocks as there may be at a time: others use it again. shared: its bytes, static and dynamic. used: words of the state in front of it. False with a diagnostic,
 * where that is more than the device has, too. */
bool shadow_plan_make(const JitSpecialization *specialization, const RtLaunch *launch, uint64_t shared, size_t used,
                      ShadowPlan *plan, Diag *diag);
/* What the launch has written: `fresh` is as the device left it. */
void shadow_plan_add_written(const ShadowPlan *plan);
void shadow_plan_free(ShadowPlan *plan);

#endif
