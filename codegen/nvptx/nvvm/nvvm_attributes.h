/* Attributes that libNVVM's LLVM before ours does not know. */
#ifndef CUJIT_CODEGEN_NVPTX_NVVM_ATTRIBUTES_H
#define CUJIT_CODEGEN_NVPTX_NVVM_ATTRIBUTES_H

#include "codegen/emit.h"

/* Takes them from a function and from the calls in it. */
void strip_attributes(LLVMValueRef function);

#endif
