/* Functions that run all threads of a block: loops over the threads, their slots, exchanges between them. */
#ifndef CUJIT_CODEGEN_THREAD_LOOP_H
#define CUJIT_CODEGEN_THREAD_LOOP_H

#include "codegen/emit.h"

/* Emits the body of a function that runs all threads of a block. */
void emit_block_function(Emitter *emitter, const EmittedFunction *function);
/* Memory in the block's context for a LOCAL value, of all threads, or for the CELL of one; NULL: not kept there. */
LLVMValueRef host_thread_memory(Emitter *emitter, const IrValue *value, uint64_t size, uint32_t alignment);
/* Tells LLVM which loops over threads are independent, once all functions are emitted. */
void mark_independent_loops(Emitter *emitter);

#endif
