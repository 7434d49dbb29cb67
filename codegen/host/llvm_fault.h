/* Known faults of LLVM's passes and its code generators, kept out of what they are given. */
#ifndef CUJIT_CODEGEN_LLVM_FAULT_H
#define CUJIT_CODEGEN_LLVM_FAULT_H

#include "codegen/llvm.h"

/* Behind all that simplifies a function's loops, and before they become vector code. */
void llvm_avoid_faults(LLVMValueRef function);
/* Behind all passes, before the code generator. */
void llvm_avoid_code_faults(LLVMModuleRef module);

#endif
