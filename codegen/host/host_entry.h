/* The entry of a kernel on the CPU device, around its body: NAME.blocks, where no thread has to be real, runs blocks as
 * loops that LLVM can vectorize. */
#ifndef CUJIT_CODEGEN_HOST_ENTRY_H
#define CUJIT_CODEGEN_HOST_ENTRY_H

#include "codegen/emit.h"

/* Says whether the kernel's function is copied into what calls it for a block or a trip. */
void inline_kernel(Emitter *emitter, LLVMValueRef function);
void emit_host_entries(Emitter *emitter, const EmittedFunction *body);

#endif
