/* Known faults of ptxas, kept out of what it is given. Rows: ptxas_fault.def. */
#ifndef CUJIT_CODEGEN_PTXAS_FAULT_H
#define CUJIT_CODEGEN_PTXAS_FAULT_H

#include "codegen/emit.h"

/* In all functions: behind LLVM's passes, which would put the forms back. */
void ptxas_avoid_faults(Emitter *emitter);
/* In one, behind the code generator's own passes, whose strength reduction makes differences anew. */
void ptxas_avoid_faults_of(void *emitter, LLVMValueRef function);
/* A copy of PTX without the instructions at fault, and its size. Memory: memory_free(). */
char *ptxas_avoid_in_text(const char *text, size_t *size);

#endif
