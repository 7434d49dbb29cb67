/* Read-modify-write operations of a GPU for a scope that is not the device: LLVM keeps the scope of compare-and-
 * exchange only. */
#ifndef CUJIT_CODEGEN_ATOMIC_SCOPE_H
#define CUJIT_CODEGEN_ATOMIC_SCOPE_H

#include "codegen/emit.h"

/* atomicrmw of a GPU, relaxed, for the system or else for the block. */
LLVMValueRef scoped_read_modify_write(Emitter *emitter, bool is_system, LLVMAtomicRMWBinOp operation,
                                      LLVMValueRef address, LLVMValueRef operand);

#endif
