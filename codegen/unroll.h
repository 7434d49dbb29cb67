/* Which loops to write out in full. */
#ifndef CUJIT_CODEGEN_UNROLL_H
#define CUJIT_CODEGEN_UNROLL_H

#include "core/ir/ir_graph.h"

typedef struct UnrollLimits {
    int64_t trips; /* of one loop */
    int64_t values; /* of a function's loops when they are written out */
    int64_t small; /* instructions of a loop that is written out for its size alone */
    bool scaled; /* also loops whose variable is doubled or halved, or the like */
} UnrollLimits;

/* Of an access: the axis whose index the program chooses while it runs, and how many elements there are on it; 0: none. */
typedef struct ElementChoice {
    uint32_t axis, count;
} ElementChoice;

typedef struct UnrolledLoops {
    const bool *is_chosen, *is_batched; /* by place in graph->loops: written out, or several trips at a time */
    const ElementChoice *choices; /* by IrValue.id: of accesses to arrays that can be in registers all the same */
} UnrolledLoops;

/* Instructions of a value, roughly: a call is as much as what it calls, if that is short, else as much as a function of math. */
int64_t weight_in_loop(const IrValue *value);

/* In the arena; false: there is nothing to write out. */
bool choose_unrolled(const IrGraph *graph, const UnrollLimits *limits, Arena *arena, UnrolledLoops *out);
/* Of it what is written out. By place in graph->loops, in the arena; NULL: none of them. */
const bool *choose_unrolled_loops(const IrGraph *graph, const UnrollLimits *limits, Arena *arena);

#endif
