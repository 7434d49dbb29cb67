/* Vectors such as float32x4: made of scalars and vectors, x to w, and arithmetic component by component. */
#include "frontend/engine.h"
#include "frontend/value/arguments.h"
#include "frontend/value/kind/lower_tuple.h"
#include "frontend/value/kind/lower_vector.h"
#include "frontend/value/lower_convert.h"
#include "frontend/value/lower_operator.h"
#include "frontend/value/overflow_marks.h"

static Operand make(Lower *l, const Type *type, const Operand *items)
{
    IrValue *values[VECTOR_MOST];
    for (uint32_t i = 0; i < type->count; i++)
        values[i] = operand_ir(l, items[i]);
    return operand_value(type, emit(l, IR_TUPLE, type, type->count, values));
}

static bool make_converted(Lower *l, const Type *type, const Operand *items, Operand *out)
{
    Operand converted[VECTOR_MOST];
    for (uint32_t i = 0; i < type->count; i++)
        if (!overflow_convert(l, items[i], type->items[0], &converted[i]))
            return false;
    return *out = make(l, type, converted), true;
}

/* float32x4(x, float32x2(y, z), w): the components of all arguments in order. */
bool lower_vector_call(Lower *l, const Type *type, const Call *call, Operand *out)
{
    Operand items[VECTOR_MOST];
    uint32_t count = 0;
    for (uint32_t i = 0; i < call->count; i++) {
        Operand argument = call->arguments[i];
        bool is_vector = type_is_vector(argument.type);
        uint32_t given = is_vector ? argument.type->count : 1;
        if ((!is_vector && !type_is_real(argument.type)) || call->keyword_count)
            return call_refuse(l, call, "; it takes numbers and vectors");
        for (uint32_t k = 0; k < given; k++, count++)
            if (count < type->count)
                items[count] = is_vector ? lower_tuple_item(l, argument, k) : argument;
    }
    if (count != type->count)
        return call_refuse(l, call, arena_format(l->arena, ": it has %u components, not %u", type->count, count));
    return make_converted(l, type, items, out);
}

bool lower_vector_convert(Lower *l, Operand from, const Type *to, Operand *out)
{
    Operand items[VECTOR_MOST];
    if (!type_is_vector(from.type) || from.type->count != to->count)
        return lower_fail(l, DIAG_TYPE_CONVERT, lower_describe(l, from.type), lower_describe(l, to), "");
    for (uint32_t i = 0; i < to->count; i++)
        items[i] = lower_tuple_item(l, from, i);
    return make_converted(l, to, items, out);
}

/* Numbers take the vector's type, so that factors do not widen it; only a fraction does not go into integers. */
static const Type *common_scalar(Lower *l, Operand a, Operand b)
{
    if (type_is_vector(a.type) && type_is_vector(b.type))
        return a.type->count == b.type->count ? lower_join_types(l, a.type->items[0], b.type->items[0]) : NULL;
    const Type *vector = type_is_vector(a.type) ? a.type : b.type, *number = vector == a.type ? b.type : a.type;
    bool fits = type_is_real(number) && (number->kind != TYPE_FLOAT || vector->items[0]->kind == TYPE_FLOAT);
    return fits ? vector->items[0] : NULL;
}

bool lower_vector_binary(Lower *l, int32_t operation, const char *text, Operand a, Operand b, Operand *out)
{
    const Type *scalar = common_scalar(l, a, b), *vector = type_is_vector(a.type) ? a.type : b.type;
    Operand both[] = {a, b}, items[VECTOR_MOST];
    if (!scalar)
        return lower_fail(l, DIAG_TYPE_OPERANDS, text, lower_describe_all(l, both, 2), "");
    for (uint32_t i = 0; i < vector->count; i++) {
        Operand sides[2];
        for (int k = 0; k < 2; k++) {
            Operand item = type_is_vector(both[k].type) ? lower_tuple_item(l, both[k], i) : both[k];
            if (!lower_convert(l, item, scalar, &sides[k]))
                return false;
        }
        if (!lower_binary(l, operation, sides[0], sides[1], &items[i]))
            return false;
        overflow_note(l, items[i]);
    }
    bool stays = type_is_integer(scalar) == type_is_integer(items[0].type);
    const Type *type = type_vector(l->arena, stays ? scalar : items[0].type, vector->count);
    if (!type)
        return lower_fail(l, DIAG_TYPE_OPERANDS, text, lower_describe_all(l, both, 2), "");
    return make_converted(l, type, items, out);
}

bool lower_vector_unary(Lower *l, SsaOp op, Operand a, Operand *out)
{
    Operand items[VECTOR_MOST];
    for (uint32_t i = 0; i < a.type->count; i++) {
        if (!lower_unary(l, op, lower_tuple_item(l, a, i), &items[i]))
            return false;
        overflow_note(l, items[i]);
    }
    return make_converted(l, a.type, items, out);
}
