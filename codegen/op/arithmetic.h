/* Arithmetic of integers and floats with Python's rules: floor division, signs of remainders, defined division by zero
 * and shifts. */
#ifndef CUJIT_CODEGEN_ARITHMETIC_H
#define CUJIT_CODEGEN_ARITHMETIC_H

#include "codegen/emit.h"

LLVMValueRef float_add(Emitter *emitter, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef float_subtract(Emitter *emitter, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef float_multiply(Emitter *emitter, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef float_negate(Emitter *emitter, const Type *type, LLVMValueRef x);
LLVMValueRef float_divide(Emitter *emitter, LLVMValueRef a, LLVMValueRef b);

#endif
