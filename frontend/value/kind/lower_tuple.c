/* Tuples: making them, and their items. */
#include "frontend/engine.h"
#include "frontend/value/kind/lower_tuple.h"

static const Constant *constant_tuple(Lower *l, const Operand *items, uint32_t count)
{
    const Constant **constants = ARENA_ARRAY(l->arena, const Constant *, count);
    for (uint32_t i = 0; i < count; i++) {
        if (!items[i].constant)
            return NULL;
        constants[i] = items[i].constant;
    }
    Constant *tuple = ARENA_NEW(l->arena, Constant);
    tuple->kind = CONSTANT_TUPLE;
    tuple->count = count;
    tuple->items = constants;
    return tuple;
}

Operand lower_make_tuple(Lower *l, const Operand *items, uint32_t count, TupleTag tag)
{
    const Type **types = ARENA_ARRAY(l->arena, const Type *, count);
    for (uint32_t i = 0; i < count; i++)
        types[i] = items[i].type;
    Operand tuple = {.type = type_tuple(l->arena, types, count, tag)};
    if (type_count_values(tuple.type, TYPE_MOST_VALUES) > TYPE_MOST_VALUES) {
        lower_fail(l, DIAG_TUPLE_SIZE, TYPE_MOST_VALUES);
        return operand_none();
    }
    tuple.constant = constant_tuple(l, items, count);
    if (!l->emitting || tuple.constant)
        return tuple;
    IrValue **values = ARENA_ARRAY(l->arena, IrValue *, count);
    for (uint32_t i = 0; i < count; i++)
        values[i] = operand_ir(l, items[i]);
    tuple.ir = emit(l, IR_TUPLE, tuple.type, count, values);
    return tuple;
}

/* The item of a tuple that is not constant as a whole, where its type alone says what it is. */
static Operand object_item(const Type *type)
{
    return type->kind == TYPE_NONE ? operand_none() : (Operand){.type = type, .constant = type->object};
}

Operand lower_tuple_item(Lower *l, Operand tuple, uint32_t index)
{
    const Type *type = tuple.type->items[index];
    if (tuple.constant && (tuple.constant->kind == CONSTANT_TUPLE || tuple.constant->kind == CONSTANT_DICT)) {
        Operand item;
        if (operand_of_constant(l, tuple.constant->items[index], &item)) {
            item.type = type;
            return item;
        }
    }
    if (type->kind == TYPE_NONE || type->kind == TYPE_OBJECT)
        return object_item(type);
    if (!l->emitting)
        return operand_value(type, NULL);
    if (tuple.ir->op == IR_TUPLE)
        return operand_value(type, tuple.ir->operands[index]);
    return operand_value(type, emit_index_op(l, IR_GET, type, tuple.ir, index));
}
