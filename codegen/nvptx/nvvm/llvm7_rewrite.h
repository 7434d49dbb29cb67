/* Instructions that came after LLVM 7, made of those that it has. */
#ifndef CUJIT_CODEGEN_NVPTX_LLVM7_REWRITE_H
#define CUJIT_CODEGEN_NVPTX_LLVM7_REWRITE_H

#include "codegen/emit.h"

/* False with a diagnostic where something has no counterpart. */
bool rewrite_for_llvm7(Emitter *emitter, LLVMBasicBlockRef block);

/* An atomic instruction (a load, a store, a fence, a read-modify-write, a compare-and-exchange) as PTX, which has had the
 * scopes and orders that they name since sm_70. False with a diagnostic where PTX has none. */
bool rewrite_atomic(Emitter *emitter, LLVMValueRef instruction);

/* Fails: what cannot be said to LLVM 7, in the function that `where`, an instruction, is in. */
bool fail_for_llvm7(Emitter *emitter, LLVMValueRef where, const char *what);

#endif
