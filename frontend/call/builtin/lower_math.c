/* Mathematical functions: typing by promotion.def; those that are one intrinsic, and those made of a few operations. */
#include <math.h>
#include <string.h>

#include "frontend/call/handlers.h"
#include "frontend/call/builtin/lower_math.h"
#include "frontend/engine.h"
#include "frontend/value/arguments.h"
#include "frontend/value/lower_convert.h"
#include "frontend/value/lower_operator.h"
#include "frontend/value/kind/lower_tuple.h"

static const double PI = 3.14159265358979323846;

IrValue *emit_math_function(Lower *l, IntrinsicId id, const Type *type, uint32_t count, IrValue *const *operands)
{
    if (!type_is_half(type))
        return emit_intrinsic(l, id, type, count, operands);
    IrValue *wide[4];
    for (uint32_t i = 0; i < count; i++)
        wide[i] = emit1(l, IR_CONVERT, TYPE_OF(FLOAT32), operands[i]);
    return emit1(l, IR_CONVERT, type, emit_intrinsic(l, id, TYPE_OF(FLOAT32), count, wide));
}

/* Operands converted to one type, as IR. */
static bool convert_all(Lower *l, const Call *call, const Type *type, IrValue **out)
{
    for (uint32_t i = 0; i < call->count; i++) {
        Operand converted;
        if (!lower_convert(l, call->arguments[i], type, &converted))
            return false;
        out[i] = operand_ir(l, converted);
    }
    return true;
}

static bool all_scalars(const Call *call)
{
    for (uint32_t i = 0; i < call->count; i++)
        if (!type_is_scalar(call->arguments[i].type))
            return false;
    return call->keyword_count == 0;
}

static const Type *promote_arguments(const Call *call, PromotionId rule)
{
    if (!all_scalars(call) || call->count < 1 || call->count > 2)
        return NULL;
    if (call->count == 1)
        return type_promote(rule, call->arguments[0].type, NULL);
    Operand a = call->arguments[0], b = call->arguments[1];
    return type_promote(rule, weak_type(a, b), rule == PROMOTION_LDEXP ? b.type : weak_type(b, a));
}

/* Functions of two numbers that have no form for float16 and bfloat16 take them as float32. */
static const Type *promote_halves(Lower *l, const Call *call, PromotionId rule)
{
    Operand *wide = ARENA_ARRAY(l->arena, Operand, call->count);
    for (uint32_t i = 0; i < call->count; i++) {
        wide[i] = call->arguments[i];
        if (wide[i].type && type_is_half(wide[i].type))
            wide[i].type = TYPE_OF(FLOAT32);
    }
    Call widened = *call;
    widened.arguments = wide;
    return promote_arguments(&widened, rule);
}

bool call_math(Lower *l, const Call *call, Operand *out)
{
    const IntrinsicInfo *info = &intrinsic_info[call->intrinsic];
    if (!call_arity(l, call, (uint32_t)info->arity, (uint32_t)info->arity))
        return false;
    const Type *type = promote_arguments(call, info->promotion);
    if (!type && call->intrinsic != INTRINSIC_NEXTAFTER)
        type = promote_halves(l, call, info->promotion);
    IrValue *operands[4];
    if (!type)
        return call_refuse(l, call, "");
    if (!convert_all(l, call, type, operands))
        return false;
    *out = operand_value(type, emit_math_function(l, call->intrinsic, type, call->count, operands));
    return true;
}

/* Of more than two numbers: the length so far and the next one. */
bool call_hypot(Lower *l, const Call *call, Operand *out)
{
    if (!call_arity(l, call, 2, 255))
        return false;
    *out = call->arguments[0];
    for (uint32_t i = 1; i < call->count; i++) {
        Operand both[2] = {*out, call->arguments[i]};
        Call pair = *call;
        pair.count = 2;
        pair.arguments = both;
        if (!call_math(l, &pair, out))
            return false;
    }
    return true;
}

/* --- composed functions ------------------------------------------------------------------------------------------- */

/* log(x, base) is log(x) / log(base). */
bool call_log(Lower *l, const Call *call, Operand *out)
{
    if (!call_arity(l, call, 1, 2))
        return false;
    Operand logs[2] = {0};
    for (uint32_t i = 0; i < call->count; i++) {
        const Type *x = call->arguments[i].type;
        const Type *type = type_is_scalar(x) ? type_promote(PROMOTION_MATH, x, NULL) : NULL;
        Operand converted;
        if (!type)
            return call_refuse(l, call, "");
        if (!lower_convert(l, call->arguments[i], type, &converted))
            return false;
        IrValue *value = operand_ir(l, converted);
        logs[i] = operand_value(type, emit_math_function(l, INTRINSIC_LOG_NATURAL, type, 1, &value));
    }
    *out = logs[0];
    return call->count == 1 || lower_binary(l, NB_TRUE_DIVIDE, logs[0], logs[1], out);
}

/* Tests of a float; every other number is finite. */
bool call_test(Lower *l, const Call *call, Operand *out)
{
    if (!call_arity(l, call, 1, 1))
        return false;
    Operand x = call->arguments[0];
    if (!type_is_scalar(x.type) || !type_promote(PROMOTION_MATH_TEST, x.type, NULL))
        return call_refuse(l, call, "");
    if (x.type->kind != TYPE_FLOAT)
        return *out = operand_bool(l, call->intrinsic == INTRINSIC_ISFINITE), true;
    const Type *boolean = TYPE_OF(BOOL);
    IrValue *value = operand_ir(l, x);
    if (call->intrinsic == INTRINSIC_ISNAN)
        return *out = operand_value(boolean, emit2(l, IR_NE, boolean, value, value)), true;
    IrValue *size = emit1(l, IR_ABS, x.type, value);
    IrValue *infinity = l->emitting ? ir_const_float(l->block, x.type, INFINITY, 0, &l->value->pos) : NULL;
    IrOp op = call->intrinsic == INTRINSIC_ISINF ? IR_EQ : IR_LT;
    return *out = operand_value(boolean, emit2(l, op, boolean, size, infinity)), true;
}

/* x * factor, the factor rounded to the result's type as CUDA programs have it. */
bool call_angle(Lower *l, const Call *call, Operand *out)
{
    bool to_degrees = call->intrinsic == INTRINSIC_DEGREES;
    if (!call_arity(l, call, 1, 1))
        return false;
    const Type *type = promote_arguments(call, PROMOTION_MATH_WIDE);
    Operand converted;
    if (!type)
        return call_refuse(l, call, "");
    if (!lower_convert(l, call->arguments[0], type, &converted))
        return false;
    Operand factor = operand_float(l, type, to_degrees ? 180.0 / PI : PI / 180.0);
    if (type->size == 4)
        factor = operand_float(l, type, (float)factor.constant->real);
    *out = operand_value(type, emit_of2(l, IR_MUL, type, converted, factor));
    return true;
}

bool call_ldexp(Lower *l, const Call *call, Operand *out)
{
    if (!call_arity(l, call, 2, 2))
        return false;
    const Type *type = promote_arguments(call, PROMOTION_LDEXP);
    Operand x, exponent;
    if (!type)
        return call_refuse(l, call, "");
    if (!lower_convert(l, call->arguments[0], type, &x) ||
        !lower_convert(l, call->arguments[1], TYPE_OF(INT32), &exponent))
        return false;
    IrValue *operands[2] = {operand_ir(l, x)};
    operands[1] = operand_ir(l, exponent);
    *out = operand_value(type, emit_intrinsic(l, INTRINSIC_LDEXP_SCALE, type, 2, operands));
    return true;
}

/* The only argument as a float. */
static bool real_argument(Lower *l, const Call *call, const Type **type, IrValue **value)
{
    Operand converted;
    *type = promote_arguments(call, PROMOTION_MATH_WIDE);
    if (!*type || call->count != 1)
        return call_refuse(l, call, "");
    if (!lower_convert(l, call->arguments[0], *type, &converted))
        return false;
    return *value = operand_ir(l, converted), true;
}

bool call_frexp(Lower *l, const Call *call, Operand *out)
{
    const Type *type;
    IrValue *value;
    Operand parts[2];
    if (!real_argument(l, call, &type, &value))
        return false;
    parts[0] = operand_value(type, emit_intrinsic(l, INTRINSIC_FREXP_FRACTION, type, 1, &value));
    parts[1] = operand_value(TYPE_OF(INT32), emit_intrinsic(l, INTRINSIC_FREXP_EXPONENT, TYPE_OF(INT32), 1, &value));
    return *out = lower_make_tuple(l, parts, 2, TUPLE_PLAIN), true;
}

/* Fraction and integer part, both with x's sign; the fraction of an infinity is 0. */
bool call_modf(Lower *l, const Call *call, Operand *out)
{
    const Type *type;
    IrValue *value;
    Operand parts[2];
    if (!real_argument(l, call, &type, &value))
        return false;
    IrValue *zero = operand_ir(l, operand_float(l, type, 0));
    IrValue *infinity = operand_ir(l, operand_float(l, type, INFINITY));
    IrValue *whole = emit_math_function(l, INTRINSIC_TRUNC, type, 1, &value);
    IrValue *is_infinite = emit2(l, IR_EQ, TYPE_OF(BOOL), emit1(l, IR_ABS, type, value), infinity);
    IrValue *rest = emit3(l, IR_SELECT, type, is_infinite, zero, emit2(l, IR_SUB, type, value, whole));
    IrValue *signed_rest[] = {rest, value};
    parts[0] = operand_value(type, emit_math_function(l, INTRINSIC_COPYSIGN, type, 2, signed_rest));
    parts[1] = operand_value(type, whole);
    return *out = lower_make_tuple(l, parts, 2, TUPLE_PLAIN), true;
}

/* a * b + c in the float type of all three, else in float64. */
bool call_fma(Lower *l, const Call *call, Operand *out)
{
    if (!call_arity(l, call, 3, 3) || !all_scalars(call))
        return diag_failed(l->diag) ? false : call_refuse(l, call, "");
    const Type *type = NULL;
    for (uint32_t i = 0; i < 3; i++) {
        const Operand *operand = &call->arguments[i];
        if (operand->weak)
            continue;
        bool fits = operand->type->kind == TYPE_FLOAT && (!type || type_equal(type, operand->type));
        type = fits ? operand->type : TYPE_OF(FLOAT64);
    }
    if (!type)
        type = TYPE_OF(FLOAT64);
    IrValue *operands[3];
    if (!convert_all(l, call, type, operands))
        return false;
    return *out = operand_value(type, emit(l, IR_FMA, type, 3, operands)), true;
}

/* Arguments become what the C function takes; several results are a tuple. */
bool call_libdevice(Lower *l, const Call *call, Operand *out)
{
    IntrinsicSignature signature = intrinsic_signature(call->intrinsic);
    IrValue *operands[4];
    if (!call_arity(l, call, signature.argument_count, signature.argument_count))
        return false;
    for (uint32_t i = 0; i < call->count; i++) {
        Operand converted;
        if (!type_is_real(call->arguments[i].type))
            return call_refuse(l, call, "");
        if (!lower_convert(l, call->arguments[i], signature.arguments[i], &converted))
            return false;
        operands[i] = operand_ir(l, converted);
    }
    const Type *type = signature.results[0];
    if (signature.result_count > 1)
        type = type_tuple(l->arena, signature.results, signature.result_count, TUPLE_PLAIN);
    return *out = operand_value(type, emit_intrinsic(l, call->intrinsic, type, call->count, operands)), true;
}
