/* Intrinsics of intrinsic.def, by their kind: registers and device operations as the target does them, mathematics as
 * an LLVM intrinsic or a symbol of the math library. */
#ifndef CUJIT_CODEGEN_INTRINSIC_EMIT_H
#define CUJIT_CODEGEN_INTRINSIC_EMIT_H

#include "codegen/emit.h"

/* A MATH intrinsic on scalars of this type. */
LLVMValueRef emit_math(Emitter *emitter, IntrinsicId id, const Type *type, uint32_t count, LLVMValueRef *arguments);

#endif
