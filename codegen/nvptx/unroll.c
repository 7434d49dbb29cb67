/* Which loops to write out in full: those whose index picks elements of a small array of the thread, or items of a tuple.
 * Such an array can be in registers only when every index is known while compiling; LLVM's own threshold looks at the
 * loop's size alone, which keeps accumulators of matrix products in memory. */
#include "codegen/passes.h"

#include <assert.h>
#include "core/ir/ir_graph.h"

enum {
    MOST_TRIPS = 128, /* of one loop */
    MOST_BYTES = 1024, /* of an array: a thread has 255 registers of 4 bytes */
    MOST_VALUES = 8192, /* of a function's loops when they are written out */
};

/* All by place in graph->loops. */
typedef struct Unroll {
    const IrGraph *graph;
    Arena *arena;
    const IrValue **counters; /* the phi that counts the loop's trips; NULL: their number is not known or too large */
    int64_t *trips;
    bool *is_chosen;
} Unroll;

/* --- counted loops ------------------------------------------------------------------------------------------------ */

/* Whether the value is an integer known now: a constant, or an extent of an array whose shape is. */
static bool is_number(const IrValue *value, int64_t *number)
{
    if (value->op == IR_CONST && type_is_integer(value->type))
        return *number = value->integer, true;
    if (value->op != IR_EXTENT)
        return false;
    const IrValue *array = value->operands[0];
    if (array->op == IR_SUBARRAY)
        return is_number(array->operands[1 + array->operands[0]->type->ndim + value->index], number);
    *number = array->op == IR_LOCAL ? array->storage->shape[value->index] : 0;
    return array->op == IR_LOCAL;
}

static int64_t count_trips(int64_t start, int64_t end, int64_t step)
{
    int64_t distance;
    if (step <= 0 || __builtin_sub_overflow(end, start, &distance) || distance <= 0 || distance > MOST_TRIPS * step)
        return 0;
    assert(step > 0 && distance > 0);
    return (distance + step - 1) / step;
}

/* From a number by a number up to a number; 0: it does not. */
static int64_t trips_of(const IrInduction *counts)
{
    int64_t start, end, step;
    if (counts->comparison != IR_LT || counts->exit != 1 || !is_number(counts->start, &start) ||
        !is_number(counts->bound, &end) || !is_number(counts->step, &step) || step > MOST_VALUES)
        return 0;
    return count_trips(start, end, step);
}

static void find_counters(Unroll *unroll)
{
    IrInduction counts;
    for (uint32_t i = 0; i < unroll->graph->loop_count; i++)
        if (ir_induction(unroll->graph, &unroll->graph->loops[i], &counts)) {
            unroll->trips[i] = trips_of(&counts);
            unroll->counters[i] = unroll->trips[i] ? counts.variable : NULL;
        }
}

/* --- indices ------------------------------------------------------------------------------------------------------ */

static bool is_arithmetic(const IrValue *value)
{
    return ir_op_info[value->op].flags & IR_FLAG_PURE && value->operand_count > 0 && type_is_scalar(value->type) &&
           value->op != IR_INTRINSIC && value->op != IR_CALL;
}

/* Marks the loop whose trips the phi counts. */
static bool counts_trips(const Unroll *unroll, const IrValue *phi, bool *loops)
{
    const IrLoop *loop = unroll->graph->loop_of[phi->block->id];
    if (!loop || unroll->counters[loop - unroll->graph->loops] != phi)
        return false;
    return loops[loop - unroll->graph->loops] = true;
}

/* Whether unrolling makes a constant of an index; marks the loops for it in `loops`, by their place. */
static bool becomes_constant(const Unroll *unroll, const IrValue *index, bool *loops, int depth)
{
    switch (index->op) {
    case IR_CONST: return true;
    case IR_PHI: return counts_trips(unroll, index, loops);
    case IR_EXTENT:
    case IR_STRIDE: return ir_memory_of(index->operands[0])->op == IR_LOCAL;
    default: break;
    }
    bool constant = depth > 0 && is_arithmetic(index);
    for (uint32_t i = 0; constant && i < index->operand_count; i++)
        constant = becomes_constant(unroll, index->operands[i], loops, depth - 1);
    return constant;
}

/* What is done to the array at hand is known when its indices are; false: it must have an address. */
static bool is_plain_use(const Unroll *unroll, const IrValue *use, uint32_t operand, bool *loops)
{
    enum { DEEPEST = 8 };
    if (use->op == IR_CALL || use->op == IR_EXTENT || use->op == IR_STRIDE)
        return true;
    if (operand != 0 || (use->op != IR_LOAD && use->op != IR_STORE && use->op != IR_SUBARRAY))
        return false;
    uint32_t last = use->op == IR_STORE ? use->operand_count - 1 : use->operand_count;
    for (uint32_t i = 1; i < last; i++)
        if (!becomes_constant(unroll, use->operands[i], loops, DEEPEST))
            return false;
    return true;
}

static void choose(const Unroll *unroll, const bool *loops)
{
    for (uint32_t i = 0; i < unroll->graph->loop_count; i++)
        unroll->is_chosen[i] |= loops[i];
}

static bool is_small(const IrValue *local)
{
    int64_t bytes = local->type->element->size;
    for (int i = 0; i < local->type->ndim && bytes <= MOST_BYTES; i++)
        bytes *= local->storage->shape[i];
    return bytes <= MOST_BYTES;
}

/* Chooses the loops by which all indices of one array of the thread become constants, if all do. */
static void choose_for_array(Unroll *unroll, const IrValue *local)
{
    bool *loops = ARENA_ARRAY(unroll->arena, bool, unroll->graph->loop_count);
    for (const IrBlock *block = unroll->graph->function->first; block; block = block->next)
        for (const IrValue *use = block->first; use; use = use->next)
            for (uint32_t i = 0; i < use->operand_count; i++) {
                const IrValue *operand = use->operands[i];
                if (operand && operand->type->kind == TYPE_ARRAY && ir_memory_of(operand) == local &&
                    !is_plain_use(unroll, use, i, loops))
                    return;
            }
    choose(unroll, loops);
}

static void choose_for_pick(Unroll *unroll, const IrValue *pick)
{
    bool *loops = ARENA_ARRAY(unroll->arena, bool, unroll->graph->loop_count);
    if (becomes_constant(unroll, pick->operands[1], loops, 2))
        choose(unroll, loops);
}

/* --- size --------------------------------------------------------------------------------------------------------- */

/* By IrBlock.id: how often the block is there when the chosen loops are written out. */
static const int64_t *count_copies(const Unroll *unroll)
{
    uint32_t count = unroll->graph->function->block_count;
    int64_t *copies = ARENA_ARRAY(unroll->arena, int64_t, count);
    for (uint32_t id = 0; id < count; id++)
        copies[id] = 1;
    for (uint32_t i = 0; i < unroll->graph->loop_count; i++) {
        const IrLoop *loop = &unroll->graph->loops[i];
        for (uint32_t k = 1; unroll->is_chosen[i] && k < loop->block_count; k++)
            if (copies[loop->blocks[k]->id] <= MOST_VALUES)
                copies[loop->blocks[k]->id] *= unroll->trips[i];
        assert(copies[unroll->graph->order[0]->id] == 1); /* the entry is in no loop */
    }
    return copies;
}

static bool is_affordable(const Unroll *unroll)
{
    const int64_t *copies = count_copies(unroll);
    int64_t total = 0;
    for (uint32_t i = 0; i < unroll->graph->count; i++) {
        const IrBlock *block = unroll->graph->order[i];
        for (const IrValue *value = block->first; value && copies[block->id] > 1; value = value->next)
            total += copies[block->id];
    }
    return total <= MOST_VALUES;
}

static void mark_in_function(const IrFunc *function, Arena *arena)
{
    const IrGraph *graph = ir_graph(function, arena);
    uint32_t count = graph->loop_count;
    Unroll unroll = {.graph = graph,
                     .arena = arena,
                     .counters = ARENA_ARRAY(arena, const IrValue *, count),
                     .trips = ARENA_ARRAY(arena, int64_t, count),
                     .is_chosen = ARENA_ARRAY(arena, bool, count)};
    find_counters(&unroll);
    for (uint32_t i = 0; i < graph->count && count; i++)
        for (const IrValue *value = graph->order[i]->first; value; value = value->next)
            if (value->op == IR_LOCAL && is_small(value))
                choose_for_array(&unroll, value);
            else if (value->op == IR_PICK)
                choose_for_pick(&unroll, value);
    if (!is_affordable(&unroll))
        return;
    for (uint32_t i = 0; i < count; i++)
        if (unroll.is_chosen[i])
            graph->loops[i].header->loop = IR_LOOP_UNROLL;
}

void mark_unrolled_loops(IrModule *module)
{
    Arena *arena = arena_create();
    for (const IrFunc *function = module->first; function; function = function->next)
        mark_in_function(function, arena);
    arena_destroy(arena);
}
