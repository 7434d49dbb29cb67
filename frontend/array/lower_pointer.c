/* Pointers: memory from one value on, of which nobody knows the end. An index is that many values further, negative ones
 * before it; what is indexed is an array over just these values, so that arrays' rules hold for the rest. */
#include "frontend/array/lower_pointer.h"
#include "frontend/engine.h"
#include "frontend/value/kind/lower_tuple.h"
#include "frontend/value/lower_convert.h"
#include "frontend/value/operand.h"

static const Type *i64(void) { return TYPE_OF(INT64); }

/* The values [start, start + count) as an array of one axis. */
static Operand run_of(Lower *l, Operand pointer, IrValue *start, IrValue *count)
{
    Operand memory = lower_tuple_item(l, pointer, 0);
    const Type *type = type_array_like(l->arena, memory.type, 1, LAYOUT_C);
    if (!l->emitting)
        return operand_value(type, NULL);
    IrValue *stride = emit_int(l, i64(), type->element->size);
    IrValue *axis[] = {operand_ir(l, memory), count, stride};
    IrValue *moved[] = {emit(l, IR_SUBARRAY, type, 3, axis), start, count, stride};
    return operand_value(type, emit(l, IR_SUBARRAY, type, 4, moved));
}

static bool refuse_index(Lower *l, Operand pointer, Operand index, const char *hint)
{
    return lower_fail(l, DIAG_TYPE_INDEX, lower_describe(l, pointer.type), lower_describe(l, index.type), hint);
}

static bool is_index(const Type *type) { return type->kind == TYPE_BOOL || type_is_integer(type); }

static bool check_typed(Lower *l, Operand pointer, Operand index)
{
    return type_is_tagged(pointer.type, TUPLE_POINTER) ||
           refuse_index(l, pointer, index, "; carray(pointer, shape, dtype) says what lies there");
}

bool lower_pointed(Lower *l, Operand pointer, Operand index, Operand *out)
{
    Operand place;
    if (!check_typed(l, pointer, index))
        return false;
    if (!is_index(index.type))
        return refuse_index(l, pointer, index, "; indices are integers");
    if (!lower_convert(l, index, i64(), &place))
        return false;
    IrValue *start = operand_ir(l, place), *one = emit_int(l, i64(), 1);
    return *out = run_of(l, pointer, start, one), true;
}

/* pointer[a:b] */
static bool slice_of(Lower *l, Operand pointer, Operand slice, Operand *out)
{
    Operand given[3], bounds[2] = {operand_int(l, 0), operand_int(l, 0)};
    for (uint32_t i = 0; i < 3; i++)
        given[i] = lower_tuple_item(l, slice, i);
    if (!check_typed(l, pointer, slice))
        return false;
    if (given[1].type->kind == TYPE_NONE || given[2].type->kind != TYPE_NONE)
        return refuse_index(l, pointer, slice, "; a slice of a pointer has an end and no step: pointer[0:n]");
    for (uint32_t i = 0; i < 2; i++)
        if (given[i].type->kind != TYPE_NONE && !lower_convert(l, given[i], i64(), &bounds[i]))
            return false;
    IrValue *start = operand_ir(l, bounds[0]), *end = operand_ir(l, bounds[1]);
    return *out = run_of(l, pointer, start, emit2(l, IR_SUB, i64(), end, start)), true;
}

bool lower_pointer_subscript(Lower *l, Operand pointer, Operand index, Operand *out)
{
    Operand element;
    if (type_is_tagged(index.type, TUPLE_SLICE))
        return slice_of(l, pointer, index, out);
    return lower_pointed(l, pointer, index, &element) && lower_subscript(l, element, operand_int(l, 0), out);
}

bool lower_store_pointer_subscript(Lower *l, Operand pointer, Operand index, Operand value)
{
    Operand target;
    if (type_is_tagged(index.type, TUPLE_SLICE))
        return slice_of(l, pointer, index, &target) && lower_fill(l, target, value);
    return lower_pointed(l, pointer, index, &target) && lower_store_subscript(l, target, operand_int(l, 0), value);
}

Operand lower_pointer_view(Lower *l, Operand pointer, const Type *element)
{
    Operand memory = lower_tuple_item(l, pointer, 0);
    const Type *type = type_array(l->arena, element, 0, LAYOUT_C, false);
    IrValue *operands[] = {l->emitting ? operand_ir(l, memory) : NULL};
    Operand seen = operand_value(type, emit(l, IR_SUBARRAY, type, 1, operands));
    return lower_make_tuple(l, &seen, 1, TUPLE_POINTER);
}
