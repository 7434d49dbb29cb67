/* cuda.wide.load and cuda.wide.store: neighbouring elements of an array in one access. */
#include "frontend/call/cuda/lower_cuda.h"
#include "frontend/engine.h"
#include "frontend/value/arguments.h"
#include "frontend/value/kind/lower_tuple.h"
#include "frontend/value/lower_convert.h"
#include "frontend/value/overflow_marks.h"

enum { WIDE_MOST_BYTES = 64 };

/* The array and the index of its first element, for both calls. */
static bool wide_place(Lower *l, const Call *call, Operand *array, IrValue **index)
{
    const Operand *given = &call->arguments[0], *place = &call->arguments[1];
    if (given->type->kind != TYPE_ARRAY || given->type->ndim != 1 || given->type->layout == LAYOUT_ANY ||
        !type_is_scalar(given->type->element))
        return call_refuse(l, call, "; it takes an array of numbers with one axis and no gaps");
    Operand number;
    if (!type_is_integer(place->type))
        return call_refuse(l, call, "; the index is an integer");
    if (!lower_convert(l, *place, TYPE_OF(INT64), &number))
        return false;
    *array = *given;
    return *index = operand_ir(l, number), true;
}

static bool is_width(const Type *element, int64_t count)
{
    return count >= 2 && count <= WIDE_MOST_BYTES && !(count & (count - 1)) && count * element->size <= WIDE_MOST_BYTES;
}

static bool refuse_width(Lower *l)
{
    return lower_fail(l, DIAG_CONSTANT_RANGE,
                      arena_format(l->arena, "a wide access takes 2, 4, 8, ... elements of together at most %d bytes",
                                   WIDE_MOST_BYTES));
}

bool call_wide_load(Lower *l, const Call *call, Operand *out)
{
    Operand array;
    IrValue *operands[2];
    int64_t count;
    if (!call_arity(l, call, 3, 3) || !wide_place(l, call, &array, &operands[1]))
        return false;
    if (!operand_const_int(call->arguments[2], &count))
        return lower_fail(l, DIAG_CONSTANT_REQUIRED, "the number of elements", "");
    if (!is_width(array.type->element, count))
        return refuse_width(l);
    const Type *types[WIDE_MOST_BYTES];
    for (int64_t i = 0; i < count; i++)
        types[i] = array.type->element;
    const Type *type = type_tuple(l->arena, types, (uint32_t)count, TUPLE_PLAIN);
    operands[0] = operand_ir(l, array);
    return *out = operand_value(type, emit_intrinsic(l, call->intrinsic, type, 2, operands)), true;
}

bool call_wide_store(Lower *l, const Call *call, Operand *out)
{
    Operand array, items[WIDE_MOST_BYTES];
    IrValue *operands[3];
    if (!call_arity(l, call, 3, 3) || !wide_place(l, call, &array, &operands[1]))
        return false;
    if (array.type->read_only)
        return lower_fail(l, DIAG_READ_ONLY, lower_describe(l, array.type));
    const Operand *values = &call->arguments[2];
    if (values->type->kind != TYPE_TUPLE)
        return call_refuse(l, call, "; it stores a tuple");
    uint32_t count = values->type->count;
    if (!is_width(array.type->element, count))
        return refuse_width(l);
    for (uint32_t i = 0; i < count; i++)
        if (!overflow_convert(l, lower_tuple_item(l, *values, i), array.type->element, &items[i]))
            return false;
    operands[0] = operand_ir(l, array);
    operands[2] = operand_ir(l, lower_make_tuple(l, items, count, TUPLE_PLAIN));
    emit_intrinsic(l, call->intrinsic, &type_none, 3, operands);
    return *out = operand_none(), true;
}
