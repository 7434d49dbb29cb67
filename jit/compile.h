/* The stages from a snapshot to a loaded kernel. */
#ifndef CUJIT_JIT_COMPILE_H
#define CUJIT_JIT_COMPILE_H

#include "jit/cache.h"

/* Compiles and loads the function for the specialization's device and types, and fills the rest of it. */
bool jit_compile(const JitFunction *function, JitSpecialization *specialization, Diag *diag);

#endif
