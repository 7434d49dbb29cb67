/* Arithmetic of integers and floats with Python's rules: floor division, signs of remainders, defined division by zero
 * and shifts. What complex numbers do is in complex_arithmetic.c, powers are in power.c. */
#include "codegen/emit.h"
#include "codegen/emit_tools.h"
#include "codegen/op/arithmetic.h"
#include "codegen/op/complex_arithmetic.h"
#include "codegen/op/intrinsic_emit.h"
#include "codegen/op/value/parts.h"
#include "codegen/op/value/small_float.h"

typedef LLVMValueRef (*Build)(LLVMBuilderRef builder, LLVMValueRef a, LLVMValueRef b, const char *name);

/* --- floats --------------------------------------------------------------------------------------------------------------- */

typedef LLVMValueRef (*FloatOperation)(Emitter *emitter, LLVMTypeRef type, LLVMValueRef *arguments);

/* A floating operation: float16 and bfloat16 are computed in float32. count at most 3. */
static LLVMValueRef in_wide_float(Emitter *emitter, const Type *type, FloatOperation operation, uint32_t count,
                                  LLVMValueRef *arguments)
{
    if (!type_is_half(type))
        return operation(emitter, part_type(emitter, type), arguments);
    LLVMValueRef wide[3];
    for (uint32_t i = 0; i < count; i++)
        wide[i] = float_cast(emitter, arguments[i], emitter->f32);
    LLVMValueRef result = operation(emitter, emitter->f32, wide);
    return float_cast(emitter, result, part_type(emitter, type));
}

LLVMValueRef float_add(Emitter *emitter, LLVMValueRef a, LLVMValueRef b)
{
    return with_flags(LLVMBuildFAdd(emitter->builder, a, b, ""), emitter->arithmetic_flags);
}

LLVMValueRef float_subtract(Emitter *emitter, LLVMValueRef a, LLVMValueRef b)
{
    return with_flags(LLVMBuildFSub(emitter->builder, a, b, ""), emitter->arithmetic_flags);
}

LLVMValueRef float_multiply(Emitter *emitter, LLVMValueRef a, LLVMValueRef b)
{
    return with_flags(LLVMBuildFMul(emitter->builder, a, b, ""), emitter->arithmetic_flags);
}

LLVMValueRef float_divide(Emitter *emitter, LLVMValueRef a, LLVMValueRef b)
{
    return with_flags(LLVMBuildFDiv(emitter->builder, a, b, ""), emitter->division_flags);
}

static LLVMValueRef wide_add(Emitter *emitter, LLVMTypeRef type, LLVMValueRef *arguments)
{
    (void)type;
    return float_add(emitter, arguments[0], arguments[1]);
}

static LLVMValueRef wide_subtract(Emitter *emitter, LLVMTypeRef type, LLVMValueRef *arguments)
{
    (void)type;
    return float_subtract(emitter, arguments[0], arguments[1]);
}

static LLVMValueRef wide_multiply(Emitter *emitter, LLVMTypeRef type, LLVMValueRef *arguments)
{
    (void)type;
    return float_multiply(emitter, arguments[0], arguments[1]);
}

static LLVMValueRef wide_divide(Emitter *emitter, LLVMTypeRef type, LLVMValueRef *arguments)
{
    (void)type;
    return float_divide(emitter, arguments[0], arguments[1]);
}

static LLVMValueRef compare_zero(Emitter *emitter, LLVMRealPredicate predicate, LLVMValueRef value)
{
    return LLVMBuildFCmp(emitter->builder, predicate, value, LLVMConstNull(LLVMTypeOf(value)), "");
}

static LLVMValueRef remainder_symbol_call(Emitter *emitter, LLVMTypeRef type, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef arguments[2] = {a, b};
    const Type *scalar = type == emitter->f64 ? TYPE_OF(FLOAT64) : TYPE_OF(FLOAT32);
    return emit_math(emitter, INTRINSIC_FMOD, scalar, 2, arguments);
}

/* A remainder that is not zero and whose sign is not the divisor's. */
static LLVMValueRef wrong_sign(Emitter *emitter, LLVMValueRef remainder, LLVMValueRef divisor)
{
    LLVMValueRef below = compare_zero(emitter, LLVMRealOLT, remainder);
    LLVMValueRef differs = LLVMBuildXor(emitter->builder, below, compare_zero(emitter, LLVMRealOLT, divisor), "");
    return LLVMBuildAnd(emitter->builder, differs, compare_zero(emitter, LLVMRealUNE, remainder), "");
}

static LLVMValueRef float_mod(Emitter *emitter, LLVMTypeRef type, LLVMValueRef *arguments)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef divisor = arguments[1];
    LLVMValueRef remainder = remainder_symbol_call(emitter, type, arguments[0], divisor);
    LLVMValueRef shifted = LLVMBuildFAdd(builder, remainder, divisor, "");
    LLVMValueRef adjusted = LLVMBuildSelect(builder, wrong_sign(emitter, remainder, divisor), shifted, remainder, "");
    LLVMValueRef zero_arguments[2] = {LLVMConstNull(type), divisor};
    LLVMValueRef zero = call_llvm(emitter, "llvm.copysign", type, 2, zero_arguments);
    return LLVMBuildSelect(builder, compare_zero(emitter, LLVMRealUNE, remainder), adjusted, zero, "");
}

/* floor of the exact quotient, made of the remainder as CPython does: a rounded quotient can be one too large. */
static LLVMValueRef float_floordiv(Emitter *emitter, LLVMTypeRef type, LLVMValueRef *arguments)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef a = arguments[0], b = arguments[1];
    LLVMValueRef remainder = remainder_symbol_call(emitter, type, a, b);
    LLVMValueRef quotient = LLVMBuildFDiv(builder, LLVMBuildFSub(builder, a, remainder, ""), b, "");
    LLVMValueRef less = LLVMBuildFSub(builder, quotient, LLVMConstReal(type, 1), "");
    quotient = LLVMBuildSelect(builder, wrong_sign(emitter, remainder, b), less, quotient, "");
    LLVMValueRef floor = call_llvm(emitter, "llvm.floor", type, 1, &quotient);
    LLVMValueRef above =
        LLVMBuildFCmp(builder, LLVMRealOGT, LLVMBuildFSub(builder, quotient, floor, ""), LLVMConstReal(type, 0.5), "");
    LLVMValueRef more = LLVMBuildFAdd(builder, floor, LLVMConstReal(type, 1), "");
    floor = LLVMBuildSelect(builder, above, more, floor, "");
    LLVMValueRef plain = LLVMBuildFDiv(builder, a, b, "");
    LLVMValueRef zero_arguments[2] = {LLVMConstNull(type), plain};
    LLVMValueRef zero = call_llvm(emitter, "llvm.copysign", type, 2, zero_arguments);
    LLVMValueRef result = LLVMBuildSelect(builder, compare_zero(emitter, LLVMRealUNE, quotient), floor, zero, "");
    return LLVMBuildSelect(builder, compare_zero(emitter, LLVMRealOEQ, b), plain, result, "");
}

/* --- integers -------------------------------------------------------------------------------------------------------------- */

typedef struct Division {
    LLVMValueRef by_zero, by_minus_one; /* the latter NULL for unsigned types */
    LLVMValueRef divisor; /* 1 in these cases: the division cannot trap or overflow */
    LLVMValueRef quotient, remainder; /* truncated */
} Division;

static Division divide_integers(Emitter *emitter, bool is_signed, LLVMValueRef a, LLVMValueRef b)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMTypeRef type = LLVMTypeOf(b);
    Division division = {.by_zero = LLVMBuildICmp(builder, LLVMIntEQ, b, LLVMConstNull(type), "")};
    LLVMValueRef special = division.by_zero;
    if (is_signed) {
        division.by_minus_one = LLVMBuildICmp(builder, LLVMIntEQ, b, LLVMConstAllOnes(type), "");
        special = LLVMBuildOr(builder, special, division.by_minus_one, "");
    }
    division.divisor = LLVMBuildSelect(builder, special, LLVMConstInt(type, 1, false), b, "");
    division.quotient =
        is_signed ? LLVMBuildSDiv(builder, a, division.divisor, "") : LLVMBuildUDiv(builder, a, division.divisor, "");
    division.remainder =
        is_signed ? LLVMBuildSRem(builder, a, division.divisor, "") : LLVMBuildURem(builder, a, division.divisor, "");
    return division;
}

/* The remainder is not zero and has the other sign: truncation went up, where floor goes down. */
static LLVMValueRef truncated_up(Emitter *emitter, const Division *division, LLVMValueRef b)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(b));
    LLVMValueRef signs = LLVMBuildXor(builder, division->remainder, b, "");
    LLVMValueRef has_rest = LLVMBuildICmp(builder, LLVMIntNE, division->remainder, zero, "");
    return LLVMBuildAnd(builder, has_rest, LLVMBuildICmp(builder, LLVMIntSLT, signs, zero, ""), "");
}

/* The quotient by -1: 0 where it has no place in the type, as numba gives on a GPU. */
static LLVMValueRef negative_or_zero(Emitter *emitter, LLVMValueRef a)
{
    LLVMTypeRef type = LLVMTypeOf(a);
    LLVMValueRef smallest = LLVMConstInt(type, 1ull << (LLVMGetIntTypeWidth(type) - 1), false);
    LLVMValueRef overflows = LLVMBuildICmp(emitter->builder, LLVMIntEQ, a, smallest, "");
    return LLVMBuildSelect(emitter->builder, overflows, LLVMConstNull(type), LLVMBuildNeg(emitter->builder, a, ""), "");
}

static LLVMValueRef integer_floordiv(Emitter *emitter, bool is_signed, LLVMValueRef a, LLVMValueRef b)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMTypeRef type = LLVMTypeOf(a);
    Division division = divide_integers(emitter, is_signed, a, b);
    LLVMValueRef quotient = division.quotient;
    if (is_signed) {
        LLVMValueRef one_less = LLVMBuildZExt(builder, truncated_up(emitter, &division, b), type, "");
        quotient = LLVMBuildSub(builder, quotient, one_less, "");
        quotient = LLVMBuildSelect(builder, division.by_minus_one, negative_or_zero(emitter, a), quotient, "");
    }
    return LLVMBuildSelect(builder, division.by_zero, LLVMConstNull(type), quotient, "");
}

static LLVMValueRef integer_mod(Emitter *emitter, bool is_signed, LLVMValueRef a, LLVMValueRef b)
{
    LLVMBuilderRef builder = emitter->builder;
    Division division = divide_integers(emitter, is_signed, a, b);
    if (!is_signed)
        return division.remainder;
    LLVMValueRef adjusted = LLVMBuildAdd(builder, division.remainder, b, "");
    return LLVMBuildSelect(builder, truncated_up(emitter, &division, b), adjusted, division.remainder, "");
}

/* By what is above 0. Below 0 the quotient rounded down is ~(~a / b), and the remainder b - 1 less that of ~a: a GPU divides
 * numbers without a sign in less, and those of 64 bits that are words in much less. */
static LLVMValueRef divide_without_sign(Emitter *emitter, bool is_quotient, LLVMValueRef a, LLVMValueRef b)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMTypeRef type = LLVMTypeOf(a);
    LLVMValueRef sign = LLVMBuildAShr(builder, a, LLVMConstInt(type, LLVMGetIntTypeWidth(type) - 1, false), "");
    LLVMValueRef number = LLVMBuildXor(builder, a, sign, "");
    if (is_quotient)
        return LLVMBuildXor(builder, LLVMBuildUDiv(builder, number, b, ""), sign, "");
    LLVMValueRef remainder = LLVMBuildXor(builder, LLVMBuildURem(builder, number, b, ""), sign, "");
    return LLVMBuildAdd(builder, remainder, LLVMBuildAnd(builder, sign, b, ""), "");
}

/* By what is above 0. The remainder's sign says whether truncation went up. */
static LLVMValueRef divide_exactly(Emitter *emitter, const IrValue *value, LLVMValueRef a, LLVMValueRef b)
{
    LLVMBuilderRef builder = emitter->builder;
    bool is_quotient = value->op == IR_FLOORDIV;
    if (value->type->kind == TYPE_UINT)
        return is_quotient ? LLVMBuildUDiv(builder, a, b, "") : LLVMBuildURem(builder, a, b, "");
    if (emitter->target->kind == TARGET_NVPTX)
        return divide_without_sign(emitter, is_quotient, a, b);
    LLVMValueRef remainder = LLVMBuildSRem(builder, a, b, "");
    LLVMValueRef last = LLVMConstInt(LLVMTypeOf(a), type_bits(value->type) - 1, false);
    LLVMValueRef sign = LLVMBuildAShr(builder, remainder, last, "");
    return is_quotient ? LLVMBuildAdd(builder, LLVMBuildSDiv(builder, a, b, ""), sign, "")
                       : LLVMBuildAdd(builder, remainder, LLVMBuildAnd(builder, sign, b, ""), "");
}

/* By a power of two: what is cut off, or left, has the sign that floor division gives it. NULL: by something else. */
static LLVMValueRef divide_by_power(Emitter *emitter, const IrValue *value, LLVMValueRef a, LLVMValueRef b)
{
    LLVMBuilderRef builder = emitter->builder;
    if (!LLVMIsAConstantInt(b) || type_bits(value->type) > 64)
        return NULL;
    LLVMTypeRef type = LLVMTypeOf(b);
    unsigned long long number = LLVMConstIntGetZExtValue(b), highest = 1ull << (type_bits(value->type) - 1);
    if (!number || number & (number - 1) || number == highest)
        return NULL;
    if (value->op == IR_MOD)
        return LLVMBuildAnd(builder, a, LLVMConstInt(type, number - 1, false), "");
    LLVMValueRef count = LLVMConstInt(type, (unsigned)__builtin_ctzll(number), false);
    return value->type->kind == TYPE_INT ? LLVMBuildAShr(builder, a, count, "") : LLVMBuildLShr(builder, a, count, "");
}

static LLVMValueRef divide(Emitter *emitter, const IrValue *value, LLVMValueRef a, LLVMValueRef b)
{
    bool is_signed = value->type->kind == TYPE_INT;
    LLVMValueRef by_power = divide_by_power(emitter, value, a, b);
    if (by_power)
        return by_power;
    if (value->hint == IR_EXACT)
        return divide_exactly(emitter, value, a, b);
    return value->op == IR_MOD ? integer_mod(emitter, is_signed, a, b) : integer_floordiv(emitter, is_signed, a, b);
}

/* --- operations ------------------------------------------------------------------------------------------------------------- */

/* One operation for every kind of number. */
static void emit_binary(Emitter *emitter, const IrValue *value, LLVMValueRef *out, Build integer, FloatOperation wide,
                        LLVMValueRef (*part)(Emitter *, LLVMValueRef, LLVMValueRef))
{
    LLVMValueRef *a = operand_parts(emitter, value, 0), *b = operand_parts(emitter, value, 1);
    LLVMValueRef both[2] = {a[0], b[0]};
    if (value->type->kind == TYPE_FLOAT) {
        out[0] = in_wide_float(emitter, value->type, wide, 2, both);
    } else if (value->type->kind == TYPE_COMPLEX) {
        out[0] = part(emitter, a[0], b[0]);
        out[1] = part(emitter, a[1], b[1]);
    } else {
        out[0] = integer(emitter->builder, a[0], b[0], "");
        if (value->hint == IR_EXACT && LLVMIsABinaryOperator(out[0]))
            LLVMSetNSW(out[0], true);
    }
}

void emit_op_ADD(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    if (value->hint == IR_SATURATES) {
        LLVMValueRef both[2] = {operand_scalar(emitter, value, 0), operand_scalar(emitter, value, 1)};
        const char *name = value->type->kind == TYPE_INT ? "llvm.sadd.sat" : "llvm.uadd.sat";
        out[0] = call_llvm(emitter, name, LLVMTypeOf(both[0]), 2, both);
        return;
    }
    emit_binary(emitter, value, out, LLVMBuildAdd, wide_add, float_add);
}

void emit_op_SUB(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    emit_binary(emitter, value, out, LLVMBuildSub, wide_subtract, float_subtract);
}

void emit_op_MUL(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    if (value->type->kind == TYPE_COMPLEX)
        complex_multiply(emitter, operand_parts(emitter, value, 0), operand_parts(emitter, value, 1), out);
    else
        emit_binary(emitter, value, out, LLVMBuildMul, wide_multiply, float_multiply);
}

void emit_op_DIV(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    LLVMValueRef *a = operand_parts(emitter, value, 0), *b = operand_parts(emitter, value, 1);
    LLVMValueRef both[2] = {a[0], b[0]};
    if (value->type->kind == TYPE_COMPLEX)
        complex_divide(emitter, a, b, out);
    else if (value->type->kind == TYPE_FLOAT)
        out[0] = in_wide_float(emitter, value->type, wide_divide, 2, both);
    else
        out[0] = divide_integers(emitter, value->type->kind == TYPE_INT, a[0], b[0]).quotient;
}

void emit_op_FLOORDIV(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    LLVMValueRef both[2] = {operand_scalar(emitter, value, 0), operand_scalar(emitter, value, 1)};
    out[0] = value->type->kind == TYPE_FLOAT ? in_wide_float(emitter, value->type, float_floordiv, 2, both)
                                             : divide(emitter, value, both[0], both[1]);
}

void emit_op_MOD(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    LLVMValueRef both[2] = {operand_scalar(emitter, value, 0), operand_scalar(emitter, value, 1)};
    out[0] = value->type->kind == TYPE_FLOAT ? in_wide_float(emitter, value->type, float_mod, 2, both)
                                             : divide(emitter, value, both[0], both[1]);
}

static LLVMValueRef shift_count(Emitter *emitter, const IrValue *value)
{
    LLVMTypeRef type = part_type(emitter, value->type);
    return LLVMBuildAnd(emitter->builder, operand_scalar(emitter, value, 1),
                        LLVMConstInt(type, type_bits(value->type) - 1, false), "");
}

void emit_op_SHL(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    out[0] = LLVMBuildShl(emitter->builder, operand_scalar(emitter, value, 0), shift_count(emitter, value), "");
}

void emit_op_SHR(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    LLVMValueRef number = operand_scalar(emitter, value, 0), count = shift_count(emitter, value);
    out[0] = value->type->kind == TYPE_INT ? LLVMBuildAShr(emitter->builder, number, count, "")
                                           : LLVMBuildLShr(emitter->builder, number, count, "");
}

void emit_op_AND(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    out[0] = LLVMBuildAnd(emitter->builder, operand_scalar(emitter, value, 0), operand_scalar(emitter, value, 1), "");
}

void emit_op_OR(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    out[0] = LLVMBuildOr(emitter->builder, operand_scalar(emitter, value, 0), operand_scalar(emitter, value, 1), "");
}

void emit_op_XOR(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    out[0] = LLVMBuildXor(emitter->builder, operand_scalar(emitter, value, 0), operand_scalar(emitter, value, 1), "");
}

static LLVMValueRef negate(Emitter *emitter, LLVMTypeRef type, LLVMValueRef *arguments)
{
    (void)type;
    return LLVMBuildFNeg(emitter->builder, arguments[0], "");
}

static LLVMValueRef magnitude(Emitter *emitter, LLVMTypeRef type, LLVMValueRef *arguments)
{
    return call_llvm(emitter, "llvm.fabs", type, 1, arguments);
}

/* Changes of the sign: LLVM does not do it to a bfloat16 everywhere. */
static LLVMValueRef change_sign(Emitter *emitter, const Type *type, FloatOperation operation, LLVMValueRef argument)
{
    if (type->scalar == SCALAR_BFLOAT16)
        return in_wide_float(emitter, type, operation, 1, &argument);
    return operation(emitter, part_type(emitter, type), &argument);
}

LLVMValueRef float_negate(Emitter *emitter, const Type *type, LLVMValueRef x)
{
    return change_sign(emitter, type, negate, x);
}

void emit_op_NEG(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    LLVMValueRef *parts = operand_parts(emitter, value, 0);
    bool is_integer = type_is_integer(value->type) || value->type->kind == TYPE_BOOL;
    for (uint32_t i = 0; i < part_count(value->type); i++)
        out[i] =
            is_integer ? LLVMBuildNeg(emitter->builder, parts[i], "") : float_negate(emitter, value->type, parts[i]);
}

void emit_op_NOT(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    out[0] = LLVMBuildNot(emitter->builder, operand_scalar(emitter, value, 0), "");
}

void emit_op_ABS(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    LLVMValueRef arguments[2] = {operand_scalar(emitter, value, 0), LLVMConstNull(emitter->i1)};
    LLVMTypeRef type = part_type(emitter, value->type);
    if (value->type->kind == TYPE_FLOAT)
        out[0] = change_sign(emitter, value->type, magnitude, arguments[0]);
    else
        out[0] = value->type->kind == TYPE_INT ? call_llvm(emitter, "llvm.abs", type, 2, arguments) : arguments[0];
}

/* --- bits ----------------------------------------------------------------------------------------------------------------------- */

void emit_op_POPCOUNT(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    LLVMValueRef argument = operand_scalar(emitter, value, 0);
    out[0] = call_llvm(emitter, "llvm.ctpop", part_type(emitter, value->type), 1, &argument);
}

void emit_op_BITREVERSE(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    LLVMValueRef argument = operand_scalar(emitter, value, 0);
    out[0] = call_llvm(emitter, "llvm.bitreverse", part_type(emitter, value->type), 1, &argument);
}

void emit_op_LEADZEROS(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    LLVMValueRef arguments[2] = {operand_scalar(emitter, value, 0), LLVMConstNull(emitter->i1)};
    out[0] = call_llvm(emitter, "llvm.ctlz", part_type(emitter, value->type), 2, arguments);
}

void emit_op_TRAILZEROS(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    LLVMValueRef arguments[2] = {operand_scalar(emitter, value, 0), LLVMConstNull(emitter->i1)};
    out[0] = call_llvm(emitter, "llvm.cttz", part_type(emitter, value->type), 2, arguments);
}

/* --- fused multiply and add ------------------------------------------------------------------------------------------------------- */

static bool has_fma(const Emitter *emitter, const Type *type)
{
    if (type->scalar == SCALAR_BFLOAT16)
        return has_bfloat_instructions(emitter);
    return type->scalar != SCALAR_FLOAT16 || emitter->target->kind == TARGET_NVPTX;
}

void emit_op_FMA(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    LLVMValueRef arguments[3];
    for (uint32_t i = 0; i < 3; i++)
        arguments[i] = operand_scalar(emitter, value, i);
    LLVMTypeRef type = part_type(emitter, value->type);
    out[0] = has_fma(emitter, value->type) ? call_llvm(emitter, "llvm.fma", type, 3, arguments)
                                           : small_fma(emitter, type, arguments);
    with_flags(out[0], emitter->arithmetic_flags);
}
