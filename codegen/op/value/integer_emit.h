/* Integer intrinsics of a GPU: by the names that NVPTX has for them, or in operations that both devices turn into good
 * code. */
#ifndef CUJIT_CODEGEN_INTEGER_EMIT_H
#define CUJIT_CODEGEN_INTEGER_EMIT_H

#include "codegen/emit.h"

/* False where it is none of these. */
bool emit_integer_intrinsic(Emitter *emitter, const IrValue *value, LLVMValueRef *out);
/* Bytes of x[0] and x[1] as the selector x[2] picks them; the upper half of x[0] * x[1]; x[2] + |x[0] - x[1]|. */
LLVMValueRef permute_bytes(Emitter *emitter, LLVMValueRef *x);
LLVMValueRef multiply_high(Emitter *emitter, bool with_sign, LLVMValueRef *x);
LLVMValueRef sum_of_difference(Emitter *emitter, bool with_sign, LLVMValueRef *x);

#endif
