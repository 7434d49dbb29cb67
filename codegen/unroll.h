/* Which loops to write out in full. */
#ifndef CUJIT_CODEGEN_UNROLL_H
#define CUJIT_CODEGEN_UNROLL_H

#include "core/ir/ir_graph.h"

typedef struct UnrollLimits {
    int64_t trips; /* of one loop */
    int64_t values; /* of a function's loops when they are written out */
    int64_t small; /* instructions of a loop that is written out for its size alone */
} UnrollLimits;

/* By place in graph->loops, in the arena; NULL: none of them. */
const bool *choose_unrolled_loops(const IrGraph *graph, const UnrollLimits *limits, Arena *arena);

#endif
