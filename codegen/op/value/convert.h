/* Conversions between numbers, and reinterpreted bits. */
#ifndef CUJIT_CODEGEN_CONVERT_H
#define CUJIT_CODEGEN_CONVERT_H

#include "codegen/emit.h"

void convert_parts(Emitter *emitter, const Type *from, const Type *to, const LLVMValueRef *in, LLVMValueRef *out);

#endif
