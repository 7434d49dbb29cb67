/* Values that live through a large part of a large function. */
#ifndef CUJIT_CODEGEN_LONG_LIVES_H
#define CUJIT_CODEGEN_LONG_LIVES_H

#include "codegen/emit.h"

/* Where the values of a function live through so many blocks that this decides how long its code takes to make, those that
 * live longest are kept in memory on the CPU device. Behind LLVM's passes, which would take them out again. True: there are
 * such; a GPU's code generator is not to ask where they live. */
bool shorten_long_lives(Emitter *emitter);
/* Takes variables out of memory where they are many in so large a function that LLVM's own pass would take long. In front of
 * it, when what must be inlined is. */
void promote_long_memory(Emitter *emitter);

#endif
