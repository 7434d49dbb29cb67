/* Recognizes a kernel that is one grid-stride loop: `for i in range(grid(1), n, gridsize(1))` and nothing around it that
 * has an effect. Such a loop may run trip by trip over all threads of a block instead of thread by thread: neighbours
 * then touch neighbouring elements, which vectorizes. */
#ifndef CUJIT_CODEGEN_STRIDE_LOOP_H
#define CUJIT_CODEGEN_STRIDE_LOOP_H

#include "core/ir/ir.h"

typedef struct StrideLoop {
    const IrBlock *header;
    const IrValue *index; /* the header's only phi */
    const IrValue *start, *step; /* index is start + trip * step */
    bool cannot_overflow; /* neither of them does, trip for trip */
    bool *is_inside; /* by IrBlock.id: in the loop, header included */
} StrideLoop;

/* Whether the block only returns, perhaps after jumps. */
bool only_returns(const IrBlock *block);
/* False when the kernel is anything else. */
bool find_stride_loop(const IrFunc *kernel, Arena *arena, StrideLoop *out);

#endif
