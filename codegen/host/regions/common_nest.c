/* Loops that the threads of a block have in common (common_loop.c), one inside of the other,
 *
 *     for y in range(threadIdx.y, 20, 16):      for y in range(0, 20, 16):
 *         for x in range(threadIdx.x, 36, 32):      if threadIdx.y < 20 - y:
 *             tile[y, x] = ...                          for x in range(0, 36, 32):
 *                                                           if threadIdx.x < 36 - x: ...
 *
 * by which a block fills a tile and its border. All threads run the outer one together, but only those that have its trip the
 * inner one. Both tests are asked in the inner one instead, so that threads run that together, too, and both bound a loop over
 * threads: what a trip does for a few threads is a short loop then, where it was a mask for all of them. */
#include "codegen/host/regions/common_nest.h"

#include "codegen/host/regions/trip_test.h"

typedef struct Nest {
    IrBlock *outer_ask, *ask; /* of the outer loop, and of the inner one */
    IrBlock *last; /* of the way from the one to the other loop's header */
} Nest;

/* --- whether ------------------------------------------------------------------------------------------------------------ */

/* Whether nothing happens from the block on until threads come to where those are that have no trip. */
static bool leads_to(const IrBlock *block, const IrBlock *end)
{
    while (block != end && block->first->op == IR_JUMP)
        block = block->first->targets[0];
    return block == end && end->first->op != IR_PHI;
}

static bool is_on_way(const Nest *nest, const IrBlock *block)
{
    const IrBlock *way = nest->last;
    while (way != block && way != nest->outer_ask)
        way = way->predecessors[0];
    return way == block && way != nest->outer_ask;
}

/* One way, on which nothing is done but what threads may do again in each trip. */
static bool find_way(const IrLoop *loop, Nest *nest)
{
    const IrBlock *header = loop->header;
    TripTest test;
    if (header->predecessor_count != 2 || loop->latch_count != 1)
        return false;
    nest->last = header->predecessors[header->predecessors[0] == loop->latches[0]];
    IrBlock *block = nest->last;
    for (; block->last->op == IR_JUMP && block->predecessor_count == 1; block = block->predecessors[0])
        for (const IrValue *value = block->first; value != block->last; value = value->next)
            if (!ir_is_repeatable(value) || ir_is_routine(value))
                return false;
    nest->outer_ask = block;
    return block != nest->last && block->last->op == IR_BRANCH && !block->last->hint &&
           read_trip_test(block->last->operands[0], &test) && is_on_way(nest, block->last->targets[0]) &&
           leads_to(header->last->targets[1], block->last->targets[1]);
}

/* Whether what is made on the way is used by threads only that have the trip of the inner loop, numbers aside. */
static bool can_move(const IrGraph *graph, const Nest *nest)
{
    for (uint32_t i = 0; i < graph->count; i++) {
        const IrBlock *block = graph->order[i];
        bool has_trip = is_on_way(nest, block) || ir_dominates(graph, nest->ask->last->targets[0], block);
        for (const IrValue *use = block->first; use && !has_trip; use = use->next)
            for (uint32_t k = 0; k < use->operand_count; k++)
                if (use->operands[k]->op != IR_CONST && is_on_way(nest, use->operands[k]->block))
                    return false;
    }
    return true;
}

static bool is_nest(const IrGraph *graph, const IrLoop *loop, Nest *nest)
{
    nest->ask = asks_for_trip(loop);
    return nest->ask && nest->ask->last->targets[0]->predecessor_count == 1 &&
           nest->ask->last->targets[1]->first->op != IR_PHI && find_way(loop, nest) && can_move(graph, nest);
}

/* --- doing it ----------------------------------------------------------------------------------------------------------- */

/* All but numbers and the block's end. */
static void move_values(IrBlock *from, IrBlock *to)
{
    IrValue *end = from->last, *next;
    IrValue **kept = &from->first;
    for (IrValue *value = from->first; value != end; value = next) {
        next = value->next;
        if (value->op == IR_CONST) {
            kept = &value->next;
            continue;
        }
        *kept = next;
        value->block = to;
        value->next = NULL;
        *(to->last ? &to->last->next : &to->first) = value;
        to->last = value;
    }
}

/* In the order in which they are made. */
static void move_way(const Nest *nest, IrBlock *to)
{
    const IrValue *outer = nest->outer_ask->last;
    for (IrBlock *block = outer->targets[0];; block = block->last->targets[0]) {
        move_values(block, to);
        if (block == nest->last)
            return;
    }
}

static void ask_inside(const Nest *nest)
{
    IrFunc *function = nest->ask->function;
    IrValue *outer = nest->outer_ask->last, *inner = nest->ask->last;
    IrBlock *ask = ir_block(function), *body = ir_block(function);
    ir_branch(ask, outer->operands[0], body, inner->targets[1], &outer->pos);
    move_way(nest, body);
    ir_jump(body, inner->targets[0], &inner->pos);
    inner->targets[0] = ask;
    outer->op = IR_JUMP;
    outer->operand_count = 0;
    outer->targets[1] = NULL;
    ir_link_blocks(function);
    ir_renumber(function);
}

static bool join_one_nest(IrFunc *kernel)
{
    Arena *arena = arena_create();
    const IrGraph *graph = ir_graph(kernel, arena);
    Nest nest;
    bool is_found = false;
    for (uint32_t i = 0; i < graph->loop_count && !is_found; i++)
        is_found = is_nest(graph, &graph->loops[i], &nest);
    if (is_found)
        ask_inside(&nest);
    arena_destroy(arena);
    return is_found;
}

void join_common_nests(IrFunc *kernel)
{
    while (join_one_nest(kernel))
        ;
}
