/* What the CPU device's files know of a module while they emit it, beside what every device's Emitter has. */
#ifndef CUJIT_CODEGEN_HOST_EMITTER_H
#define CUJIT_CODEGEN_HOST_EMITTER_H

#include "codegen/emit.h"

typedef struct BlockFrame BlockFrame; /* regions/thread_loop.c */
typedef struct ObservedModule ObservedModule; /* observe.h */
typedef struct IndependentLoop IndependentLoop; /* likewise */
typedef struct RowParts RowParts; /* regions/row_parts.h */

struct HostEmitter {
    uint32_t context_size; /* bytes that a block keeps for each thread */
    IntrinsicId wide_index; /* threadIdx along rows of joined blocks, which may be above 1023; else no register */
    uint32_t repeated_axes; /* a bit for each axis of a block that the kernel's entry is run along by the runtime */
    uint32_t call_count; /* calls so far at which lanes meet */
    IndependentLoop *independent_loops; /* over threads, to be marked */
    ObservedModule *observed; /* what it counts for the host */
    RowParts **row_parts; /* of this function, by IrValue.id; NULL: its rows are whole so far */
    BlockFrame *frame; /* of the function being emitted, when it runs all threads of a block; else NULL */
};

#endif
