/* The order of a function's blocks, dominators and natural loops, by the algorithms of core/base/graph.c. */
#include "core/ir/ir_graph.h"

#include <assert.h>

#include "core/base/graph.h"

/* --- order and dominators ------------------------------------------------------------------------------------------------ */

/* Blocks by id. With an exit, which has the number behind the last block's, every block without a successor leads to it. */
static Graph edges_of(const IrFunc *function, bool with_exit, Arena *arena)
{
    uint32_t count = function->block_count, edges = 0;
    uint32_t *first = ARENA_ARRAY(arena, uint32_t, count + 2),
             *successors = ARENA_ARRAY(arena, uint32_t, 2 * count + 1);
    const IrBlock **blocks = ARENA_ARRAY(arena, const IrBlock *, count);
    IrBlock *targets[2];
    for (const IrBlock *block = function->first; block; block = block->next) {
        assert(block->id < count && !blocks[block->id]);
        blocks[block->id] = block;
    }
    for (uint32_t id = 0; id < count; id++) {
        int target_count = blocks[id] ? ir_successors(blocks[id], targets) : 0;
        first[id] = edges;
        for (int i = 0; i < target_count; i++)
            successors[edges++] = targets[i]->id;
        if (with_exit && blocks[id] && !target_count)
            successors[edges++] = count;
    }
    assert(edges <= 2 * count);
    first[count] = first[count + 1] = edges;
    return (Graph){.node_count = count + with_exit, .first = first, .successors = successors};
}

/* From numbers to blocks; the exit and nothing are NULL. */
static IrBlock **as_blocks(const IrFunc *function, const uint32_t *numbers, Arena *arena)
{
    uint32_t count = function->block_count;
    IrBlock **by_id = ARENA_ARRAY(arena, IrBlock *, count), **out = ARENA_ARRAY(arena, IrBlock *, count);
    for (IrBlock *block = function->first; block; block = block->next)
        by_id[block->id] = block;
    for (uint32_t id = 0; id < count; id++)
        out[id] = by_id[id] && numbers[id] < count ? by_id[numbers[id]] : NULL;
    return out;
}

/* Blocks that a block dominates get consecutive numbers: a range for each, inside that of its dominator. */
static void number_tree(IrGraph *graph, Arena *arena)
{
    uint32_t count = graph->function->block_count;
    uint32_t *first = ARENA_ARRAY(arena, uint32_t, count), *end = ARENA_ARRAY(arena, uint32_t, count);
    uint32_t *next = ARENA_ARRAY(arena, uint32_t, count);
    for (uint32_t i = graph->count; i-- > 1;)
        end[graph->dominator[graph->order[i]->id]->id] += ++end[graph->order[i]->id];
    end[graph->order[0]->id]++;
    for (uint32_t i = 0; i < graph->count; i++) {
        uint32_t id = graph->order[i]->id;
        if (i) {
            uint32_t above = graph->dominator[id]->id;
            first[id] = next[above];
            next[above] += end[id];
        }
        next[id] = first[id] + 1;
        end[id] += first[id];
    }
    assert(end[graph->order[0]->id] == graph->count); /* the entry dominates all */
    graph->first_below = first;
    graph->end_below = end;
}

static void find_order(IrGraph *graph, Arena *arena)
{
    const IrFunc *function = graph->function;
    Graph edges = edges_of(function, false, arena);
    GraphOrder order = graph_order(&edges, function->first->id, arena);
    graph->count = order.count;
    graph->rank = order.rank;
    graph->order = ARENA_ARRAY(arena, IrBlock *, order.count);
    assert(order.nodes[0] == function->first->id);
    for (IrBlock *block = function->first; block; block = block->next)
        if (order.rank[block->id] != GRAPH_NONE)
            graph->order[order.rank[block->id]] = block;
    graph->dominator = as_blocks(function, graph_dominators(&edges, function->first->id, arena), arena);
    Graph with_exit = edges_of(function, true, arena), back = graph_reversed(&with_exit, arena);
    graph->postdominator = as_blocks(function, graph_dominators(&back, function->block_count, arena), arena);
}

bool ir_dominates(const IrGraph *graph, const IrBlock *a, const IrBlock *b)
{
    assert(a->id < graph->function->block_count && b->id < graph->function->block_count);
    if (graph->rank[b->id] == GRAPH_NONE)
        return true;
    if (graph->rank[a->id] == GRAPH_NONE)
        return false;
    return graph->first_below[a->id] <= graph->first_below[b->id] &&
           graph->first_below[b->id] < graph->end_below[a->id];
}

/* --- loops --------------------------------------------------------------------------------------------------------------- */

typedef struct LoopSearch {
    IrGraph *graph;
    const Graph *back;
    const IrBlock **stack;
    IrLoop **loop_of; /* by IrBlock.id */
    IrBlock **by_id;
} LoopSearch;

static IrLoop *outermost(IrLoop *loop)
{
    while (loop->parent)
        loop = (IrLoop *)loop->parent;
    return loop;
}

static bool is_way_back(const IrGraph *graph, const IrBlock *from, const IrBlock *header)
{
    return graph->rank[from->id] != GRAPH_NONE && ir_dominates(graph, header, from);
}

static void find_latches(const LoopSearch *search, IrLoop *loop, Arena *arena)
{
    uint32_t id = loop->header->id, first = search->back->first[id], end = search->back->first[id + 1];
    loop->latches = ARENA_ARRAY(arena, IrBlock *, end - first);
    for (uint32_t edge = first; edge < end; edge++) {
        IrBlock *from = search->by_id[search->back->successors[edge]];
        bool is_new = edge == first || search->back->successors[edge - 1] != from->id;
        if (is_new && is_way_back(search->graph, from, loop->header))
            loop->latches[loop->latch_count++] = from;
    }
}

/* What leads to the loop's latches without passing its header belongs to it. Loops inside have been found before, and are
 * taken as a whole: each block is looked at once for each loop that is directly around it. */
static void find_members(const LoopSearch *search, IrLoop *loop)
{
    uint32_t depth = 0;
    search->loop_of[loop->header->id] = loop;
    for (uint32_t i = 0; i < loop->latch_count; i++)
        search->stack[depth++] = loop->latches[i];
    while (depth) {
        const IrBlock *block = search->stack[--depth];
        IrLoop *inner = search->loop_of[block->id] ? outermost(search->loop_of[block->id]) : NULL;
        if (inner == loop)
            continue;
        if (inner)
            inner->parent = loop;
        else
            search->loop_of[block->id] = loop;
        uint32_t entry = inner ? inner->header->id : block->id;
        for (uint32_t edge = search->back->first[entry]; edge < search->back->first[entry + 1]; edge++) {
            const IrBlock *from = search->by_id[search->back->successors[edge]];
            IrLoop *known = search->loop_of[from->id];
            if (search->graph->rank[from->id] != GRAPH_NONE && (!known || outermost(known) != loop))
                search->stack[depth++] = from;
        }
    }
}

static void list_members(IrGraph *graph, const LoopSearch *search, Arena *arena)
{
    for (uint32_t i = 0; i < graph->loop_count; i++)
        graph->loops[i].depth = graph->loops[i].parent ? graph->loops[i].parent->depth + 1 : 1;
    for (uint32_t i = 0; i < graph->count; i++)
        for (IrLoop *loop = search->loop_of[graph->order[i]->id]; loop; loop = (IrLoop *)loop->parent)
            loop->block_count++;
    for (uint32_t i = 0; i < graph->loop_count; i++) {
        graph->loops[i].blocks = ARENA_ARRAY(arena, IrBlock *, graph->loops[i].block_count);
        graph->loops[i].block_count = 0;
    }
    for (uint32_t i = 0; i < graph->count; i++)
        for (IrLoop *loop = search->loop_of[graph->order[i]->id]; loop; loop = (IrLoop *)loop->parent)
            loop->blocks[loop->block_count++] = graph->order[i];
}

static void find_loops(IrGraph *graph, Arena *arena)
{
    uint32_t count = graph->function->block_count;
    Graph edges = edges_of(graph->function, false, arena), back = graph_reversed(&edges, arena);
    LoopSearch search = {.graph = graph,
                         .back = &back,
                         .stack = ARENA_ARRAY(arena, const IrBlock *, back.first[count] + 1),
                         .loop_of = ARENA_ARRAY(arena, IrLoop *, count),
                         .by_id = ARENA_ARRAY(arena, IrBlock *, count)};
    IrLoop *loops = ARENA_ARRAY(arena, IrLoop, graph->count);
    for (IrBlock *block = graph->function->first; block; block = block->next)
        search.by_id[block->id] = block;
    for (uint32_t i = 0; i < graph->count; i++) {
        IrLoop *loop = &loops[graph->loop_count];
        *loop = (IrLoop){.header = graph->order[i]};
        assert(graph->loop_count <= i);
        find_latches(&search, loop, arena);
        graph->loop_count += loop->latch_count > 0;
    }
    for (uint32_t i = graph->loop_count; i-- > 0;)
        find_members(&search, &loops[i]);
    graph->loops = loops;
    list_members(graph, &search, arena);
    graph->loop_of = (const IrLoop **)search.loop_of;
    for (uint32_t i = 0; i < graph->loop_count; i++)
        assert(loops[i].blocks[0] == loops[i].header && loops[i].parent != &loops[i]);
}

bool ir_loop_has(const IrGraph *graph, const IrLoop *loop, const IrBlock *block)
{
    for (const IrLoop *around = graph->loop_of[block->id]; around; around = around->parent)
        if (around == loop)
            return true;
    return false;
}

IrGraph *ir_graph(const IrFunc *function, Arena *arena)
{
    assert(function->first && function->first->id < function->block_count);
    IrGraph *graph = ARENA_NEW(arena, IrGraph);
    graph->function = function;
    find_order(graph, arena);
    number_tree(graph, arena);
    find_loops(graph, arena);
    return graph;
}

/* --- blocks in order ------------------------------------------------------------------------------------------------------ */

void ir_sort_blocks(IrFunc *function, Arena *arena)
{
    const IrGraph *graph = ir_graph(function, arena);
    for (uint32_t i = 0; i < graph->count; i++)
        graph->order[i]->next = i + 1 < graph->count ? graph->order[i + 1] : NULL;
    function->last = graph->order[graph->count - 1];
    ir_link_blocks(function);
}
