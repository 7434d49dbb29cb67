/* Where a specialization's kernel comes from. */
#ifndef CUJIT_JIT_OBTAIN_H
#define CUJIT_JIT_OBTAIN_H

#include "jit/cache.h"

/* Fills the specialization: with the kernel that the disk cache has, else with a compiled one, which it has from then
 * on. */
bool jit_obtain(const JitFunction *function, JitSpecialization *specialization, Diag *diag);

#endif
