/* Loads and stores that say how they go through the caches. */
#ifndef CUJIT_CODEGEN_HINTED_ACCESS_H
#define CUJIT_CODEGEN_HINTED_ACCESS_H

#include "codegen/emit.h"

/* LOAD and STORE with a hint, of scalars that are aligned. */
void emit_hinted_load(Emitter *emitter, const IrValue *value, LLVMValueRef address, LLVMValueRef *out);
void emit_hinted_store(Emitter *emitter, const IrValue *value, LLVMValueRef address, const LLVMValueRef *parts);

#endif
