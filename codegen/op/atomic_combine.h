/* What atomic operations make of the old value, on either device. */
#ifndef CUJIT_CODEGEN_ATOMIC_COMBINE_H
#define CUJIT_CODEGEN_ATOMIC_COMBINE_H

#include "codegen/emit.h"

/* What the operation makes of the old value. */
LLVMValueRef combine_atomic(Emitter *emitter, LLVMAtomicRMWBinOp operation, LLVMValueRef old, LLVMValueRef operand);
/* The operation as a loop of compare-and-exchange; scope: LLVM's number. */
LLVMValueRef read_modify_write_by_exchange(Emitter *emitter, LLVMAtomicRMWBinOp operation, LLVMValueRef address,
                                           LLVMValueRef operand, unsigned scope);

#endif
