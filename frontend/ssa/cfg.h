/* Basic blocks of canonical instructions, reachable ones only, in reverse postorder. */
#ifndef CUJIT_FRONTEND_CFG_H
#define CUJIT_FRONTEND_CFG_H

#include "frontend/bytecode/decode.h"

typedef struct CfgBlock {
    uint32_t first, end;              /* instructions [first, end) */
    uint32_t successor_count;
    uint32_t successors[2];           /* blocks: [0] where execution falls through (or the only one), [1] where the
                                         jump at the end is taken. FOR_ITER: [0] the body, [1] after the loop */
    uint32_t edge_places[2];          /* which of a successor's predecessors the edge is */
    uint32_t predecessor_count;
    uint32_t *predecessors;           /* one for each edge */
    uint32_t dominator;               /* immediate; of the entry: itself */
    uint32_t rank, rank_end;          /* in a walk of the dominator tree: its own, and behind those it dominates */
    bool is_loop_header;              /* the target of a back edge */
    uint32_t loop_depth;
    uint32_t iteration; /* of the test of a for loop that was unrolled: which item it asks for, from 1 */
    bool is_rest; /* that item or any after it */
} CfgBlock;

typedef struct Cfg {
    uint32_t count; /* block 0 is the entry and has no predecessors (an empty block is put in front
                                         where the code jumps to its first instruction) */
    CfgBlock *blocks; /* in reverse postorder */
} Cfg;

/* NULL with a diagnostic: code that runs off its end. */
Cfg *cfg_build(const CodeSnapshot *code, const Instructions *instructions, Arena *arena, Diag *diag);
/* The same code with for loops written out (cfg_unroll.c): items[b] > 0 asks for the tests of so many items before the
 * loop whose test is block b. Loops inside of which others are asked for stay as they are. NULL, without a diagnostic,
 * where that makes too many blocks. */
Cfg *cfg_unroll(const CodeSnapshot *code, const Instructions *instructions, const Cfg *cfg, const uint32_t *items,
                Arena *arena, Diag *diag);
/* Orders blocks whose successors are set and finds out all else about them; the first one is the entry. NULL with a
 * diagnostic. */
Cfg *cfg_of_blocks(const CodeSnapshot *code, const Instructions *instructions, CfgBlock *blocks, uint32_t count,
                   Arena *arena, Diag *diag);
bool cfg_dominates(const Cfg *cfg, uint32_t a, uint32_t b);
void cfg_print(Buf *out, const Cfg *cfg, const Instructions *instructions);

#endif
