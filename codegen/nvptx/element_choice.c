/* Elements of a thread's small arrays that the program chooses while it runs: the row of a pivot, say. Registers have no
 * index; but where the loops around are written out, an array can be in registers if all of its elements are looked at, and
 * one is taken:
 *
 *     %9: f32 = load m[%row, %k]      ->      %10: f32 = load m[0, %k]
 *                                             %12: bool = eq %row, 1
 *                                             %13: f32 = load m[1, %k]
 *                                             %14: f32 = select %12, %13, %10        and so on
 *
 * A store stores each of them again, one of them changed. LLVM leaves out those that the choice is never among. */
#include "codegen/nvptx/element_choice.h"

#include "codegen/check/rewrite.h"

/* The access to element `place` of the axis. */
static IrValue *element(Rewrite *rewrite, const IrValue *access, uint32_t axis, uint32_t place, IrValue *stored)
{
    IrValue *operands[1 + TYPE_MAX_NDIM + 1];
    const Type *array = access->operands[0]->type;
    for (uint32_t i = 0; i <= array->ndim; i++)
        operands[i] = access->operands[i];
    operands[1 + axis] = rewrite_int(rewrite, access->operands[1 + axis]->type, place);
    operands[1 + array->ndim] = stored;
    return stored ? rewrite_emit(rewrite, IR_STORE, &type_none, 2u + array->ndim, operands)
                  : rewrite_emit(rewrite, IR_LOAD, array->element, 1u + array->ndim, operands);
}

static IrValue *is_meant(Rewrite *rewrite, const IrValue *access, uint32_t axis, uint32_t place)
{
    IrValue *index = access->operands[1 + axis];
    IrValue *both[2] = {index, rewrite_int(rewrite, index->type, place)};
    return rewrite_emit(rewrite, IR_EQ, TYPE_OF(BOOL), 2, both);
}

static IrValue *select_one(Rewrite *rewrite, IrValue *condition, IrValue *yes, IrValue *no)
{
    IrValue *operands[3] = {condition, yes, no};
    return rewrite_emit(rewrite, IR_SELECT, yes->type, 3, operands);
}

/* The load becomes the choice of the last element, or of one before it. */
static void choose_loaded(Rewrite *rewrite, IrValue *load, ElementChoice choice)
{
    IrValue **operands = ARENA_ARRAY(rewrite->module->arena, IrValue *, 3);
    IrValue *before = element(rewrite, load, choice.axis, 0, NULL);
    for (uint32_t place = 1; place < choice.count; place++) {
        operands[0] = is_meant(rewrite, load, choice.axis, place);
        operands[1] = element(rewrite, load, choice.axis, place, NULL);
        operands[2] = before;
        if (place + 1 < choice.count)
            before = select_one(rewrite, operands[0], operands[1], before);
    }
    load->op = IR_SELECT;
    load->operand_count = 3;
    load->operands = operands;
}

static void store_chosen(Rewrite *rewrite, IrValue *store, ElementChoice choice)
{
    IrValue *value = store->operands[store->operand_count - 1];
    for (uint32_t place = 0; place < choice.count; place++) {
        IrValue *condition = is_meant(rewrite, store, choice.axis, place);
        IrValue *before = element(rewrite, store, choice.axis, place, NULL);
        element(rewrite, store, choice.axis, place, select_one(rewrite, condition, value, before));
    }
    rewrite_drop(rewrite, store);
}

static void visit(Rewrite *rewrite, IrValue *value, void *user)
{
    const ElementChoice *choices = user;
    if (!choices[value->id].count)
        return;
    if (value->op == IR_STORE)
        store_chosen(rewrite, value, choices[value->id]);
    else
        choose_loaded(rewrite, value, choices[value->id]);
}

void choose_elements(IrFunc *function, const ElementChoice *choices)
{
    for (uint32_t id = 0; id < function->value_count; id++)
        if (choices[id].count) {
            rewrite_function(function, visit, (void *)choices);
            return;
        }
}
