/* Emits a kernel as phases: a function that runs all threads of one block. */
#ifndef CUJIT_CODEGEN_PHASE_EMIT_H
#define CUJIT_CODEGEN_PHASE_EMIT_H

#include "codegen/emit.h"

/* Where a thread goes; where it ends. */
LLVMBasicBlockRef phase_target(Emitter *emitter, const IrValue *terminator, uint32_t index);
LLVMBasicBlockRef phase_thread_end(Emitter *emitter);
/* Memory for what this value is to each thread: a local array or a cell. */
LLVMValueRef phase_memory(Emitter *emitter, const IrValue *value, uint64_t size, uint32_t alignment);

#endif
