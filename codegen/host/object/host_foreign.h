/* Code from elsewhere, for kernels of the CPU device. */
#ifndef CUJIT_CODEGEN_HOST_FOREIGN_H
#define CUJIT_CODEGEN_HOST_FOREIGN_H

#include "codegen/llvm.h"
#include "core/diagnostic/diag.h"
#include "core/foreign.h"

typedef struct HostForeign {
    uint32_t count;
    void **libraries; /* dlopen's, in the order of the items; NULL where the item is none */
} HostForeign;

/* Compiles and opens what can be a library, and gives objects to the JIT. What is for GPUs is passed over. False with
 * DIAG_HOST_COMPILER or DIAG_LINK; host_foreign_close releases what is open. */
bool host_foreign_open(HostForeign *foreign, LLVMOrcLLJITRef jit, const LinkItem *const *items, uint32_t count,
                       Diag *diag);
/* The first library's symbol of that name; NULL: none has it. */
void *host_foreign_symbol(const HostForeign *foreign, const char *name);
void host_foreign_close(HostForeign *foreign);

#endif
