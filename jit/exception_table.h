/* The exceptions of a compiled kernel, kept for as long as the kernel. */
#ifndef CUJIT_JIT_EXCEPTION_TABLE_H
#define CUJIT_JIT_EXCEPTION_TABLE_H

#include "jit/cache/cache.h"

/* Copies the module's table into the specialization's arena. Classes and source functions stay the snapshot's. */
void jit_keep_exceptions(const IrModule *module, JitSpecialization *specialization);

#endif
