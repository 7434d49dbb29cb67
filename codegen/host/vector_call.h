/* Vector forms of elementary functions, for LLVM's vectorizers: a call of the function names them in an attribute, the
 * module declares them. */
#ifndef CUJIT_CODEGEN_VECTOR_CALL_H
#define CUJIT_CODEGEN_VECTOR_CALL_H

#include "codegen/emit.h"

/* How code calls a function of the C library, or the CPU device's own in its place. */
const char *elementary_symbol(Emitter *emitter, const char *name);
/* Names the vector forms of an elementary function to LLVM; keeps their declarations until loops are vectorized. */
void describe_vector_forms(Emitter *emitter, const char *symbol, LLVMValueRef call);
void keep_vector_forms(Emitter *emitter);

#endif
