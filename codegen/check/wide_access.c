/* A GPU's thread accesses up to 16 bytes by one instruction, where they lie at a multiple of their size. A complex number, the
 * fields of a record, elements 4 * i to 4 * i + 3 of an array are next to each other; where the array begins, its type does
 * not say. Here it is only said whether the question is worth its test at each launch: LLVM then joins what is at constant
 * offsets, and nothing else. */
#include "codegen/check/wide_access.h"

enum { DEEPEST = 4 };

/* --- indices that go by several elements at a time -------------------------------------------------------------------- */

static const IrValue *plain(const IrValue *index)
{
    while (index->op == IR_CONVERT || index->op == IR_WRAP)
        index = index->operands[0];
    return index;
}

static bool is_multiple_of(const IrValue *index, uint32_t depth)
{
    index = plain(index);
    switch (index->op) {
    case IR_MUL:
        for (int i = 0; i < 2; i++)
            if (index->operands[i]->op == IR_CONST && index->operands[i]->integer % 2 == 0)
                return true;
        return false;
    case IR_SHL: return index->operands[1]->op == IR_CONST && index->operands[1]->integer > 0;
    case IR_ADD:
        return depth && is_multiple_of(index->operands[0], depth - 1) && is_multiple_of(index->operands[1], depth - 1);
    default: return false;
    }
}

/* Whether a loop counts it by ones. */
static bool is_counted(const IrValue *phi)
{
    for (uint32_t i = 0; phi->op == IR_PHI && i < phi->operand_count; i++) {
        const IrValue *next = plain(phi->operands[i]);
        for (int k = 0; next->op == IR_ADD && k < 2; k++)
            if (plain(next->operands[k]) == phi && next->operands[!k]->op == IR_CONST &&
                next->operands[!k]->integer == 1)
                return true;
    }
    return false;
}

/* A multiple of a constant plus another one, or plus what a loop counts. */
static bool goes_by_several(const IrValue *index, bool *by_loop)
{
    index = plain(index);
    *by_loop = false;
    if (is_multiple_of(index, DEEPEST))
        return true;
    if (index->op != IR_ADD && index->op != IR_OR)
        return false;
    for (int i = 0; i < 2; i++) {
        const IrValue *other = plain(index->operands[!i]);
        if (!is_multiple_of(index->operands[i], DEEPEST) || (other->op != IR_CONST && !is_counted(other)))
            continue;
        *by_loop = other->op != IR_CONST;
        return true;
    }
    return false;
}

/* --- accesses ----------------------------------------------------------------------------------------------------------- */

enum { COMES_ALONE = 1, COMES_TOGETHER = 2 }; /* parts of an access that is wide with another one, or by itself */

/* How much an access says for its array. */
static int weight_of(const IrValue *access, const IrValue *array)
{
    const Type *element = array->type->element, *part = access->operands[0]->type->element;
    bool by_loop;
    if (array->type->layout == LAYOUT_ANY || part->size >= WIDE_ACCESS_BYTES)
        return part->kind == TYPE_COMPLEX && array->type->layout != LAYOUT_ANY ? COMES_TOGETHER : 0;
    if (part->kind == TYPE_COMPLEX)
        return COMES_TOGETHER;
    if (element->kind == TYPE_RECORD)
        return element->size % (2 * part->size) == 0 ? COMES_ALONE : 0;
    if (array != access->operands[0] || array->type->ndim != 1 || !goes_by_several(access->operands[1], &by_loop))
        return 0;
    return by_loop ? COMES_TOGETHER : COMES_ALONE;
}

static void count_access(const IrFunc *kernel, const IrFunc *function, const IrValue *access, int *weights)
{
    const IrValue *array = ir_memory_of(access->operands[0]); /* elements of a record's array are parts of it */
    if (array->op != IR_PARAM)
        return;
    for (uint32_t i = 0; i < kernel->parameter_count && i < WIDE_ACCESS_MOST;
         i++) /* which array a function was given is left open */
        if (function == kernel ? array->index == i : type_equal(kernel->parameter_types[i], array->type))
            weights[i] += weight_of(access, array);
}

uint64_t parameters_with_wide_access(const IrModule *module)
{
    int weights[WIDE_ACCESS_MOST] = {0};
    uint64_t found = 0;
    for (const IrFunc *function = module->first; function; function = function->next)
        for (const IrBlock *block = function->first; block; block = block->next)
            for (const IrValue *value = block->first; value; value = value->next)
                if ((value->op == IR_LOAD || value->op == IR_STORE) && !value->hint)
                    count_access(module->first, function, value, weights);
    for (uint32_t i = 0; i < WIDE_ACCESS_MOST; i++)
        if (weights[i] >= COMES_TOGETHER)
            found |= (uint64_t)1 << i;
    return found;
}
