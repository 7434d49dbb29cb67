/* Which device functions LLVM must inline. */
#ifndef CUJIT_CODEGEN_INLINING_H
#define CUJIT_CODEGEN_INLINING_H

#include "codegen/emit.h"

/* Sets is_inlined of all functions. */
void choose_inlined(Emitter *emitter);

#endif
