/* float16 and bfloat16 beside wider numbers: every conversion is rounded once. */
#ifndef CUJIT_CODEGEN_SMALL_FLOAT_H
#define CUJIT_CODEGEN_SMALL_FLOAT_H

#include "codegen/emit.h"

/* Whether LLVM's own conversions, fma and negation of bfloat16 are the target's. */
bool has_bfloat_instructions(const Emitter *emitter);
/* A float of any size as one of any other, rounded once. */
LLVMValueRef float_cast(Emitter *emitter, LLVMValueRef in, LLVMTypeRef to);
LLVMValueRef integer_to_float(Emitter *emitter, LLVMValueRef in, bool is_signed, LLVMTypeRef to);
/* a * b + c of float16 or bfloat16, rounded once, without an instruction for it. */
LLVMValueRef small_fma(Emitter *emitter, LLVMTypeRef type, LLVMValueRef *arguments);

#endif
