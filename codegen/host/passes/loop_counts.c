/* Takes what a loop counts by, and what its test compares with, out of the loop where both are the same in each trip, as in
 *
 *     while i < x.size:
 *         ...
 *         i += cuda.gridsize(1)
 *
 * so that the passes behind this one find a loop that counts as they do where it is written by range(). */
#include <assert.h>

#include "codegen/host/regions/front_values.h"
#include "codegen/passes.h"
#include "core/ir/ir_graph.h"

enum { MOST_OPERATIONS = 16, MOST_OPERANDS = 4 };

typedef struct Moved {
    const IrGraph *graph;
    const IrLoop *loop;
    IrBlock *before; /* the one block from which the loop is entered */
    const IrValue *values[2 * MOST_OPERATIONS]; /* of the loop, few */
    IrValue *made[2 * MOST_OPERATIONS]; /* what stands for them outside */
    uint32_t count;
} Moved;

/* The block from which alone the loop is entered; NULL: there are several. */
static IrBlock *entry_of(const IrGraph *graph, const IrLoop *loop)
{
    IrBlock *found = NULL;
    for (uint32_t i = 0; i < loop->header->predecessor_count; i++) {
        IrBlock *from = loop->header->predecessors[i];
        if (ir_loop_has(graph, loop, from))
            continue;
        if (found)
            return NULL;
        found = from;
    }
    return found;
}

static IrValue *made_of(const Moved *moved, const IrValue *value)
{
    for (uint32_t i = 0; i < moved->count; i++)
        if (moved->values[i] == value)
            return moved->made[i];
    return NULL;
}

/* A copy of the invariant value in front of the block's end. */
static IrValue *outside(Moved *moved, IrValue *value)
{
    if (!ir_loop_has(moved->graph, moved->loop, value->block))
        return value;
    IrValue *found = made_of(moved, value), *operands[MOST_OPERANDS];
    if (found)
        return found;
    for (uint32_t i = 0; i < value->operand_count; i++)
        operands[i] = outside(moved, value->operands[i]);
    IrValue *end = take_end(moved->before);
    IrValue *made = ir_copy_value(moved->before, value, operands);
    put_end(moved->before, end);
    assert(moved->count < 2 * MOST_OPERATIONS);
    moved->values[moved->count] = value;
    return moved->made[moved->count++] = made;
}

/* Few operations with few operands each. */
static bool is_short(const Moved *moved, const IrValue *value, int *left)
{
    if (!ir_loop_has(moved->graph, moved->loop, value->block))
        return true;
    if (ir_is_routine(value) || value->operand_count > MOST_OPERANDS || --*left < 0)
        return false;
    for (uint32_t i = 0; i < value->operand_count; i++)
        if (!is_short(moved, value->operands[i], left))
            return false;
    return true;
}

static void replace(const Moved *moved)
{
    for (uint32_t k = 0; k < moved->loop->block_count; k++)
        for (IrValue *value = moved->loop->blocks[k]->first; value; value = value->next)
            for (uint32_t i = 0; i < value->operand_count; i++) {
                IrValue *made = made_of(moved, value->operands[i]);
                value->operands[i] = made ? made : value->operands[i];
            }
}

static void move_counts(const IrGraph *graph, const IrLoop *loop)
{
    IrInduction found;
    Moved moved = {.graph = graph, .loop = loop, .before = entry_of(graph, loop)};
    int left = MOST_OPERATIONS;
    if (!moved.before || !ir_induction(graph, loop, &found) || !is_short(&moved, found.step, &left) ||
        !is_short(&moved, found.bound, &left))
        return;
    outside(&moved, (IrValue *)found.step);
    outside(&moved, (IrValue *)found.bound);
    if (moved.count)
        replace(&moved);
}

void take_counts_out(IrModule *module)
{
    for (IrFunc *function = module->first; function; function = function->next) {
        if (function->lacks_body)
            continue;
        Arena *arena = arena_create();
        const IrGraph *graph = ir_graph(function, arena);
        for (uint32_t i = 0; i < graph->loop_count; i++)
            move_counts(graph, &graph->loops[i]);
        prune(function, false);
        ir_renumber(function);
        arena_destroy(arena);
    }
}
