/* Kernels for launches that a specialization's plan does not hold for. */
#ifndef CUJIT_JIT_VARIANT_H
#define CUJIT_JIT_VARIANT_H

#include "jit/cache/cache.h"

/* What to launch: the specialization where its plan holds, else a variant, which is compiled if there is none. NULL with a
 * diagnostic. Thread-safe. */
const JitSpecialization *jit_variant(const JitSpecialization *specialization, const RtLaunch *launch, Diag *diag);

#endif
