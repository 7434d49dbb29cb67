/* The checks `race`, `init` and `barrier`: what the kernel tells the runtime, which finds the faults. */
#ifndef CUJIT_CODEGEN_WATCH_H
#define CUJIT_CODEGEN_WATCH_H

#include "codegen/check/rewrite.h"
#include "core/target.h"

typedef struct Watching {
    CheckSet wanted;
    const IrFunc *kernel;
    bool has_begun;
    const IrValue **swaps; /* of the function at hand */
    uint32_t swap_count;
} Watching;

/* What there is to know of a function before it is rewritten. */
void watch_function(Watching *watching, const IrFunc *function, Arena *arena);

/* A RewriteValue; user: a Watching. Puts a WATCH in front of each access and fence, and behind what makes an array. */
void check_watch(Rewrite *rewrite, IrValue *value, void *user);

#endif
