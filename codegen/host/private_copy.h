/* A worker's own copy of an array, to which its threads add (private_atomics.c). */
#ifndef CUJIT_CODEGEN_PRIVATE_COPY_H
#define CUJIT_CODEGEN_PRIVATE_COPY_H

#include "codegen/emit.h"

typedef struct PrivateCopy {
    const IrValue *atomic; /* one of those that add; NULL: the kernel has none */
    LLVMValueRef array, count; /* the array's first element, how many there are: 0 where there is no copy */
    LLVMValueRef copy, size; /* its first byte, and how many */
} PrivateCopy;

/* Makes the copy, all zero, where it pays and no other parameter shares memory with the array. arguments: by the fields of
 * the kernel's parameters; threads: how many will run, i64. */
PrivateCopy begin_private_copy(Emitter *emitter, const IrFunc *kernel, const LLVMValueRef *arguments,
                               LLVMValueRef threads);
/* Adds the copy to the array. */
void end_private_copy(Emitter *emitter, const PrivateCopy *copy);
/* The copy that the thread's atomics go to, and its size, i64: 0 where there is none. */
LLVMValueRef host_private_copy(Emitter *emitter, LLVMValueRef *size);

#endif
