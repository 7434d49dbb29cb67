/* What LLVM's C interface has no way to ask for: a JIT that only links. */
#ifndef CUJIT_CODEGEN_HOST_JIT_H
#define CUJIT_CODEGEN_HOST_JIT_H

#include <stdbool.h>

#include "codegen/llvm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A JIT for objects of this processor. has_foreign_code: there may be code from elsewhere among them, which asks for what
 * a program's start and end do. */
LLVMErrorRef make_linking_jit(LLVMOrcLLJITRef *jit, bool has_foreign_code);

#ifdef __cplusplus
}
#endif

#endif
