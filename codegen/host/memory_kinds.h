/* Tells LLVM which memory of a kernel is apart from which. */
#ifndef CUJIT_CODEGEN_MEMORY_KINDS_H
#define CUJIT_CODEGEN_MEMORY_KINDS_H

#include "codegen/emit.h"

/* In the kernel's function, which is complete: what it accesses as the block's shared memory, what threads keep there, and
 * arguments. */
void separate_memory_kinds(Emitter *emitter, const EmittedFunction *kernel);

#endif
