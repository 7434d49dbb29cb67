/* Conversions between types, truth values, and what is plain to see of an integer's range. */
#include <math.h>

#include "frontend/engine.h"
#include "frontend/value/kind/lower_enum.h"
#include "frontend/value/kind/lower_time.h"
#include "frontend/value/kind/lower_tuple.h"
#include "frontend/value/kind/lower_vector.h"
#include "frontend/value/lower_check.h"
#include "frontend/value/lower_convert.h"
#include "frontend/value/lower_operator.h"

/* Wraps a 64-bit pattern into an integer type. */
static int64_t wrap_integer(const Type *type, int64_t value)
{
    uint32_t bits = type_bits(type);
    if (type->kind == TYPE_BOOL)
        return value != 0;
    if (bits == 64)
        return value;
    uint64_t kept = (uint64_t)value & ((UINT64_C(1) << bits) - 1);
    if (type->kind == TYPE_INT && (kept >> (bits - 1)))
        kept |= ~((UINT64_C(1) << bits) - 1);
    return (int64_t)kept;
}

static double constant_to_double(const Constant *constant)
{
    if (constant->kind == CONSTANT_FLOAT)
        return constant->real;
    if (constant->kind == CONSTANT_INT && constant->is_unsigned)
        return (double)(uint64_t)constant->integer;
    return (double)constant->integer;
}

/* The constant converted, or NULL when that is left to run time. */
static const Constant *convert_constant(Lower *l, const Constant *from, const Type *to)
{
    bool is_integer = from->kind == CONSTANT_INT || from->kind == CONSTANT_BOOL;
    if (to->kind == TYPE_FLOAT && (is_integer || from->kind == CONSTANT_FLOAT)) {
        double value = constant_to_double(from);
        if (to->size == 2)
            return NULL;   /* rounding to float16 is the backend's */
        return operand_float(l, to, to->size == 4 ? (double)(float)value : value).constant;
    }
    if (is_integer && to->kind == TYPE_BOOL)
        return operand_bool(l, from->integer != 0).constant;
    if (is_integer && type_is_integer(to))
        return operand_int_typed(l, to, wrap_integer(to, from->integer)).constant;
    if (to->kind == TYPE_COMPLEX && to->size == 16 && from->kind != CONSTANT_TUPLE) {
        Constant *complex = ARENA_NEW(l->arena, Constant);
        complex->kind = CONSTANT_COMPLEX;
        complex->type = to;
        complex->real = from->kind == CONSTANT_COMPLEX ? from->real : constant_to_double(from);
        complex->imaginary = from->kind == CONSTANT_COMPLEX ? from->imaginary : 0;
        return complex;
    }
    return NULL;
}

static bool convert_scalar(Lower *l, Operand from, const Type *to, Operand *out)
{
    if (from.type->kind == TYPE_COMPLEX && to->kind != TYPE_COMPLEX && to->kind != TYPE_BOOL)
        return lower_fail(l, DIAG_TYPE_CONVERT, lower_describe(l, from.type), lower_describe(l, to),
                          "; take .real or abs() of it");
    if (from.constant) {
        const Constant *constant = convert_constant(l, from.constant, to);
        if (constant) {
            *out = (Operand){.type = to, .constant = constant};
            return true;
        }
    }
    *out = operand_value(to, emit1(l, IR_CONVERT, to, operand_ir(l, from)));
    return true;
}

/* An array seen as one of a less definite layout, or as read-only. */
static bool convert_array(Lower *l, Operand from, const Type *to, Operand *out)
{
    const Type *a = from.type;
    bool fits = a->ndim == to->ndim && type_equal(a->element, to->element) &&
                (a->layout == to->layout || to->layout == LAYOUT_ANY) && (!a->read_only || to->read_only) &&
                type_element_alignment(a) >= type_element_alignment(to);
    if (!fits)
        return lower_fail(l, DIAG_TYPE_CONVERT, lower_describe(l, a), lower_describe(l, to), "");
    if (!l->emitting) {
        *out = operand_value(to, NULL);
        return true;
    }
    IrValue *operands[1 + 3 * TYPE_MAX_NDIM];
    uint32_t n = a->ndim;
    operands[0] = from.ir;
    for (uint32_t i = 0; i < n; i++) {
        operands[1 + i] = emit_int(l, TYPE_OF(INT64), 0);
        operands[1 + n + i] = emit_index_op(l, IR_EXTENT, TYPE_OF(INT64), from.ir, i);
        operands[1 + 2 * n + i] = emit_index_op(l, IR_STRIDE, TYPE_OF(INT64), from.ir, i);
    }
    *out = operand_value(to, emit(l, IR_SUBARRAY, to, 1 + 3 * n, operands));
    return true;
}

static bool convert_tuple(Lower *l, Operand from, const Type *to, Operand *out)
{
    if (from.type->count != to->count)
        return lower_fail(l, DIAG_TYPE_CONVERT, lower_describe(l, from.type), lower_describe(l, to), "");
    Operand *items = ARENA_ARRAY(l->arena, Operand, to->count);
    IrValue **values = ARENA_ARRAY(l->arena, IrValue *, to->count);
    for (uint32_t i = 0; i < to->count; i++) {
        if (!lower_convert(l, lower_tuple_item(l, from, i), to->items[i], &items[i]))
            return false;
        values[i] = operand_ir(l, items[i]);
    }
    *out = operand_value(to, emit(l, IR_TUPLE, to, to->count, values));
    return true;
}

/* None, a value, or another optional, as an optional. */
static bool convert_to_optional(Lower *l, Operand from, const Type *to, Operand *out)
{
    Operand parts[2] = {operand_bool(l, from.type->kind != TYPE_NONE), operand_value(to->items[1], NULL)};
    if (from.type->kind == TYPE_NONE)
        parts[1].ir = emit(l, IR_UNDEFINED, to->items[1], 0, NULL);
    else if (!lower_convert(l, operand_value_of(l, from), to->items[1], &parts[1]))
        return false;
    if (type_is_optional(from.type))
        parts[0] = lower_tuple_item(l, from, 0);
    IrValue *values[2] = {operand_ir(l, parts[0])};
    values[1] = operand_ir(l, parts[1]);
    *out = operand_value(to, emit(l, IR_TUPLE, to, 2, values));
    return true;
}

Operand operand_value_of(Lower *l, Operand operand)
{
    return operand.type && type_is_optional(operand.type) ? lower_tuple_item(l, operand, 1) : operand;
}

bool lower_convert(Lower *l, Operand from, const Type *to, Operand *out)
{
    if (type_equal(from.type, to)) {
        *out = from;
        return true;
    }
    if (type_is_optional(to))
        return convert_to_optional(l, from, to, out);
    emit_none_check(l, from);
    from = operand_number_of(l, operand_value_of(l, from));
    if (type_equal(from.type, to)) {
        *out = from;
        return true;
    }
    if (type_is_scalar(from.type) && type_is_scalar(to))
        return convert_scalar(l, from, to, out);
    if (type_is_vector(to))
        return lower_vector_convert(l, from, to, out);
    if (type_is_time(from.type) || type_is_time(to))
        return lower_time_convert(l, from, to, out);
    if (from.type->kind == TYPE_ARRAY && to->kind == TYPE_ARRAY)
        return convert_array(l, from, to, out);
    if (from.type->kind == TYPE_TUPLE && to->kind == TYPE_TUPLE)
        return convert_tuple(l, from, to, out);
    return lower_fail(l, DIAG_TYPE_CONVERT, lower_describe(l, from.type), lower_describe(l, to), "");
}

static bool truth_of_constant(Lower *l, const Constant *constant, Operand *out)
{
    switch (constant->kind) {
    case CONSTANT_NONE: *out = operand_bool(l, false); return true;
    case CONSTANT_BOOL:
    case CONSTANT_TIME:
    case CONSTANT_INT: *out = operand_bool(l, constant->integer != 0); return true;
    case CONSTANT_FLOAT: *out = operand_bool(l, constant->real != 0); return true;
    case CONSTANT_COMPLEX: *out = operand_bool(l, constant->real != 0 || constant->imaginary != 0); return true;
    case CONSTANT_STRING: *out = operand_bool(l, constant->text[0] != 0); return true;
    case CONSTANT_TUPLE: *out = operand_bool(l, constant->count != 0); return true;
    default: *out = operand_bool(l, true); return true;
    }
}

bool lower_truth(Lower *l, Operand operand, Operand *out)
{
    operand = operand_number_of(l, operand);
    if (type_is_enum(operand.type))
        return *out = operand_bool(l, true), true;
    if (operand.constant)
        return truth_of_constant(l, operand.constant, out);
    if (type_is_scalar(operand.type))
        return lower_convert(l, operand, TYPE_OF(BOOL), out);
    if (operand.type->kind == TYPE_TIMEDELTA)
        return lower_time_convert(l, operand, TYPE_OF(INT64), out) && lower_convert(l, *out, TYPE_OF(BOOL), out);
    if (type_is_optional(operand.type)) {
        Operand truth;
        return lower_truth(l, operand_value_of(l, operand), &truth) &&
               lower_binary(l, NB_AND, lower_tuple_item(l, operand, 0), truth, out);
    }
    if (type_is_plain_tuple(operand.type)) {
        *out = operand_bool(l, operand.type->count != 0);
        return true;
    }
    return lower_fail(l, DIAG_TYPE_TRUTH, lower_describe(l, operand.type), "; compare it with something");
}

/* --- intervals ---------------------------------------------------------------------------------------------------- */

typedef __int128 Wide;

static void type_interval(const Type *type, Wide *low, Wide *high)
{
    uint32_t bits = type_bits(type);
    if (type->kind == TYPE_BOOL || type->kind == TYPE_UINT) {
        *low = 0;
        *high = ((Wide)1 << bits) - 1;
    } else {
        *low = -((Wide)1 << (bits - 1));
        *high = ((Wide)1 << (bits - 1)) - 1;
    }
}

static void interval(const IrValue *value, int depth, Wide *low, Wide *high);

static void interval_of_pair(const IrValue *value, int depth, Wide *low, Wide *high)
{
    Wide al, ah, bl, bh;
    interval(value->operands[0], depth, &al, &ah);
    interval(value->operands[1], depth, &bl, &bh);
    if (value->op == IR_ADD) {
        *low = al + bl;
        *high = ah + bh;
    } else if (value->op == IR_SUB) {
        *low = al - bh;
        *high = ah - bl;
    } else if (value->op == IR_MUL && al >= 0 && bl >= 0 && ah < ((Wide)1 << 62) && bh < ((Wide)1 << 62)) {
        *low = al * bl;
        *high = ah * bh;
    } else if (value->op == IR_MIN || value->op == IR_MAX) {
        bool is_min = value->op == IR_MIN;
        *low = is_min ? (al < bl ? al : bl) : (al > bl ? al : bl);
        *high = is_min ? (ah < bh ? ah : bh) : (ah > bh ? ah : bh);
    } else if (value->op == IR_AND && (al >= 0 || bl >= 0)) {
        *low = 0;
        *high = al >= 0 && (bl < 0 || ah < bh) ? ah : bh;
    } else if ((value->op == IR_FLOORDIV || value->op == IR_SHR) && al >= 0 && bl >= 0) {
        *low = 0;
        *high = ah;
    } else if (value->op == IR_MOD && bl > 0) {
        *low = 0;
        *high = bh - 1;
    }
}

static void interval(const IrValue *value, int depth, Wide *low, Wide *high)
{
    Wide least, most;
    type_interval(value->type, &least, &most);
    *low = least;
    *high = most;
    if (depth == 0)
        return;
    if (value->op == IR_CONST) {
        *low = *high = value->type->kind == TYPE_UINT ? (Wide)(uint64_t)value->integer : (Wide)value->integer;
    } else if (value->op == IR_CONVERT && value->operands[0]->type->kind <= TYPE_UINT &&
               value->operands[0]->type->kind >= TYPE_BOOL) {
        interval(value->operands[0], depth - 1, low, high);
    } else if (value->op == IR_INTRINSIC && intrinsic_info[value->intrinsic].kind == INTRINSIC_KIND_REGISTER) {
        *low = intrinsic_info[value->intrinsic].low;
        *high = intrinsic_info[value->intrinsic].high;
    } else if (value->op == IR_EXTENT) {
        *low = 0;
        *high = (Wide)1 << 48; /* of bytes, so of items too: what fits into memory */
    } else if (value->op == IR_SELECT) {
        Wide bl, bh;
        interval(value->operands[1], depth - 1, low, high);
        interval(value->operands[2], depth - 1, &bl, &bh);
        *low = bl < *low ? bl : *low;
        *high = bh > *high ? bh : *high;
    } else if (value->operand_count == 2 && value->op >= IR_ADD && value->op <= IR_MAX) {
        interval_of_pair(value, depth - 1, low, high);
    }
    if (*low < least || *high > most) { /* it may have wrapped around */
        *low = least;
        *high = most;
    }
    if (value->non_negative && *low < 0)
        *low = 0;
}

void lower_interval(const IrValue *value, int64_t *low, int64_t *high)
{
    Wide wide_low, wide_high;
    interval(value, 8, &wide_low, &wide_high);
    *low = (int64_t)wide_low;
    *high = wide_high > INT64_MAX ? INT64_MAX : (int64_t)wide_high;
}
