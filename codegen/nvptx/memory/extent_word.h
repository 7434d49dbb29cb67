/* Products of the launch's extents, of which ptxas is to know that they are words. */
#ifndef CUJIT_CODEGEN_EXTENT_WORD_H
#define CUJIT_CODEGEN_EXTENT_WORD_H

#include "codegen/emit.h"

/* In the kernel, behind the code generator's own passes, whose strength reduction makes them. */
void multiply_extents_as_words(Emitter *emitter, LLVMValueRef function);

#endif
