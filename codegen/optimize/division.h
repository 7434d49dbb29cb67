/* Divisions that the code generator makes once. */
#ifndef CUJIT_CODEGEN_OPTIMIZE_DIVISION_H
#define CUJIT_CODEGEN_OPTIMIZE_DIVISION_H

#include "codegen/emit.h"

/* Behind LLVM's passes, which would take what hides them away. */
void keep_divisions_where_they_are(Emitter *emitter);

#endif
