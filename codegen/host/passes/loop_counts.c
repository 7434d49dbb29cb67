/* Takes what a loop counts by, and what its test compares with, out of the loop where both are the same in each trip, as in
 *
 *     while i < x.size:
 *         ...
 *         i += cuda.gridsize(1)
 *
 * so that the passes behind this one find a loop that counts as they do where it is written by range(). */
#include "codegen/host/regions/front_values.h"
#include "codegen/passes.h"
#include "core/ir/ir_graph.h"

typedef struct Moved {
    const IrGraph *graph;
    const IrLoop *loop;
    IrBlock *before; /* the one block from which the loop is entered */
    IrValue **made; /* by IrValue.id: in its place, outside */
    bool any;
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

/* A copy of the invariant value in front of the block's end. */
static IrValue *outside(Moved *moved, IrValue *value)
{
    if (!ir_loop_has(moved->graph, moved->loop, value->block))
        return value;
    if (moved->made[value->id])
        return moved->made[value->id];
    IrValue *operands[4];
    for (uint32_t i = 0; i < value->operand_count; i++)
        operands[i] = outside(moved, value->operands[i]);
    IrValue *end = take_end(moved->before);
    IrValue *made = ir_copy_value(moved->before, value, operands);
    put_end(moved->before, end);
    moved->any = true;
    return moved->made[value->id] = made;
}

/* Few operations with few operands each. */
static bool is_short(const Moved *moved, const IrValue *value, int *left)
{
    if (!ir_loop_has(moved->graph, moved->loop, value->block))
        return true;
    if (ir_is_routine(value) || value->operand_count > 4 || --*left < 0)
        return false;
    for (uint32_t i = 0; i < value->operand_count; i++)
        if (!is_short(moved, value->operands[i], left))
            return false;
    return true;
}

static void replace(const Moved *moved, uint32_t count)
{
    for (uint32_t k = 0; k < moved->loop->block_count; k++)
        for (IrValue *value = moved->loop->blocks[k]->first; value; value = value->next)
            for (uint32_t i = 0; i < value->operand_count; i++)
                if (value->operands[i]->id < count && moved->made[value->operands[i]->id])
                    value->operands[i] = moved->made[value->operands[i]->id];
}

static void move_counts(IrFunc *function, const IrGraph *graph, const IrLoop *loop, Arena *arena)
{
    enum { MOST_OPERATIONS = 16 };
    IrInduction found;
    uint32_t count = function->value_count;
    Moved moved = {.graph = graph, .loop = loop, .before = entry_of(graph, loop)};
    int left = MOST_OPERATIONS;
    if (!moved.before || !ir_induction(graph, loop, &found) || !is_short(&moved, found.step, &left) ||
        !is_short(&moved, found.bound, &left))
        return;
    moved.made = ARENA_ARRAY(arena, IrValue *, count + 1);
    outside(&moved, (IrValue *)found.step);
    outside(&moved, (IrValue *)found.bound);
    if (moved.any)
        replace(&moved, count);
}

void take_counts_out(IrModule *module)
{
    for (IrFunc *function = module->first; function; function = function->next) {
        if (function->lacks_body)
            continue;
        Arena *arena = arena_create();
        const IrGraph *graph = ir_graph(function, arena);
        for (uint32_t i = 0; i < graph->loop_count; i++)
            move_counts(function, graph, &graph->loops[i], arena);
        prune(function, false);
        ir_renumber(function);
        arena_destroy(arena);
    }
}
