/* Where a specialization's kernel comes from. */
#ifndef CUJIT_JIT_OBTAIN_H
#define CUJIT_JIT_OBTAIN_H

#include "jit/cache/cache.h"

/* A new specialization: with the kernel that the disk cache has, else with a compiled one, which it has from then on.
 * failed: tests of the launch's plan that its code does not count on; NULL: it counts on all. In no list yet; for the holder
 * of the function's `compiling`. NULL with a diagnostic. */
JitSpecialization *jit_make_locked(JitFunction *function, RtDevice *device, const Type *const *types, uint32_t count,
                                   const LaunchTests *failed, Diag *diag);
/* The same of a kernel that is on disk, or was compiled for another device; NULL where it has to be compiled. */
JitSpecialization *jit_load_locked(JitFunction *function, RtDevice *device, const Type *const *types, uint32_t count);

#endif
