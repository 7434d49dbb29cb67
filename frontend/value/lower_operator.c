/* Operators over scalars, tuples and constants: typing by promotion.def, conversion of the operands, emission. */
#include <math.h>
#include <string.h>

#include "frontend/engine.h"
#include "frontend/value/kind/lower_chars.h"
#include "frontend/value/kind/lower_enum.h"
#include "frontend/value/kind/lower_text.h"
#include "frontend/value/kind/lower_time.h"
#include "frontend/value/kind/lower_tuple.h"
#include "frontend/value/kind/lower_vector.h"
#include "frontend/value/lower_check.h"
#include "frontend/value/lower_convert.h"
#include "frontend/value/lower_operator.h"

typedef struct BinaryInfo {
    const char *text;
    PromotionId promotion;
    IrOp op;
} BinaryInfo;

static const BinaryInfo binary_info[] = {
#define BINARY(id, text, promotion, op, ...) [NB_##id] = {text, PROMOTION_##promotion, IR_##op},
#include "core/type/operator.def"
};

static const struct {
    const char *text;
    IrOp op;
} compare_info[] = {
#define COMPARE(id, text, op, ...) [COMPARE_##id] = {text, IR_##op},
#include "core/type/operator.def"
};

bool lower_refuse_operands(Lower *l, const char *text, Operand a, Operand b, const char *hint)
{
    Operand both[] = {a, b};
    bool is_whole_array =
        (a.type->kind == TYPE_ARRAY && a.type->ndim > 0) || (b.type->kind == TYPE_ARRAY && b.type->ndim > 0);
    if (is_whole_array && !*hint)
        hint = "; kernels compute with elements: out[i] = x[i] + y[i]";
    return lower_fail(l, DIAG_TYPE_OPERANDS, text, lower_describe_all(l, both, 2), hint);
}

/* --- constants ---------------------------------------------------------------------------------------------------- */

static bool is_whole(const Constant *c) { return c->kind == CONSTANT_INT || c->kind == CONSTANT_BOOL; }

static bool floor_divide(int64_t a, int64_t b, int64_t *quotient, int64_t *remainder)
{
    if (b == 0 || (a == INT64_MIN && b == -1))
        return false;
    *quotient = a / b - (a % b != 0 && (a % b < 0) != (b < 0));
    *remainder = a - *quotient * b;
    return true;
}

static bool power(int64_t base, int64_t exponent, int64_t *result)
{
    if (exponent < 0 || exponent > 64)
        return false;
    int64_t value = 1;
    for (int64_t i = 0; i < exponent; i++)
        if (__builtin_mul_overflow(value, base, &value))
            return false;
    *result = value;
    return true;
}

/* False where the result does not fit or is an error: run time decides then. */
static bool fold_integers(int32_t number, int64_t a, int64_t b, int64_t *result)
{
    int64_t other;
    switch (number) {
    case NB_ADD: return !__builtin_add_overflow(a, b, result);
    case NB_SUBTRACT: return !__builtin_sub_overflow(a, b, result);
    case NB_MULTIPLY: return !__builtin_mul_overflow(a, b, result);
    case NB_FLOOR_DIVIDE: return floor_divide(a, b, result, &other);
    case NB_REMAINDER: return floor_divide(a, b, &other, result);
    case NB_AND: *result = a & b; return true;
    case NB_OR: *result = a | b; return true;
    case NB_XOR: *result = a ^ b; return true;
    case NB_POWER: return power(a, b, result);
    case NB_LSHIFT: *result = (int64_t)((uint64_t)a << (b & 63)); return b >= 0 && b < 63 && *result >> b == a;
    case NB_RSHIFT: *result = a >> (b & 63); return b >= 0 && b < 64;
    default: return false;
    }
}

static double as_double(const Constant *c) { return is_whole(c) ? (double)c->integer : c->real; }

static bool fold_floats(int32_t number, double a, double b, double *result)
{
    switch (number) {
    case NB_ADD: *result = a + b; return true;
    case NB_SUBTRACT: *result = a - b; return true;
    case NB_MULTIPLY: *result = a * b; return true;
    case NB_TRUE_DIVIDE: *result = a / b; return b != 0;
    default: return false;
    }
}

/* The result of an operator over constants, or NULL when it is left to run time. */
static const Constant *fold_binary(Lower *l, int32_t number, const Constant *a, const Constant *b, const Type *type)
{
    bool whole = is_whole(a) && is_whole(b);
    int64_t integer;
    double real;
    if (whole && type_equal(type, TYPE_OF(INT64)) && !a->is_unsigned && !b->is_unsigned &&
        fold_integers(number, a->integer, b->integer, &integer))
        return operand_int(l, integer).constant;
    bool numbers = (is_whole(a) || a->kind == CONSTANT_FLOAT) && (is_whole(b) || b->kind == CONSTANT_FLOAT);
    if (numbers && type_equal(type, TYPE_OF(FLOAT64)) && !a->is_unsigned && !b->is_unsigned &&
        fold_floats(number, as_double(a), as_double(b), &real))
        return operand_float(l, type, real).constant;
    return NULL;
}

static bool fold_order(int32_t number, bool less, bool equal)
{
    switch (number) {
    case COMPARE_LT: return less;
    case COMPARE_LE: return less || equal;
    case COMPARE_EQ: return equal;
    case COMPARE_NE: return !equal;
    case COMPARE_GT: return !less && !equal;
    default: return !less;
    }
}

const Constant *fold_compare(Lower *l, int32_t number, const Constant *a, const Constant *b)
{
    bool only_equality = number == COMPARE_EQ || number == COMPARE_NE;
    if (is_whole(a) && is_whole(b) && !a->is_unsigned && !b->is_unsigned)
        return operand_bool(l, fold_order(number, a->integer < b->integer, a->integer == b->integer)).constant;
    if ((is_whole(a) || a->kind == CONSTANT_FLOAT) && (is_whole(b) || b->kind == CONSTANT_FLOAT)) {
        double x = as_double(a), y = as_double(b);
        if (x != x || y != y || a->is_unsigned || b->is_unsigned)
            return NULL;
        return operand_bool(l, fold_order(number, x < y, x == y)).constant;
    }
    if (a->kind == CONSTANT_STRING && b->kind == CONSTANT_STRING) {
        int order = strcmp(a->text, b->text);
        return operand_bool(l, fold_order(number, order < 0, order == 0)).constant;
    }
    bool comparable = a->kind != CONSTANT_TUPLE && a->kind != CONSTANT_COMPLEX && b->kind != CONSTANT_TUPLE &&
                      b->kind != CONSTANT_COMPLEX;
    if (only_equality && comparable)
        return operand_bool(l, constant_equal(a, b) == (number == COMPARE_EQ)).constant;
    return NULL;
}

/* --- powers ------------------------------------------------------------------------------------------------------- */

/* A small constant exponent becomes multiplications; a negative one of a float the inverse of them. */
static bool power_by_constant(Lower *l, Operand base, int64_t exponent, Operand *out)
{
    const Type *type =
        base.type->kind == TYPE_FLOAT ? base.type : type_promote(PROMOTION_POWER, base.type, TYPE_OF(INT64));
    Operand converted;
    if (!lower_convert(l, base, type, &converted))
        return false;
    IrValue *count = emit_int(l, TYPE_OF(INT64), exponent);
    *out = operand_value(type, emit2(l, IR_POWI, type, operand_ir(l, converted), count));
    return true;
}

static bool lower_power(Lower *l, Operand a, Operand b, Operand *out)
{
    int64_t exponent;
    bool is_constant = operand_const_int(b, &exponent) && exponent >= -64 && exponent <= 64;
    if (is_constant && a.type->kind == TYPE_FLOAT && a.type->size > 2)
        return power_by_constant(l, a, exponent, out);
    const Type *type = promote_pair(l, PROMOTION_POWER, a, b);
    if (!type)
        return lower_refuse_operands(l, "**", a, b, "");
    if (is_constant && type->kind == TYPE_COMPLEX)
        return power_by_constant(l, a, exponent, out);
    Operand x, y;
    if (!lower_convert(l, a, type, &x))
        return false;
    if (type_is_integer(type)) { /* the exponent keeps its sign */
        const Type *wide = b.type->kind == TYPE_UINT ? TYPE_OF(UINT64) : TYPE_OF(INT64);
        if (!lower_convert(l, b, wide, &y))
            return false;
        *out = operand_value(type, emit_of2(l, IR_POWI, type, x, y));
        return true;
    }
    if (!lower_convert(l, b, type, &y))
        return false;
    *out = operand_value(type, emit_of2(l, IR_POW, type, x, y));
    return true;
}

/* --- binary operators --------------------------------------------------------------------------------------------- */

static bool concatenate(Lower *l, Operand a, Operand b, Operand *out)
{
    uint32_t count = a.type->count + b.type->count;
    Operand *items = ARENA_ARRAY(l->arena, Operand, count);
    for (uint32_t i = 0; i < count; i++)
        items[i] = i < a.type->count ? lower_tuple_item(l, a, i) : lower_tuple_item(l, b, i - a.type->count);
    *out = lower_make_tuple(l, items, count, TUPLE_PLAIN);
    return true;
}

static bool repeat_tuple(Lower *l, Operand tuple, int64_t times, Operand *out)
{
    uint32_t each = tuple.type->count, count = times > 0 ? each * (uint32_t)times : 0;
    Operand *items = ARENA_ARRAY(l->arena, Operand, count);
    for (uint32_t i = 0; i < count; i++)
        items[i] = lower_tuple_item(l, tuple, i % each);
    *out = lower_make_tuple(l, items, count, TUPLE_PLAIN);
    return true;
}

/* What Python says of a division by zero; NULL for operators that do not divide. */
static const char *zero_division_text(int32_t number, const Type *type)
{
    bool is_float = type->kind == TYPE_FLOAT;
    switch (number) {
    case NB_TRUE_DIVIDE: return type->kind == TYPE_COMPLEX ? "complex division by zero" : "division by zero";
    case NB_FLOOR_DIVIDE: return is_float ? "float floor division by zero" : "integer division or modulo by zero";
    case NB_REMAINDER: return is_float ? "float modulo by zero" : "integer modulo by zero";
    default: return NULL;
    }
}

bool lower_binary(Lower *l, int32_t number, Operand a, Operand b, Operand *out)
{
    const BinaryInfo *info = &binary_info[number];
    int64_t times;
    if (number == NB_ADD && type_is_plain_tuple(a.type) && type_is_plain_tuple(b.type))
        return concatenate(l, a, b, out);
    if (number == NB_MULTIPLY && type_is_plain_tuple(a.type) && operand_const_int(b, &times) && times <= 1024)
        return repeat_tuple(l, a, times, out);
    if (type_is_vector(a.type) || type_is_vector(b.type))
        return lower_vector_binary(l, number, info->text, a, b, out);
    if (type_is_time(a.type) || type_is_time(b.type))
        return lower_time_binary(l, number, info->text, a, b, out);
    if (operand_is_text(a))
        return lower_text_binary(l, number, a, b, out);
    if (!type_is_scalar(a.type) || !type_is_scalar(b.type) || number == NB_MATRIX_MULTIPLY)
        return lower_refuse_operands(l, info->text, a, b, "");
    if (number == NB_POWER && !(a.constant && b.constant))
        return lower_power(l, a, b, out);
    const Type *type = promote_pair(l, info->promotion, a, b);
    if (!type)
        return lower_refuse_operands(l, info->text, a, b, "");
    const Constant *folded = a.constant && b.constant ? fold_binary(l, number, a.constant, b.constant, type) : NULL;
    if (folded) {
        *out = (Operand){.type = type, .constant = folded, .weak = a.weak & b.weak};
        return true;
    }
    if (number == NB_POWER)
        return lower_power(l, a, b, out);
    Operand x, y;
    if (!lower_convert(l, a, type, &x) || !lower_convert(l, b, type, &y))
        return false;
    emit_zero_check(l, operand_ir(l, y), zero_division_text(number, type));
    *out = operand_value(type, emit_of2(l, info->op, type, x, y));
    out->weak = a.weak & b.weak;
    return true;
}

/* --- comparisons -------------------------------------------------------------------------------------------------- */

/* The type in which two numbers are compared. numba compares int64 with uint64 as floats, and so do we. */
static const Type *comparison_type(const Type *a, const Type *b)
{
    if (type_equal(a, b))
        return a;
    if (a->kind == TYPE_BOOL && type_is_integer(b))
        return b;
    if (b->kind == TYPE_BOOL && type_is_integer(a))
        return a;
    if (type_is_integer(a) && type_is_integer(b) && a->kind != b->kind) {
        const Type *unsigned_side = a->kind == TYPE_UINT ? a : b;
        return unsigned_side->size == 8 ? TYPE_OF(FLOAT64) : TYPE_OF(INT64);
    }
    return type_promote(PROMOTION_ARITHMETIC, a, b);
}

static bool compare_scalars(Lower *l, int32_t number, Operand a, Operand b, Operand *out)
{
    bool equality = number == COMPARE_EQ || number == COMPARE_NE;
    PromotionId rule = equality ? PROMOTION_EQUALITY : PROMOTION_ORDER;
    if (!type_promote(rule, a.type, b.type))
        return lower_refuse_operands(l, compare_info[number].text, a, b, "");
    const Type *narrow = narrow_pair(l, PROMOTION_ORDER, a, b);
    const Type *type = narrow ? narrow : comparison_type(weak_type(a, b), weak_type(b, a));
    Operand x, y;
    if (!lower_convert(l, a, type, &x) || !lower_convert(l, b, type, &y))
        return false;
    *out = operand_value(TYPE_OF(BOOL), emit_of2(l, compare_info[number].op, TYPE_OF(BOOL), x, y));
    return true;
}

/* Equality of tuples: all items; order: the first items that differ decide. */
static bool compare_tuples(Lower *l, int32_t number, Operand a, Operand b, Operand *out)
{
    uint32_t shared = a.type->count < b.type->count ? a.type->count : b.type->count;
    bool equality = number == COMPARE_EQ || number == COMPARE_NE;
    if (equality && a.type->count != b.type->count) {
        *out = operand_bool(l, number == COMPARE_NE);
        return true;
    }
    Operand result = operand_bool(l, fold_order(number, a.type->count < b.type->count, a.type->count == b.type->count));
    int32_t strict = number == COMPARE_LE ? COMPARE_LT : number == COMPARE_GE ? COMPARE_GT : number;
    for (uint32_t i = shared; i-- > 0;) {
        Operand x = lower_tuple_item(l, a, i), y = lower_tuple_item(l, b, i), same, decided;
        if (!lower_compare(l, COMPARE_EQ, x, y, &same) || !lower_compare(l, strict, x, y, &decided))
            return false;
        if (!l->emitting) {
            result = operand_value(TYPE_OF(BOOL), NULL);
            continue;
        }
        IrValue *chosen = emit_of3(l, IR_SELECT, TYPE_OF(BOOL), same, result, decided);
        result = operand_value(TYPE_OF(BOOL), chosen);
    }
    *out = result;
    return true;
}

bool lower_compare(Lower *l, int32_t number, Operand a, Operand b, Operand *out)
{
    bool equality = number == COMPARE_EQ || number == COMPARE_NE;
    if (equality && (is_chars(a) || is_chars(b)))
        return lower_chars_equal(l, a, b, number == COMPARE_NE, out);
    if (equality && (type_is_enum(a.type) || type_is_enum(b.type)))
        return lower_enum_equal(l, a, b, number == COMPARE_NE, out);
    if (type_is_time(a.type) || type_is_time(b.type))
        return lower_time_compare(l, number, compare_info[number].text, compare_info[number].op, a, b, out);
    if (a.constant && b.constant) {
        const Constant *folded = fold_compare(l, number, a.constant, b.constant);
        if (folded) {
            *out = (Operand){.type = TYPE_OF(BOOL), .constant = folded};
            return true;
        }
    }
    if (type_is_scalar(a.type) && type_is_scalar(b.type))
        return compare_scalars(l, number, a, b, out);
    bool vectors = equality && type_is_vector(a.type) && type_is_vector(b.type);
    if (vectors || (type_is_plain_tuple(a.type) && type_is_plain_tuple(b.type)))
        return compare_tuples(l, number, a, b, out);
    return lower_refuse_operands(l, compare_info[number].text, a, b, "");
}

/* type(x) is int, and the like */
static bool is_pythons_name(Operand type, Operand name)
{
    if (!operand_is_object(type, CONSTANT_TYPE))
        return false;
    switch (operand_intrinsic(name)) {
    case INTRINSIC_INT: return type_is_integer(type.constant->type);
    case INTRINSIC_FLOAT: return type_equal(type.constant->type, TYPE_OF(FLOAT64));
    case INTRINSIC_COMPLEX: return type_equal(type.constant->type, TYPE_OF(COMPLEX128));
    case INTRINSIC_BOOL: return type.constant->type->kind == TYPE_BOOL;
    default: return false;
    }
}

bool lower_is(Lower *l, Operand a, Operand b, bool negated, Operand *out)
{
    bool none = a.type->kind == TYPE_NONE || b.type->kind == TYPE_NONE;
    if (none && (type_is_optional(a.type) || type_is_optional(b.type))) {
        Operand present = lower_tuple_item(l, type_is_optional(a.type) ? a : b, 0);
        return negated ? (*out = present, true) : lower_unary(l, SSA_NOT, present, out);
    }
    if (none) {
        *out = operand_bool(l, type_equal(a.type, b.type) != negated);
        return true;
    }
    if (type_is_enum(a.type) || type_is_enum(b.type))
        return lower_enum_equal(l, a, b, negated, out);
    if (a.type->kind == TYPE_OBJECT || b.type->kind == TYPE_OBJECT) {
        bool same = type_equal(a.type, b.type) || is_pythons_name(a, b) || is_pythons_name(b, a);
        *out = operand_bool(l, same != negated);
        return true;
    }
    if (a.type->kind == TYPE_BOOL && b.type->kind == TYPE_BOOL)
        return lower_compare(l, negated ? COMPARE_NE : COMPARE_EQ, a, b, out);
    return lower_refuse_operands(l, negated ? "is not" : "is", a, b, "; compare with == instead");
}

/* --- unary operators ---------------------------------------------------------------------------------------------- */

static const Constant *fold_negative(Lower *l, const Constant *a, const Type *type)
{
    if (is_whole(a) && !a->is_unsigned && a->integer != INT64_MIN && type_equal(type, TYPE_OF(INT64)))
        return operand_int(l, -a->integer).constant;
    if (a->kind == CONSTANT_FLOAT)
        return operand_float(l, type, -a->real).constant;
    return NULL;
}

static bool lower_not(Lower *l, Operand a, Operand *out)
{
    Operand truth;
    if (!lower_truth(l, a, &truth))
        return false;
    if (truth.constant)
        *out = operand_bool(l, !truth.constant->integer);
    else
        *out = operand_value(TYPE_OF(BOOL), emit1(l, IR_NOT, TYPE_OF(BOOL), truth.ir));
    return true;
}

bool lower_unary(Lower *l, SsaOp op, Operand a, Operand *out)
{
    if (op == SSA_NOT)
        return lower_not(l, a, out);
    if (type_is_vector(a.type))
        return lower_vector_unary(l, op, a, out);
    if (a.type->kind == TYPE_TIMEDELTA && op != SSA_INVERT)
        return lower_time_unary(l, op, a, out);
    const char *text = op == SSA_NEGATIVE ? "unary -" : op == SSA_POSITIVE ? "unary +" : "unary ~";
    const Type *type = NULL;
    if (type_is_scalar(a.type))
        type = type_promote(op == SSA_INVERT ? PROMOTION_INVERT : PROMOTION_NEGATE, a.type, NULL);
    if (!type)
        return lower_fail(l, DIAG_TYPE_OPERANDS, text, lower_describe(l, a.type), "");
    type = narrow_alone(l, a) ? narrow_alone(l, a) : type;
    const Constant *folded = op == SSA_NEGATIVE && a.constant ? fold_negative(l, a.constant, type) : NULL;
    if (folded) {
        *out = (Operand){.type = type, .constant = folded, .weak = a.weak};
        return true;
    }
    IrOp ir_op = op == SSA_NEGATIVE ? IR_NEG : IR_NOT;
    /* In its own width, as numba does: ~uint8(0) is 255, -int8(-128) is -128; only -int16(-32768) is exact there. */
    bool is_exact = op == SSA_NEGATIVE && type_equal(a.type, TYPE_OF(INT16));
    if (op != SSA_POSITIVE && type_is_integer(a.type) && !is_exact) {
        Operand narrow = operand_value(a.type, emit1(l, ir_op, a.type, operand_ir(l, a)));
        return lower_convert(l, narrow, type, out);
    }
    if (!lower_convert(l, a, type, out))
        return false;
    if (op != SSA_POSITIVE)
        *out = operand_value(type, emit1(l, ir_op, type, operand_ir(l, *out)));
    out->weak = a.weak;
    return true;
}
