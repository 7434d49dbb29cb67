/* Kernels for launches that a specialization's plan does not hold for. */
#ifndef CUJIT_JIT_VARIANT_H
#define CUJIT_JIT_VARIANT_H

#include "core/base/likely.h"
#include "jit/cache/cache.h"

/* Where words do not tell that the plan holds. */
const JitSpecialization *jit_variant_by_ranges(const JitSpecialization *specialization, const LaunchFacts *facts,
                                               Diag *diag);
/* What to launch: the specialization where its plan holds, else a variant, which is compiled if there is none. NULL with a
 * diagnostic. Thread-safe. */
static inline const JitSpecialization *jit_variant(const JitSpecialization *specialization, const RtLaunch *launch,
                                                   Diag *diag)
{
    LaunchFacts facts = {launch->grid, launch->block, launch->dynamic_shared, launch->parameters};
    return LIKELY(launch_plan_holds_in_words(&specialization->plan, &facts))
               ? specialization
               : jit_variant_by_ranges(specialization, &facts, diag);
}

#endif
