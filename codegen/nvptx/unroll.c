/* Which loops to write out in full: those whose index picks elements of a small array of the thread, or items of a tuple.
 * Such an array can be in registers only when every index is known while compiling; LLVM's own threshold looks at the
 * loop's size alone, which keeps accumulators of matrix products in memory. */
#include "codegen/passes.h"

enum {
    MOST_TRIPS = 128, /* of one loop */
    MOST_BYTES = 1024, /* of an array: a thread has 255 registers of 4 bytes */
    MOST_VALUES = 8192, /* of a function's loops when they are written out */
};

typedef struct Unroll {
    const IrFunc *function;
    Arena *arena;
    const IrValue **counters; /* by IrBlock.id: the phi of a counted loop's header, else NULL */
    int64_t *trips; /* by IrBlock.id of the header */
    bool *is_chosen; /* by IrBlock.id of the header */
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
    return (distance + step - 1) / step;
}

/* The header compares a phi that goes from a constant by a constant step with a constant end. */
static int64_t trips_of(const IrBlock *header, const IrValue *phi)
{
    const IrValue *branch = header->last, *next = NULL;
    int64_t start = 0, end, step;
    if (branch->op != IR_BRANCH || branch->operands[0]->op != IR_LT || branch->operands[0]->operands[0] != phi ||
        !is_number(branch->operands[0]->operands[1], &end) || phi->operand_count != 2)
        return 0;
    for (int i = 0; i < 2; i++)
        if (!is_number(phi->operands[i], &start))
            next = phi->operands[i];
    if (!next || next->op != IR_ADD)
        return 0;
    const IrValue *by = next->operands[0] == phi ? next->operands[1] : next->operands[0];
    if ((next->operands[0] != phi && next->operands[1] != phi) || !is_number(by, &step) || step > MOST_VALUES)
        return 0;
    return count_trips(start, end, step);
}

static void find_counters(Unroll *unroll)
{
    for (const IrBlock *block = unroll->function->first; block; block = block->next)
        for (const IrValue *phi = block->first; phi && phi->op == IR_PHI; phi = phi->next) {
            int64_t trips = type_is_integer(phi->type) ? trips_of(block, phi) : 0;
            if (trips) {
                unroll->counters[block->id] = phi;
                unroll->trips[block->id] = trips;
            }
        }
}

/* --- indices ------------------------------------------------------------------------------------------------------ */

static bool is_arithmetic(const IrValue *value)
{
    return ir_op_info[value->op].flags & IR_FLAG_PURE && value->operand_count > 0 && type_is_scalar(value->type) &&
           value->op != IR_INTRINSIC && value->op != IR_CALL;
}

/* Whether unrolling makes a constant of an index; marks the loops for it in `loops`, by IrBlock.id. */
static bool becomes_constant(const Unroll *unroll, const IrValue *index, bool *loops, int depth)
{
    switch (index->op) {
    case IR_CONST: return true;
    case IR_PHI: loops[index->block->id] = true; return unroll->counters[index->block->id] == index;
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

static void merge(const Unroll *unroll, bool *into, const bool *from)
{
    for (uint32_t id = 0; id <= unroll->function->block_count; id++)
        into[id] |= from[id] && unroll->counters[id];
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
    bool *loops = ARENA_ARRAY(unroll->arena, bool, unroll->function->block_count + 1);
    for (const IrBlock *block = unroll->function->first; block; block = block->next)
        for (const IrValue *use = block->first; use; use = use->next)
            for (uint32_t i = 0; i < use->operand_count; i++) {
                const IrValue *operand = use->operands[i];
                if (operand && operand->type->kind == TYPE_ARRAY && ir_memory_of(operand) == local &&
                    !is_plain_use(unroll, use, i, loops))
                    return;
            }
    merge(unroll, unroll->is_chosen, loops);
}

static void choose_for_pick(Unroll *unroll, const IrValue *pick)
{
    bool *loops = ARENA_ARRAY(unroll->arena, bool, unroll->function->block_count + 1);
    if (becomes_constant(unroll, pick->operands[1], loops, 2))
        merge(unroll, unroll->is_chosen, loops);
}

/* --- size --------------------------------------------------------------------------------------------------------- */

static void multiply_inside(const Unroll *unroll, const IrBlock *header, int64_t *copies)
{
    uint32_t count = 0;
    bool *seen = ARENA_ARRAY(unroll->arena, bool, unroll->function->block_count + 1);
    const IrBlock **stack = ARENA_ARRAY(unroll->arena, const IrBlock *, unroll->function->block_count + 1);
    seen[header->id] = seen[header->last->targets[1]->id] = true;
    stack[count++] = header->last->targets[0];
    while (count) {
        const IrBlock *block = stack[--count];
        IrBlock *targets[2];
        if (seen[block->id])
            continue;
        seen[block->id] = true;
        if (copies[block->id] <= MOST_VALUES)
            copies[block->id] *= unroll->trips[header->id];
        int target_count = ir_successors(block, targets);
        for (int i = 0; i < target_count; i++)
            if (!seen[targets[i]->id])
                stack[count++] = targets[i];
    }
}

static bool is_affordable(const Unroll *unroll)
{
    int64_t *copies = ARENA_ARRAY(unroll->arena, int64_t, unroll->function->block_count + 1), total = 0;
    for (uint32_t id = 0; id <= unroll->function->block_count; id++)
        copies[id] = 1;
    for (const IrBlock *block = unroll->function->first; block; block = block->next)
        if (unroll->is_chosen[block->id])
            multiply_inside(unroll, block, copies);
    for (const IrBlock *block = unroll->function->first; block; block = block->next)
        for (const IrValue *value = block->first; value && copies[block->id] > 1; value = value->next)
            total += copies[block->id];
    return total <= MOST_VALUES;
}

static void mark_in_function(IrFunc *function, Arena *arena)
{
    uint32_t count = function->block_count + 1;
    Unroll unroll = {.function = function,
                     .arena = arena,
                     .counters = ARENA_ARRAY(arena, const IrValue *, count),
                     .trips = ARENA_ARRAY(arena, int64_t, count),
                     .is_chosen = ARENA_ARRAY(arena, bool, count)};
    find_counters(&unroll);
    for (const IrBlock *block = function->first; block; block = block->next)
        for (const IrValue *value = block->first; value; value = value->next)
            if (value->op == IR_LOCAL && is_small(value))
                choose_for_array(&unroll, value);
            else if (value->op == IR_PICK)
                choose_for_pick(&unroll, value);
    if (!is_affordable(&unroll))
        return;
    for (IrBlock *block = function->first; block; block = block->next)
        if (unroll.is_chosen[block->id])
            block->loop = IR_LOOP_UNROLL;
}

void mark_unrolled_loops(IrModule *module)
{
    Arena *arena = arena_create();
    for (IrFunc *function = module->first; function; function = function->next)
        mark_in_function(function, arena);
    arena_destroy(arena);
}
