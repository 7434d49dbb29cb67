/* Products, quotients and powers of complex numbers, as two floats each. */
#ifndef CUJIT_CODEGEN_COMPLEX_ARITHMETIC_H
#define CUJIT_CODEGEN_COMPLEX_ARITHMETIC_H

#include "codegen/emit.h"

/* out: two parts. */
void complex_multiply(Emitter *emitter, const LLVMValueRef *a, const LLVMValueRef *b, LLVMValueRef *out);
void complex_divide(Emitter *emitter, const LLVMValueRef *a, const LLVMValueRef *b, LLVMValueRef *out);
void complex_power(Emitter *emitter, const Type *type, const LLVMValueRef *a, const LLVMValueRef *b, LLVMValueRef *out);

#endif
