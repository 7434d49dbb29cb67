/* Arithmetic that LLVM does in 16 bits, done in 32. */
#ifndef CUJIT_CODEGEN_WIDE_WORD_H
#define CUJIT_CODEGEN_WIDE_WORD_H

#include "codegen/emit.h"

void widen_words(Emitter *emitter);

#endif
