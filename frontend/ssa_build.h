/* Shared by the files that build SSA: stack_to_ssa.c and ssa_finish.c. */
#ifndef CUJIT_FRONTEND_SSA_BUILD_H
#define CUJIT_FRONTEND_SSA_BUILD_H

#include "frontend/ssa.h"

/* The value itself, or what took its place. */
SsaValue *ssa_resolve(SsaValue *value);
/* The one value that a phi stands for, or NULL when it joins several. What a generator reads of its past is a value of its
 * own unless it is always there. */
SsaValue *ssa_trivial_value(SsaValue *phi);
/* Replaces trivial phis, drops those that nothing uses and what only makes the exception of a raise. */
void ssa_finish(SsaFunction *function, Arena *arena);

#endif
