/* Counted loops of the CPU device's entries, and the index of a thread in its HostThread. */
#ifndef CUJIT_CODEGEN_HOST_LOOP_H
#define CUJIT_CODEGEN_HOST_LOOP_H

#include "codegen/emit.h"

typedef struct HostLoop {
    LLVMValueRef index, end; /* end: of one that goes down, the last index */
    LLVMBasicBlockRef body;
} HostLoop;

/* for (index = start; index < end; index++), which the caller knows to run at least once. */
HostLoop host_loop_open(Emitter *emitter, LLVMValueRef start, LLVMValueRef end);
/* Returns the branch back. */
LLVMValueRef host_loop_close(Emitter *emitter, HostLoop *loop);
/* index += step */
LLVMValueRef host_loop_close_by(Emitter *emitter, HostLoop *loop, LLVMValueRef step);
/* for (index = end - 1; index >= start; index--), likewise. Returns the branch back. */
HostLoop host_loop_open_down(Emitter *emitter, LLVMValueRef start, LLVMValueRef end);
LLVMValueRef host_loop_close_down(Emitter *emitter, HostLoop *loop);
/* How many threads lie next to each other: those of the block along its rows, or of blocks that are joined. */
LLVMValueRef host_row_length(Emitter *emitter);
/* A loop around loops, by its branch back: LLVM is not to write out several trips, which would be copies of all that is in
 * it. */
void host_loop_keep_rolled(Emitter *emitter, LLVMValueRef branch);
/* A field of a HostThread by its offset. */
LLVMValueRef host_field(Emitter *emitter, LLVMValueRef thread, size_t offset);
/* Stores threadIdx, the linear number and the lane; block_dim: along x and y. Returns the linear number, i32. */
LLVMValueRef host_set_thread_index(Emitter *emitter, LLVMValueRef thread, LLVMValueRef *index,
                                   const LLVMValueRef *block_dim);

/* What a lane asks of a shuffle in one word: the lane or distance, and from bit 8 on the bits of a lane's number that tell
 * its segment. */
LLVMValueRef shuffle_place(Emitter *emitter, const IrValue *value);

/* The axes of a block, or of a grid, from the innermost loop outwards, where rows lie along that one. */
extern const uint8_t host_loop_axes[3][3];

/* Whether blocks have one thread along the axis in all launches of the kernel. */
static inline bool host_is_single(const IrFunc *function, uint32_t axis) { return function->single_axes >> axis & 1; }

/* host_entry.c: in the way that suits it best; false when that is the common one. */
bool emit_host_kernel(Emitter *emitter, const EmittedFunction *kernel);

#endif
