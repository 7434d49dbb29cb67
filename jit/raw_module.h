/* Kernels of code that was compiled elsewhere. */
#ifndef CUJIT_JIT_RAW_MODULE_H
#define CUJIT_JIT_RAW_MODULE_H

#include "jit/cache/cache.h"

/* What jit_obtain() does for a function of a raw module: the kernel, and where its arguments lie. */
bool jit_obtain_raw(const JitFunction *function, JitSpecialization *specialization, Diag *diag);

#endif
