/* Basic blocks of canonical instructions, reachable ones only, in reverse postorder. */
#ifndef CUJIT_FRONTEND_CFG_H
#define CUJIT_FRONTEND_CFG_H

#include "frontend/decode.h"

typedef struct CfgBlock {
    uint32_t first, end;              /* instructions [first, end) */
    uint32_t successor_count;
    uint32_t successors[2];           /* blocks: [0] where execution falls through (or the only one), [1] where the
                                         jump at the end is taken. FOR_ITER: [0] the body, [1] after the loop */
    uint32_t predecessor_count;
    uint32_t *predecessors;           /* one for each edge */
    uint32_t dominator;               /* immediate; of the entry: itself */
    bool is_loop_header;              /* the target of a back edge */
    uint32_t loop_depth;
} CfgBlock;

typedef struct Cfg {
    uint32_t count;                   /* block 0 is the entry and has no predecessors (an empty block is put in front
                                         where the code jumps to its first instruction) */
    CfgBlock *blocks;                 /* in reverse postorder */
} Cfg;

/* NULL with a diagnostic: code that runs off its end. */
Cfg *cfg_build(const CodeSnapshot *code, const Instructions *instructions, Arena *arena, Diag *diag);
bool cfg_dominates(const Cfg *cfg, uint32_t a, uint32_t b);
void cfg_print(Buf *out, const Cfg *cfg, const Instructions *instructions);

#endif
