/* array.flat[index]: elements by their place in C order. */
#include "frontend/array/lower_array.h"
#include "frontend/array/lower_flat.h"
#include "frontend/engine.h"
#include "frontend/value/kind/lower_tuple.h"
#include "frontend/value/lower_check.h"
#include "frontend/value/lower_convert.h"
#include "frontend/value/lower_operator.h"
#include "frontend/value/operand.h"

/* The indices would lead to another element. */
static void check_place(Lower *l, Operand given, IrValue *place, IrValue *size)
{
    const Type *wide = TYPE_OF(UINT64);
    Operand index;
    if (!lower_checks_bounds(l) || !lower_convert(l, given, TYPE_OF(INT64), &index))
        return;
    IrValue *wide_place = emit1(l, IR_BITCAST, wide, place), *wide_size = emit1(l, IR_BITCAST, wide, size);
    IrValue *is_outside = emit2(l, IR_GE, TYPE_OF(BOOL), wide_place, wide_size), *told[] = {operand_ir(l, index), size};
    emit_bounds_check(l, is_outside, "IndexError", "index {} is out of bounds for size {}", 2, told);
}

/* The indices of element number `index` in C order, whatever the strides. */
static bool flat_index(Lower *l, Operand array, Operand index, Operand *out)
{
    Operand places[TYPE_MAX_NDIM], size, rest;
    uint32_t ndim = array.type->ndim;
    if (!type_is_integer(index.type))
        return lower_fail(l, DIAG_TYPE_INDEX, "array.flat", lower_describe(l, index.type), "");
    IrValue *wrapped;
    if (!lower_array_attribute(l, array, "size", &size) || !lower_index_value(l, index, operand_ir(l, size), &wrapped))
        return false;
    if (l->emitting)
        check_place(l, index, wrapped, operand_ir(l, size));
    rest = operand_value(TYPE_OF(INT64), wrapped);
    for (uint32_t i = ndim; i-- > 0;) {
        Operand extent = operand_value(TYPE_OF(INT64), emit_extent(l, array, i));
        if (!lower_binary(l, NB_REMAINDER, rest, extent, &places[i]) ||
            !lower_binary(l, NB_FLOOR_DIVIDE, rest, extent, &rest))
            return false;
    }
    *out = lower_make_tuple(l, places, ndim, TUPLE_PLAIN);
    return true;
}

bool lower_flat_item(Lower *l, Operand array, Operand index, Operand *out)
{
    Operand place;
    return flat_index(l, array, index, &place) && lower_subscript(l, array, place, out);
}

bool lower_store_flat_item(Lower *l, Operand array, Operand index, Operand value)
{
    Operand place;
    return flat_index(l, array, index, &place) && lower_store_subscript(l, array, place, value);
}
