/* Loads and stores of a GPU that say how they go through the caches. */
#ifndef CUJIT_CODEGEN_CACHE_HINT_H
#define CUJIT_CODEGEN_CACHE_HINT_H

#include "codegen/emit.h"

/* TargetLowering.load_with_hint and store_with_hint. */
LLVMValueRef load_with_hint(Emitter *emitter, const IrValue *value, LLVMTypeRef memory, LLVMValueRef address);
void store_with_hint(Emitter *emitter, const IrValue *value, const Type *scalar, LLVMValueRef address,
                     LLVMValueRef part);

#endif
