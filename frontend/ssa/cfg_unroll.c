/* Writes loops out: copies of a for loop's blocks, one for each of its first items, before the loop itself. What the code
 * does stays the same; but every copy knows which item it is about, so that items may differ in type. */
#include "frontend/ssa/cfg.h"

enum { MOST_BLOCKS = 3000 };

typedef struct Unroll {
    const Cfg *cfg;
    Arena *arena;
    CfgBlock *blocks; /* those of the CFG, then the copies */
    uint32_t count;
    bool *in_loop; /* the loop at hand: its blocks */
    uint32_t *rank; /* which of the loop's blocks it is */
    uint32_t size;
} Unroll;

/* Marks the blocks from which a back edge is reached without passing the header. */
static void mark_cycle(Unroll *u, uint32_t header)
{
    uint32_t depth = 0, *stack = ARENA_ARRAY(u->arena, uint32_t, u->cfg->count + 1);
    const CfgBlock *blocks = u->cfg->blocks;
    u->in_loop[header] = true;
    for (uint32_t i = header; i < u->cfg->count; i++) {
        for (uint32_t s = 0; s < blocks[i].successor_count; s++)
            if (blocks[i].successors[s] == header && !u->in_loop[i] && cfg_dominates(u->cfg, header, i)) {
                u->in_loop[i] = true;
                stack[depth++] = i;
            }
    }
    while (depth) {
        const CfgBlock *block = &blocks[stack[--depth]];
        for (uint32_t p = 0; p < block->predecessor_count; p++)
            if (!u->in_loop[block->predecessors[p]]) {
                u->in_loop[block->predecessors[p]] = true;
                stack[depth++] = block->predecessors[p];
            }
    }
}

/* The loop's blocks: those that go around, and those that leave it from its body, as a break does. */
static void mark_loop(Unroll *u, uint32_t header)
{
    const CfgBlock *blocks = u->cfg->blocks;
    uint32_t body = blocks[header].successors[0], after = blocks[header].successors[1];
    for (uint32_t i = 0; i < u->cfg->count; i++)
        u->in_loop[i] = false;
    mark_cycle(u, header);
    u->size = 0;
    for (uint32_t i = 0; i < u->cfg->count; i++) {
        bool is_written_inside = blocks[i].first < blocks[after].first && cfg_dominates(u->cfg, body, i);
        u->in_loop[i] |= is_written_inside;
        if (u->in_loop[i])
            u->rank[i] = u->size++;
    }
}

/* Where a copy of the loop goes on for a successor of the original: copies lead to each other, the last one to the
 * loop. */
static uint32_t copied(const Unroll *u, uint32_t header, uint32_t copy, uint32_t copies, uint32_t successor)
{
    if (!u->in_loop[successor])
        return successor;
    if (successor == header && ++copy == copies)
        return header;
    return u->count + copy * u->size + u->rank[successor];
}

static void copy_loop(Unroll *u, uint32_t header, uint32_t copies)
{
    uint32_t taken = u->blocks[header].iteration ? u->blocks[header].iteration - 1 : 0;
    uint32_t first_header = u->count + u->rank[header];
    for (uint32_t copy = 0; copy < copies; copy++)
        for (uint32_t i = 0; i < u->cfg->count; i++) {
            if (!u->in_loop[i])
                continue;
            CfgBlock *block = &u->blocks[u->count + copy * u->size + u->rank[i]];
            *block = u->blocks[i];
            if (i == header) {
                block->iteration = taken + copy + 1;
                block->is_rest = false;
            }
            for (uint32_t s = 0; s < block->successor_count; s++)
                block->successors[s] = copied(u, header, copy, copies, block->successors[s]);
        }
    for (uint32_t i = 0; i < u->count; i++)
        for (uint32_t s = 0; s < u->blocks[i].successor_count; s++)
            if (u->blocks[i].successors[s] == header && (i >= u->cfg->count || !u->in_loop[i]))
                u->blocks[i].successors[s] = first_header;
    u->blocks[header].iteration = taken + copies + 1;
    u->blocks[header].is_rest = true;
    u->count += copies * u->size;
}

static bool has_inner(const Unroll *u, uint32_t header, const uint32_t *items)
{
    for (uint32_t i = 0; i < u->cfg->count; i++)
        if (i != header && items[i] && u->in_loop[i])
            return true;
    return false;
}

/* How many blocks there will be; 0: too many. */
static uint32_t size_of_all(Unroll *u, const uint32_t *items)
{
    uint64_t total = u->cfg->count;
    for (uint32_t i = 0; i < u->cfg->count; i++) {
        if (!items[i])
            continue;
        mark_loop(u, i);
        if (!has_inner(u, i, items))
            total += (uint64_t)items[i] * u->size;
        if (total > MOST_BLOCKS)
            return 0;
    }
    return (uint32_t)total;
}

Cfg *cfg_unroll(const CodeSnapshot *code, const Instructions *instructions, const Cfg *cfg, const uint32_t *items,
                Arena *arena, Diag *diag)
{
    Unroll u = {.cfg = cfg, .arena = arena, .count = cfg->count};
    u.in_loop = ARENA_ARRAY(arena, bool, cfg->count);
    u.rank = ARENA_ARRAY(arena, uint32_t, cfg->count);
    uint32_t total = size_of_all(&u, items);
    if (!total)
        return NULL;
    u.blocks = ARENA_ARRAY(arena, CfgBlock, total);
    for (uint32_t i = 0; i < cfg->count; i++) {
        const CfgBlock *from = &cfg->blocks[i];
        u.blocks[i] = (CfgBlock){.first = from->first,
                                 .end = from->end,
                                 .successor_count = from->successor_count,
                                 .successors = {from->successors[0], from->successors[1]},
                                 .iteration = from->iteration,
                                 .is_rest = from->is_rest};
    }
    for (uint32_t i = 0; i < cfg->count; i++) {
        if (!items[i])
            continue;
        mark_loop(&u, i);
        if (!has_inner(&u, i, items))
            copy_loop(&u, i, items[i]);
    }
    return cfg_of_blocks(code, instructions, u.blocks, u.count, arena, diag);
}
