/* Instructions -> basic blocks: leaders, order, dominators, natural loops. Works on block numbers; searches use stacks of
 * their own, for code is as deep as an attacker likes. */
#include "frontend/ssa/cfg.h"

#include <assert.h>

#include "core/base/graph.h"

enum { NO_BLOCK = GRAPH_NONE };

typedef struct Builder {
    const CodeSnapshot *code;
    const Instructions *instructions;
    Arena *arena;
    Diag *diag;
    uint32_t raw_count; /* blocks in the order of the code */
    CfgBlock *raw; /* successors are numbers of raw blocks */
    uint32_t *raw_of; /* instruction -> its raw block */
    uint32_t *number; /* raw block -> block; NO_BLOCK: unreachable */
    Cfg *cfg;
} Builder;

static bool ends_block(Bytecode op)
{
    return bytecode_jumps(op) || op == BYTECODE_RETURN || op == BYTECODE_RAISE || op == BYTECODE_YIELD;
}

static void split(Builder *b)
{
    uint32_t count = b->instructions->count;
    const Instruction *items = b->instructions->items;
    bool *leads = ARENA_ARRAY(b->arena, bool, count + 1);
    leads[0] = true;
    for (uint32_t i = 0; i < count; i++) {
        leads[i + 1] |= ends_block(items[i].op);
        leads[i] |= items[i].op == BYTECODE_FOR_ITER; /* also of a loop that never goes around */
        if (bytecode_jumps(items[i].op))
            leads[items[i].target] = true;
    }
    for (uint32_t i = 0; i < count; i++)
        b->raw_count += leads[i];
    b->raw = ARENA_ARRAY(b->arena, CfgBlock, b->raw_count);
    b->raw_of = ARENA_ARRAY(b->arena, uint32_t, count);
    uint32_t current = 0;
    for (uint32_t i = 0; i < count; i++) {
        current += leads[i] && i;
        if (leads[i])
            b->raw[current].first = i;
        b->raw[current].end = i + 1;
        b->raw_of[i] = current;
    }
}

/* NO_BLOCK as a successor: off the end of the code. */
static void connect(Builder *b)
{
    for (uint32_t i = 0; i < b->raw_count; i++) {
        CfgBlock *block = &b->raw[i];
        const Instruction *last = &b->instructions->items[block->end - 1];
        uint32_t next = i + 1 < b->raw_count ? i + 1 : NO_BLOCK;
        if (last->op == BYTECODE_RETURN || last->op == BYTECODE_RAISE)
            continue;
        if (last->op != BYTECODE_JUMP)
            block->successors[block->successor_count++] = next;
        if (bytecode_jumps(last->op))
            block->successors[block->successor_count++] = b->raw_of[last->target];
    }
}

/* NO_BLOCK becomes the node behind the last. Successors are listed last to first, so that what execution falls into comes
 * before where it may jump: the order reads like the source. */
static Graph edges_of(const CfgBlock *blocks, uint32_t count, Arena *arena)
{
    uint32_t edges = 0;
    uint32_t *first = ARENA_ARRAY(arena, uint32_t, count + 2), *successors = ARENA_ARRAY(arena, uint32_t, 2 * count);
    for (uint32_t i = 0; i < count; i++) {
        first[i] = edges;
        for (uint32_t s = blocks[i].successor_count; s-- > 0;)
            successors[edges++] = blocks[i].successors[s] == NO_BLOCK ? count : blocks[i].successors[s];
    }
    first[count] = first[count + 1] = edges;
    return (Graph){.node_count = count + 1, .first = first, .successors = successors};
}

/* Numbers reachable blocks in reverse postorder. */
static bool order(Builder *b)
{
    Graph edges = edges_of(b->raw, b->raw_count, b->arena);
    GraphOrder order = graph_order(&edges, 0, b->arena);
    if (order.rank[b->raw_count] != GRAPH_NONE) {
        const Instruction *last = &b->instructions->items[b->raw[b->raw_count - 1].end - 1];
        return diag_fail(b->diag, &last->pos, DIAG_BYTECODE_BROKEN, b->code->source.name, "it runs off its end");
    }
    assert(order.count && order.nodes[0] == 0);
    b->number = order.rank;
    b->cfg->count = order.count;
    return true;
}

static bool first_is_target(const Builder *b)
{
    for (uint32_t i = 0; i < b->raw_count; i++)
        for (uint32_t s = 0; s < b->raw[i].successor_count && b->number[i] != NO_BLOCK; s++)
            if (b->raw[i].successors[s] == 0)
                return true;
    return false;
}

/* Copies the reachable blocks into their order, behind an empty entry where the first one is jumped to. */
static void renumber(Builder *b)
{
    uint32_t shift = first_is_target(b);
    b->cfg->count += shift;
    b->cfg->blocks = ARENA_ARRAY(b->arena, CfgBlock, b->cfg->count);
    if (shift)
        b->cfg->blocks[0] = (CfgBlock){.successor_count = 1, .successors = {1}};
    for (uint32_t i = 0; i < b->raw_count; i++) {
        if (b->number[i] == NO_BLOCK)
            continue;
        CfgBlock *block = &b->cfg->blocks[b->number[i] + shift];
        *block = b->raw[i];
        for (uint32_t s = 0; s < block->successor_count; s++) {
            assert(b->number[block->successors[s]] != NO_BLOCK);
            block->successors[s] = b->number[block->successors[s]] + shift;
        }
    }
}

static void link_predecessors(Cfg *cfg, Arena *arena)
{
    for (uint32_t i = 0; i < cfg->count; i++)
        for (uint32_t s = 0; s < cfg->blocks[i].successor_count; s++)
            cfg->blocks[cfg->blocks[i].successors[s]].predecessor_count++;
    for (uint32_t i = 0; i < cfg->count; i++) {
        CfgBlock *block = &cfg->blocks[i];
        block->predecessors = ARENA_ARRAY(arena, uint32_t, block->predecessor_count);
        block->predecessor_count = 0;
    }
    for (uint32_t i = 0; i < cfg->count; i++)
        for (uint32_t s = 0; s < cfg->blocks[i].successor_count; s++) {
            CfgBlock *target = &cfg->blocks[cfg->blocks[i].successors[s]];
            cfg->blocks[i].edge_places[s] = target->predecessor_count;
            target->predecessors[target->predecessor_count++] = i;
        }
}

static void find_dominators(Cfg *cfg, Arena *arena)
{
    Graph edges = edges_of(cfg->blocks, cfg->count, arena);
    const uint32_t *dominators = graph_dominators(&edges, 0, arena);
    for (uint32_t i = 1; i < cfg->count; i++) {
        assert(dominators[i] < i); /* which rank_blocks relies on */
        cfg->blocks[i].dominator = dominators[i];
    }
}

/* rank_end is first how many blocks there are at and below each one, then where the next one's are to be. */
static void rank_blocks(Cfg *cfg)
{
    CfgBlock *blocks = cfg->blocks;
    for (uint32_t i = cfg->count; i-- > 1;) {
        blocks[i].rank_end++;
        blocks[blocks[i].dominator].rank_end += blocks[i].rank_end;
    }
    for (uint32_t i = 0; i < cfg->count; i++) {
        CfgBlock *block = &blocks[i], *above = &blocks[block->dominator];
        uint32_t size = block->rank_end;
        if (i) {
            block->rank = above->rank_end;
            above->rank_end += size;
        }
        block->rank_end = block->rank + 1;
    }
}

bool cfg_dominates(const Cfg *cfg, uint32_t a, uint32_t b)
{
    const CfgBlock *blocks = cfg->blocks;
    return blocks[a].rank <= blocks[b].rank && blocks[b].rank < blocks[a].rank_end;
}

/* One deeper for every block from which the header's back edges are reached without passing the header. */
static void deepen_loop(Cfg *cfg, uint32_t header, uint32_t *in_loop, uint32_t *stack)
{
    uint32_t depth = 0;
    in_loop[header] = header + 1;
    cfg->blocks[header].loop_depth++;
    for (uint32_t p = 0; p < cfg->blocks[header].predecessor_count; p++)
        if (cfg_dominates(cfg, header, cfg->blocks[header].predecessors[p]))
            stack[depth++] = cfg->blocks[header].predecessors[p];
    while (depth) {
        uint32_t i = stack[--depth];
        if (in_loop[i] == header + 1)
            continue;
        in_loop[i] = header + 1;
        cfg->blocks[i].loop_depth++;
        for (uint32_t p = 0; p < cfg->blocks[i].predecessor_count; p++)
            stack[depth++] = cfg->blocks[i].predecessors[p];
    }
}

static void find_loops(Cfg *cfg, Arena *arena)
{
    uint32_t edges = 0;
    for (uint32_t i = 0; i < cfg->count; i++)
        edges += cfg->blocks[i].predecessor_count;
    uint32_t *in_loop = ARENA_ARRAY(arena, uint32_t, cfg->count);
    uint32_t *stack = ARENA_ARRAY(arena, uint32_t, edges);
    for (uint32_t i = 0; i < cfg->count; i++) {
        CfgBlock *block = &cfg->blocks[i];
        for (uint32_t p = 0; p < block->predecessor_count; p++)
            block->is_loop_header |= cfg_dominates(cfg, i, block->predecessors[p]);
        if (block->is_loop_header)
            deepen_loop(cfg, i, in_loop, stack);
    }
}

static Cfg *finish(Builder *b)
{
    if (!order(b))
        return NULL;
    renumber(b);
    link_predecessors(b->cfg, b->arena);
    find_dominators(b->cfg, b->arena);
    rank_blocks(b->cfg);
    find_loops(b->cfg, b->arena);
    return b->cfg;
}

Cfg *cfg_build(const CodeSnapshot *code, const Instructions *instructions, Arena *arena, Diag *diag)
{
    Builder b = {
        .code = code, .instructions = instructions, .arena = arena, .diag = diag, .cfg = ARENA_NEW(arena, Cfg)};
    if (!instructions->count) {
        diag_fail(diag, NULL, DIAG_BYTECODE_BROKEN, code->source.name, "it has no instructions");
        return NULL;
    }
    split(&b);
    connect(&b);
    return finish(&b);
}

Cfg *cfg_of_blocks(const CodeSnapshot *code, const Instructions *instructions, CfgBlock *blocks, uint32_t count,
                   Arena *arena, Diag *diag)
{
    Builder b = {.code = code,
                 .instructions = instructions,
                 .arena = arena,
                 .diag = diag,
                 .raw = blocks,
                 .raw_count = count,
                 .cfg = ARENA_NEW(arena, Cfg)};
    return finish(&b);
}

static void print_numbers(Buf *out, const char *words, const uint32_t *numbers, uint32_t count)
{
    if (!count)
        return;
    buf_add(out, words);
    for (uint32_t i = 0; i < count; i++)
        buf_printf(out, "%s%u", i ? ", " : " ", numbers[i]);
}

void cfg_print(Buf *out, const Cfg *cfg, const Instructions *instructions)
{
    for (uint32_t i = 0; i < cfg->count; i++) {
        const CfgBlock *block = &cfg->blocks[i];
        buf_printf(out, "block %u:", i);
        if (block->first < block->end)
            buf_printf(out, " %u-%u", block->first, block->end - 1);
        else
            buf_add(out, " empty");
        print_numbers(out, " from", block->predecessors, block->predecessor_count);
        print_numbers(out, " to", block->successors, block->successor_count);
        if (i)
            buf_printf(out, ", dominator %u", block->dominator);
        if (block->is_loop_header)
            buf_add(out, ", loop header");
        if (block->loop_depth)
            buf_printf(out, ", depth %u", block->loop_depth);
        int line = block->first < block->end ? instructions->items[block->first].pos.line : 0;
        if (line > 0)
            buf_printf(out, " ; line %d", line);
        buf_add(out, "\n");
    }
}
