/* PTX of cujit's own in the middle of a function. */
#ifndef CUJIT_CODEGEN_INLINE_PTX_H
#define CUJIT_CODEGEN_INLINE_PTX_H

#include "codegen/emit.h"

/* Runs the text, $0, $1, ... of which are the results, then the operands, with LLVM's constraints for all of them; memory
 * may change. Its result is the type's. */
LLVMValueRef inline_ptx(Emitter *emitter, const char *text, const char *constraints, LLVMTypeRef result, uint32_t count,
                        LLVMValueRef *arguments, bool is_convergent);
/* The number, of 32 or 64 bits, of which LLVM does not know where it is from; it costs nothing. */
LLVMValueRef opaque_copy(Emitter *emitter, LLVMValueRef number);
/* A generic pointer into shared memory as the i32 that instructions take. */
LLVMValueRef shared_word(Emitter *emitter, LLVMValueRef address);

#endif
