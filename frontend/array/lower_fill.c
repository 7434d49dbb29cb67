/* Assignment to a slice: array[slice] = scalar, record or array, element by element, with NumPy's broadcasting; and
 * array += scalar or array, which changes the elements in place. */
#include "frontend/array/fill.h"
#include "frontend/array/lower_fill.h"
#include "frontend/compound/lower_record.h"
#include "frontend/engine.h"
#include "frontend/value/arguments.h"
#include "frontend/value/kind/lower_chars.h"
#include "frontend/value/kind/lower_tuple.h"
#include "frontend/value/lower_check.h"
#include "frontend/value/lower_convert.h"
#include "frontend/value/lower_operator.h"
#include "frontend/value/operand.h"
#include "frontend/value/overflow_marks.h"

int fill_source_axis(const Fill *fill, uint32_t axis)
{
    int place = (int)axis - (int)(fill->target.type->ndim - fill->source.type->ndim);
    return place < 0 ? -1 : place;
}

/* An axis of extent 1 is repeated. */
static IrValue *source_index(Lower *l, Operand source, uint32_t axis, IrValue *index)
{
    const Type *i64 = TYPE_OF(INT64);
    IrValue *one = emit_int(l, i64, 1), *zero = emit_int(l, i64, 0);
    IrValue *repeated = emit2(l, IR_EQ, TYPE_OF(BOOL), emit_extent(l, source, axis), one);
    return emit3(l, IR_SELECT, i64, repeated, zero, index);
}

/* The element at these indices as an array without axes. */
static Operand fill_reference(Lower *l, Operand array, IrValue *const *indices)
{
    const Type *type = type_array_like(l->arena, array.type, 0, LAYOUT_C);
    if (!l->emitting || array.type->ndim == 0)
        return operand_value(type, array.ir);
    IrValue *operands[1 + TYPE_MAX_NDIM] = {array.ir};
    for (uint32_t i = 0; i < array.type->ndim; i++)
        operands[1 + i] = indices[i];
    return operand_value(type, emit(l, IR_SUBARRAY, type, 1 + array.type->ndim, operands));
}

Operand fill_item(Lower *l, const Fill *fill, IrValue *const *indices)
{
    Operand source = fill->source;
    if (source.type->kind != TYPE_ARRAY)
        return source;
    IrValue *from[1 + TYPE_MAX_NDIM] = {source.ir};
    for (uint32_t i = 0; i < fill->target.type->ndim; i++) {
        int place = fill_source_axis(fill, i);
        if (place >= 0)
            from[1 + place] = source_index(l, source, (uint32_t)place, indices[i]);
    }
    const Type *type = source.type->element;
    if (type->kind == TYPE_RECORD || type->kind == TYPE_CHARS)
        return fill_reference(l, source, from + 1);
    return operand_value(type, emit(l, IR_LOAD, type, 1 + source.type->ndim, from));
}

bool fill_store(Lower *l, const Fill *fill, IrValue *const *indices, Operand item)
{
    Operand target = fill->target, converted;
    const Type *element = target.type->element;
    if (element->kind == TYPE_CHARS)
        return lower_store_chars(l, fill_reference(l, target, indices), item);
    if (element->kind == TYPE_RECORD)
        return lower_store_record(l, fill_reference(l, target, indices), item);
    IrValue *operands[2 + TYPE_MAX_NDIM] = {target.ir};
    uint32_t ndim = target.type->ndim;
    for (uint32_t i = 0; i < ndim; i++)
        operands[1 + i] = indices[i];
    if (fill->number != NO_OPERATOR) {
        Operand old = operand_value(element, emit(l, IR_LOAD, element, 1 + ndim, operands));
        if (!lower_binary(l, fill->number, old, item, &item))
            return false;
        overflow_note(l, item);
    }
    if (!overflow_convert(l, item, element, &converted))
        return false;
    operands[1 + ndim] = operand_ir(l, converted);
    emit(l, IR_STORE, &type_none, 2 + ndim, operands);
    return true;
}

static const Type *source_element(Operand source)
{
    return source.type->kind == TYPE_ARRAY ? source.type->element : source.type;
}

/* Whether a value, or an array's element of type `from`, can be stored as such an element. */
static bool element_fits(Operand source, const Type *from, const Type *element)
{
    bool is_array = source.type->kind == TYPE_ARRAY;
    if (element->kind == TYPE_RECORD)
        return is_array && type_equal(from, element);
    if (element->kind == TYPE_CHARS)
        return is_array ? from->kind == TYPE_CHARS : operand_is_object(source, CONSTANT_STRING);
    if (type_is_time(element) && type_is_time(from))
        return true;
    return type_is_vector(element) ? type_is_vector(from) : type_is_scalar(from);
}

/* Elements are taken from the end that the copy goes towards, so that none is overwritten before it is read: exact where
 * both have the same strides, larger ones first. */
static void order_indices(Lower *l, const Fill *fill, IrValue **indices)
{
    const Type *i64 = TYPE_OF(INT64), *boolean = TYPE_OF(BOOL);
    Operand target = fill->target, source = fill->source;
    IrValue *to = emit1(l, IR_ADDRESS, i64, target.ir), *from = emit1(l, IR_ADDRESS, i64, source.ir);
    IrValue *above = emit2(l, IR_GT, boolean, to, from), *zero = emit_int(l, i64, 0), *one = emit_int(l, i64, 1);
    for (uint32_t i = 0; i < target.type->ndim; i++) {
        IrValue *last = emit2(l, IR_SUB, i64, emit_extent(l, target, i), one);
        IrValue *falls = emit2(l, IR_LT, boolean, emit_index_op(l, IR_STRIDE, i64, target.ir, i), zero);
        IrValue *turns = emit2(l, IR_NE, boolean, above, falls), *turned = emit2(l, IR_SUB, i64, last, indices[i]);
        indices[i] = emit3(l, IR_SELECT, i64, turns, turned, indices[i]);
    }
}

static bool store_in_order(Lower *l, const Fill *fill, bool may_overlap)
{
    Loop loops[TYPE_MAX_NDIM];
    IrValue *indices[TYPE_MAX_NDIM] = {NULL};
    uint32_t ndim = fill->target.type->ndim;
    for (uint32_t i = 0; i < ndim; i++) {
        loops[i] = loop_begin(l, emit_extent(l, fill->target, i));
        indices[i] = loops[i].index;
    }
    if (may_overlap)
        order_indices(l, fill, indices);
    bool ok = fill_store(l, fill, indices, fill_item(l, fill, indices));
    for (uint32_t i = ndim; i-- > 0;)
        loop_end(l, &loops[i]);
    return ok;
}

/* --- shapes ------------------------------------------------------------------------------------------------------------ */

/* Tells check mode of the extents of what is stored to the target's last axes. */
static void emit_broadcast(Lower *l, Operand target, uint32_t count, IrValue *const *extents)
{
    IrValue *operands[1 + TYPE_MAX_NDIM] = {target.ir};
    if (!lower_checks_bounds(l))
        return;
    for (uint32_t i = 0; i < count; i++)
        operands[1 + i] = extents[i];
    emit(l, IR_BROADCAST, &type_none, 1 + count, operands);
}

static void broadcast_array(Lower *l, const Fill *fill)
{
    IrValue *extents[TYPE_MAX_NDIM];
    if (!l->emitting || fill->source.type->kind != TYPE_ARRAY)
        return;
    for (uint32_t i = 0; i < fill->source.type->ndim; i++)
        extents[i] = emit_extent(l, fill->source, i);
    emit_broadcast(l, fill->target, fill->source.type->ndim, extents);
}

/* --- tuples ------------------------------------------------------------------------------------------------------------ */
static bool is_tuple(Operand source) { return type_is_plain_tuple(source.type) && source.type->count > 0; }

/* One item behind the other along the last axis, as far as that goes. One item alone is repeated. */
static bool store_items(Lower *l, const Fill *fill, IrValue **indices)
{
    const Type *i64 = TYPE_OF(INT64);
    uint32_t last = fill->target.type->ndim - 1;
    IrValue *extent = l->emitting ? emit_extent(l, fill->target, last) : NULL;
    for (uint32_t i = 0; i < fill->source.type->count; i++) {
        IrBlock *inside = emit_block(l), *behind = emit_block(l);
        indices[last] = emit_int(l, i64, i);
        if (l->emitting) {
            emit_branch(l, emit2(l, IR_LT, TYPE_OF(BOOL), indices[last], extent), inside, behind);
            l->block = inside;
        }
        if (!fill_store(l, fill, indices, lower_tuple_item(l, fill->source, i)))
            return false;
        if (l->emitting) {
            emit_jump(l, behind);
            l->block = behind;
        }
    }
    return true;
}

static bool store_tuple(Lower *l, Operand target, Operand source, int32_t number)
{
    Fill fill = {.target = target, .source = source, .number = number};
    Loop loops[TYPE_MAX_NDIM];
    IrValue *indices[TYPE_MAX_NDIM] = {NULL};
    uint32_t outer = target.type->ndim - 1;
    if (l->emitting)
        emit_broadcast(l, target, 1, (IrValue *[]){emit_int(l, TYPE_OF(INT64), source.type->count)});
    for (uint32_t i = 0; i < outer; i++) {
        loops[i] = loop_begin(l, emit_extent(l, target, i));
        indices[i] = loops[i].index;
    }
    bool ok = store_items(l, &fill, indices);
    for (uint32_t i = outer; i-- > 0;)
        loop_end(l, &loops[i]);
    return ok;
}

/* Whether every item can be stored as such an element. */
static bool items_fit(Lower *l, Operand source, const Type *element)
{
    bool fit = is_tuple(source);
    for (uint32_t i = 0; fit && i < source.type->count; i++) {
        Operand item = lower_tuple_item(l, source, i);
        fit = item.type->kind != TYPE_ARRAY && element_fits(item, item.type, element);
    }
    return fit;
}

static bool store_all(Lower *l, Operand target, Operand source, int32_t number)
{
    if (target.type->ndim > 0 && items_fit(l, source, target.type->element))
        return source.type->count == 1 ? store_all(l, target, lower_tuple_item(l, source, 0), number)
                                       : store_tuple(l, target, source, number);
    const Type *from = source_element(source);
    bool fits = element_fits(source, from, target.type->element);
    if (!fits || (source.type->kind == TYPE_ARRAY && source.type->ndim > target.type->ndim))
        return lower_fail(l, DIAG_TYPE_STORE, lower_describe(l, source.type), lower_describe(l, target.type), "");
    Fill fill = {.target = target, .source = source, .number = number};
    broadcast_array(l, &fill);
    bool may_overlap = l->emitting && fill_may_overlap(&fill);
    IrValue *tangled = may_overlap ? fill_is_tangled(l, &fill) : NULL;
    if (!tangled)
        return store_in_order(l, &fill, may_overlap);
    IrBlock *in_order = emit_block(l), *with_care = emit_block(l), *behind = emit_block(l);
    emit_branch(l, tangled, with_care, in_order);
    l->block = with_care;
    if (!fill_tangled(l, &fill))
        return false;
    emit_jump(l, behind);
    l->block = in_order;
    if (!store_in_order(l, &fill, true))
        return false;
    emit_jump(l, behind);
    l->block = behind;
    return true;
}

bool call_array_fit(Lower *l, const Call *call, Operand *out)
{
    if (!call_arity(l, call, 2, 2))
        return false;
    Fill fill = {.source = call->arguments[0], .target = call->arguments[1]};
    bool is_array = fill.source.type->kind == TYPE_ARRAY;
    if (fill.target.type->kind != TYPE_ARRAY || (is_array && fill.source.type->ndim > fill.target.type->ndim))
        return lower_fail(l, DIAG_TYPE_STORE, lower_describe(l, fill.source.type), lower_describe(l, fill.target.type),
                          "");
    broadcast_array(l, &fill);
    return *out = operand_none(), true;
}

bool lower_fill(Lower *l, Operand target, Operand source) { return store_all(l, target, source, NO_OPERATOR); }

/* Integers do not become floats in place, nor floats complex numbers, as in NumPy. */
static bool keeps_kind(Lower *l, int32_t number, const Type *element, const Type *value)
{
    Lower dry = *l;
    Diag scratch = {0};
    Operand result;
    dry.emitting = false;
    dry.diag = &scratch;
    if (!type_is_scalar(element) || !type_is_scalar(value))
        return false;
    bool ok = lower_binary(&dry, number, operand_value(element, NULL), operand_value(value, NULL), &result);
    diag_clear(&scratch);
    return ok && (result.type->kind <= element->kind || (type_is_integer(result.type) && type_is_integer(element)));
}

bool lower_update(Lower *l, int32_t number, Operand target, Operand source, Operand *out)
{
    *out = target;
    bool keeps = true;
    if (target.type->read_only)
        return lower_fail(l, DIAG_READ_ONLY, lower_describe(l, target.type));
    for (uint32_t i = 0; is_tuple(source) && i < source.type->count; i++)
        keeps &= keeps_kind(l, number, target.type->element, source.type->items[i]);
    if (!is_tuple(source))
        keeps = keeps_kind(l, number, target.type->element, source_element(source));
    if (!keeps)
        return lower_fail(l, DIAG_TYPE_STORE, lower_describe(l, source.type), lower_describe(l, target.type),
                          " by an operator in place");
    return store_all(l, target, source, number);
}
