/* Marks atomics that may add to a worker's own copy of an array, so that the workers' processors do not wait for each other:
 * the copy is added to the array behind the blocks that the worker has run (private_copy.c). Exact, and nobody can tell:
 * sums of integers are the same in any order, the kernel uses no old value, touches the array in no other way and through no
 * other name (whether parameters overlap is asked at the launch), and nothing in it waits for another thread's sum. A thread
 * that raises ends; the copy is added behind it all the same. */
#include "codegen/passes.h"

/* --- what else may touch the array ---------------------------------------------------------------------------------------- */

/* A number, or an array of numbers that is all of its memory. */
static bool is_plain_parameter(const Type *type)
{
    if (type->kind != TYPE_ARRAY)
        return type_is_real(type) || type->kind == TYPE_BOOL || type->kind == TYPE_COMPLEX;
    bool has_numbers =
        type_is_real(type->element) || type->element->kind == TYPE_BOOL || type->element->kind == TYPE_COMPLEX;
    return has_numbers && type->ndim && type->layout != LAYOUT_ANY;
}

/* Code of others, and what other threads or the host look at while the kernel runs. */
static bool is_seen_outside(const IrValue *value)
{
    switch (value->op) {
    case IR_FOREIGN:
    case IR_WATCH:
    case IR_OBSERVE:
    case IR_TRAP: return true;
    case IR_INTRINSIC: return intrinsic_info[value->intrinsic].family == FAMILY_FENCE;
    default: return false;
    }
}

static bool may_mark(const IrModule *module)
{
    const IrFunc *kernel = module->first;
    if (!kernel->is_kernel)
        return false;
    for (uint32_t i = 0; i < kernel->parameter_count; i++)
        if (!is_plain_parameter(kernel->parameter_types[i]))
            return false;
    for (const IrFunc *function = module->first; function; function = function->next)
        for (const IrBlock *block = function->first; block; block = block->next)
            for (const IrValue *value = block->first; value; value = value->next)
                if (is_seen_outside(value))
                    return false;
    return true;
}

/* --- one array ------------------------------------------------------------------------------------------------------------ */

static IrAtomic kind_of(const IrValue *atomic)
{
    return atomic->atomic == IR_ATOMIC_SUB ? IR_ATOMIC_ADD : atomic->atomic;
}

/* Zero changes nothing, and the order nothing either. */
static bool is_sum(const IrValue *atomic)
{
    bool sums = kind_of(atomic) == IR_ATOMIC_ADD || atomic->atomic == IR_ATOMIC_OR || atomic->atomic == IR_ATOMIC_XOR;
    bool is_relaxed = atomic->order == IR_ORDER_RELAXED && atomic->scope != IR_SCOPE_SYSTEM;
    return sums && is_relaxed && type_is_integer(atomic->operands[0]->type->element);
}

typedef struct Uses {
    const IrValue *first; /* atomic on the array */
    bool has_others;
} Uses;

static void add_use(Uses *uses, const IrValue *value, uint32_t index)
{
    bool asks =
        value->op == IR_EXTENT || value->op == IR_STRIDE || (value->op == IR_ADDRESS && value->hint == IR_STAYS);
    bool sums = value->op == IR_ATOMIC && index == 0 && is_sum(value);
    if (sums && !uses->first)
        uses->first = value;
    uses->has_others |= !asks && !(sums && kind_of(value) == kind_of(uses->first));
}

/* Of each parameter; and of each atomic on one, whose old value must not be used. */
static void find_uses(const IrFunc *kernel, Uses *uses)
{
    for (const IrBlock *block = kernel->first; block; block = block->next)
        for (const IrValue *value = block->first; value; value = value->next)
            for (uint32_t i = 0; i < value->operand_count; i++) {
                const IrValue *operand = value->operands[i];
                if (operand->op == IR_PARAM)
                    add_use(&uses[operand->index], value, i);
                else if (operand->op == IR_ATOMIC && operand->operands[0]->op == IR_PARAM)
                    uses[operand->operands[0]->index].has_others = true;
            }
}

static void mark(IrFunc *kernel, uint32_t parameter)
{
    for (IrBlock *block = kernel->first; block; block = block->next)
        for (IrValue *value = block->first; value; value = value->next)
            if (value->op == IR_ATOMIC && value->operands[0] == kernel->parameters[parameter])
                value->hint = IR_PRIVATE;
}

/* The first array for which it is possible: a worker keeps one copy. */
void mark_private_atomics(IrModule *module)
{
    IrFunc *kernel = module->first;
    if (!may_mark(module))
        return;
    Arena *arena = arena_create();
    Uses *uses = ARENA_ARRAY(arena, Uses, kernel->parameter_count + 1);
    find_uses(kernel, uses);
    for (uint32_t i = 0; i < kernel->parameter_count; i++)
        if (uses[i].first && !uses[i].has_others) {
            mark(kernel, i);
            break;
        }
    arena_destroy(arena);
}
