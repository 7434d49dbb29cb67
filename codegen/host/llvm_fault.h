/* Known faults of LLVM's passes, kept out of what they are given. */
#ifndef CUJIT_CODEGEN_LLVM_FAULT_H
#define CUJIT_CODEGEN_LLVM_FAULT_H

#include "codegen/llvm.h"

/* Behind all that simplifies a function's loops, and before they become vector code. */
void llvm_avoid_faults(LLVMValueRef function);

#endif
