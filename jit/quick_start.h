/* Kernels whose first launches run code that was made quickly, until a thread has made the optimized code. */
#ifndef CUJIT_JIT_QUICK_START_H
#define CUJIT_JIT_QUICK_START_H

#include "jit/cache/cache.h"

/* The specialization has quick code: that of what make() gives takes its place when it is there. */
void jit_quick_start_begin(JitSpecialization *specialization,
                           JitSpecialization *(*make)(const JitSpecialization *of, Diag *diag));
QuickState jit_quick_state(const JitSpecialization *specialization);
/* Before a launch of it: begins anew what a fork has ended, and waits where a graph is recorded, which is launched often, unless
 * `interrupted` says so. False with a diagnostic where there is no optimized code since that could not be made. */
bool jit_quick_start_look(const JitSpecialization *specialization, bool (*interrupted)(void), Diag *diag);
/* Waits for the optimized code; false with a diagnostic where there is none. interrupted: as in JitPatience; NULL: nothing
 * interrupts it. */
bool jit_quick_start_wait(const JitSpecialization *specialization, bool (*interrupted)(void), Diag *diag);
/* Before it is destroyed: false where the thread still needs it, and nobody waits for that any more. */
bool jit_quick_start_take_back(JitSpecialization *specialization);

#endif
