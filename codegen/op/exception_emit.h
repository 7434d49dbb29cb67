/* Exceptions: a thread that raises writes the record unless another was first, then every function up to the kernel
 * returns. */
#ifndef CUJIT_CODEGEN_EXCEPTION_EMIT_H
#define CUJIT_CODEGEN_EXCEPTION_EMIT_H

#include "codegen/emit.h"

/* How many parameters a raising function has for them, and their types. */
uint32_t exception_parameters(Emitter *emitter, bool raises, LLVMTypeRef *types);
/* Leaves the function where a call of a raising one said so; emission continues where it did not. */
void emit_unwind_if(Emitter *emitter, LLVMValueRef raised);
/* The operands from that one on as an ExceptionRecord has them; returns how many slots they take. */
uint32_t exception_slot_values(Emitter *emitter, const IrValue *value, uint32_t first, LLVMValueRef *slots);
/* Where the thread is along the axis: its number in its block, and its block's, of blocks that run as a wider one as well. */
void emit_place_in_grid(Emitter *emitter, unsigned axis, LLVMValueRef *thread, LLVMValueRef *block);

#endif
