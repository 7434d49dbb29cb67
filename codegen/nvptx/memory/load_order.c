/* Loads before operations that take long. ptxas makes branches of a division, a square root or a sine (the rare cases have
 * code of their own) and moves no load across them: a load that stands behind one, as Python's order of evaluation has it,
 * begins when the operation has ended. LLVM leaves the order as it is. */
#include "codegen/nvptx/memory/load_order.h"

#include <assert.h>

#include "codegen/passes.h"
#include "core/ir/ir_graph.h"

enum {
    MOST_LOADS = 8, /* that come before one operation: each has its registers until it is used */
    MOST_STEPS = 24, /* of an address */
};

/* Values between two that write memory. Those behind the first slow one wait in `late`, while others come before them. */
typedef struct Region {
    const LoadOrder *order;
    const IrBlock *block;
    bool *is_late; /* by IrValue.id */
    IrValue **out, **late;
    uint32_t out_count, late_count, loads;
} Region;

/* --- operations ----------------------------------------------------------------------------------------------------- */
static bool acts_by_itself(const IrValue *value)
{
    switch (value->op) {
    case IR_CALL: return value->callee->is_recursive || (value->callee->assembly && !value->callee->assembly_is_pure);
    case IR_JUMP:
    case IR_BRANCH:
    case IR_RETURN: return false;
    default: return ir_has_effect(value);
    }
}

bool load_order_acts(const LoadOrder *order, const IrValue *value)
{
    return acts_by_itself(value) || (value->op == IR_CALL && order->acts[ir_place_of(order->module, value->callee)]);
}

LoadOrder load_order_of_module(const IrModule *module, Arena *arena)
{
    LoadOrder order = {.module = module, .acts = ARENA_ARRAY(arena, bool, module->function_count + 1u)};
    ir_functions_with(module, acts_by_itself, order.acts);
    order.acts[module->function_count] = true; /* of a function that is not there */
    return order;
}

/* --- moving --------------------------------------------------------------------------------------------------------- */
static bool is_waiting(const Region *region, const IrValue *value)
{
    return value->block == region->block && region->is_late[value->id];
}

/* Whether a value of `late` can be computed before the others there. */
static bool can_come(const Region *region, const IrValue *value, int *steps)
{
    if (!is_waiting(region, value))
        return true;
    if (!ir_is_repeatable(value) || ir_is_routine(value) || --*steps < 0)
        return false;
    for (uint32_t i = 0; i < value->operand_count; i++)
        if (!can_come(region, value->operands[i], steps))
            return false;
    return true;
}

static void come(Region *region, IrValue *value)
{
    if (!is_waiting(region, value))
        return;
    region->is_late[value->id] = false;
    for (uint32_t i = 0; i < value->operand_count; i++)
        come(region, value->operands[i]);
    region->out[region->out_count++] = value;
}

/* cuda.ldcv asks for what is in memory now. */
static bool moves(const Region *region, const IrValue *load)
{
    int steps = MOST_STEPS;
    if (load->op != IR_LOAD || load->hint == IR_HINT_CV || !region->late_count || region->loads == MOST_LOADS)
        return false;
    for (uint32_t i = 0; i < load->operand_count; i++)
        if (!can_come(region, load->operands[i], &steps))
            return false;
    return true;
}

static void end_region(Region *region)
{
    for (uint32_t i = 0; i < region->late_count; i++) {
        IrValue *value = region->late[i];
        if (is_waiting(region, value))
            region->out[region->out_count++] = value;
        region->is_late[value->id] = false;
    }
    region->late_count = region->loads = 0;
}

static void come_with_operands(Region *region, IrValue *load)
{
    for (uint32_t i = 0; i < load->operand_count; i++)
        come(region, load->operands[i]);
    region->out[region->out_count++] = load;
    region->loads++;
}

static void take(Region *region, IrValue *value)
{
    bool is_end = ir_op_info[value->op].flags & IR_FLAG_TERMINATOR || load_order_acts(region->order, value);
    if (is_end)
        end_region(region);
    if (moves(region, value)) {
        come_with_operands(region, value);
    } else if (!is_end && (region->late_count || ir_is_routine(value))) {
        region->is_late[value->id] = true;
        region->late[region->late_count++] = value;
    } else {
        region->out[region->out_count++] = value;
    }
}

static void reorder_block(const LoadOrder *order, IrBlock *block, bool *is_late, Arena *arena)
{
    uint32_t count = 0;
    for (const IrValue *value = block->first; value; value = value->next)
        count++;
    Region region = {.order = order,
                     .block = block,
                     .is_late = is_late,
                     .out = ARENA_ARRAY(arena, IrValue *, count + 1),
                     .late = ARENA_ARRAY(arena, IrValue *, count + 1)};
    for (IrValue *value = block->first; value; value = value->next)
        take(&region, value);
    assert(region.out_count == count && !region.late_count); /* the same values, the terminator last */
    assert(region.out[count - 1] == block->last);
    for (uint32_t i = 0; i < region.out_count; i++)
        region.out[i]->next = region.out[i + 1];
    block->first = region.out[0];
}

void put_loads_first(IrModule *module)
{
    Arena *arena = arena_create();
    LoadOrder order = load_order_of_module(module, arena);
    for (const IrFunc *function = module->first; function; function = function->next) {
        bool *is_late = ARENA_ARRAY(arena, bool, function->value_count + 1);
        for (IrBlock *block = function->first; block; block = block->next)
            reorder_block(&order, block, is_late, arena);
    }
    arena_destroy(arena);
}
