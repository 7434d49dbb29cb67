/* ** : floats through the math library, integer exponents by repeated squaring, unrolled where they are constant. */
#include "codegen/emit.h"
#include "codegen/emit_tools.h"
#include "codegen/op/arithmetic.h"
#include "codegen/op/complex_arithmetic.h"
#include "codegen/op/intrinsic_emit.h"
#include "codegen/op/value/parts.h"
#include "codegen/op/value/small_float.h"

enum { LARGEST_UNROLLED = 64, LARGEST_SQUARED = 65536 };

static void multiply(Emitter *emitter, const Type *type, const LLVMValueRef *a, const LLVMValueRef *b,
                     LLVMValueRef *out)
{
    if (type->kind == TYPE_COMPLEX)
        complex_multiply(emitter, a, b, out);
    else if (type->kind == TYPE_FLOAT)
        out[0] = float_multiply(emitter, a[0], b[0]);
    else
        out[0] = LLVMBuildMul(emitter->builder, a[0], b[0], "");
}

static void set_one(Emitter *emitter, const Type *type, LLVMValueRef *out)
{
    LLVMTypeRef part = part_type(emitter, type);
    out[0] =
        type->kind == TYPE_FLOAT || type->kind == TYPE_COMPLEX ? LLVMConstReal(part, 1) : LLVMConstInt(part, 1, false);
    if (type->kind == TYPE_COMPLEX)
        out[1] = LLVMConstNull(part);
}

/* An integer has no inverse but 1 and -1: others give 0, and 0 gives the smallest number, as numba does. */
static LLVMValueRef integer_inverse(Emitter *emitter, const Type *type, LLVMValueRef base, LLVMValueRef power)
{
    LLVMTypeRef part = part_type(emitter, type);
    LLVMValueRef zero = LLVMConstNull(part);
    LLVMValueRef smallest = LLVMConstInt(part, 1ull << (type_bits(type) - 1), false);
    LLVMValueRef is_unit = LLVMBuildICmp(emitter->builder, LLVMIntEQ, base, LLVMConstInt(part, 1, false), "");
    if (type->kind == TYPE_INT)
        is_unit = LLVMBuildOr(emitter->builder, is_unit,
                              LLVMBuildICmp(emitter->builder, LLVMIntEQ, base, LLVMConstAllOnes(part), ""), "");
    LLVMValueRef is_zero = LLVMBuildICmp(emitter->builder, LLVMIntEQ, base, zero, "");
    LLVMValueRef other = LLVMBuildSelect(emitter->builder, is_zero, smallest, zero, "");
    return LLVMBuildSelect(emitter->builder, is_unit, power, other, "");
}

/* base ** -n from base ** n. */
static void invert(Emitter *emitter, const Type *type, const LLVMValueRef *base, const LLVMValueRef *power,
                   LLVMValueRef *out)
{
    LLVMValueRef one[2];
    set_one(emitter, type, one);
    if (type->kind == TYPE_COMPLEX)
        complex_divide(emitter, one, power, out);
    else if (type->kind == TYPE_FLOAT)
        out[0] = float_divide(emitter, one[0], power[0]);
    else
        out[0] = integer_inverse(emitter, type, base[0], power[0]);
}

static void unrolled_power(Emitter *emitter, const Type *type, const LLVMValueRef *base, int64_t exponent,
                           LLVMValueRef *out)
{
    LLVMValueRef square[2] = {base[0], type->kind == TYPE_COMPLEX ? base[1] : NULL};
    bool is_first = true;
    set_one(emitter, type, out);
    for (int64_t left = exponent < 0 ? -exponent : exponent; left; left >>= 1) {
        if (left & 1 && is_first)
            out[0] = square[0], out[part_count(type) - 1] = square[part_count(type) - 1];
        else if (left & 1)
            multiply(emitter, type, out, square, out);
        is_first = is_first && !(left & 1);
        if (left > 1)
            multiply(emitter, type, square, square, square);
    }
    if (exponent < 0)
        invert(emitter, type, base, out, out);
}

/* The loop over the exponent's bits: blocks head (phis), body, done. */
static void looped_power(Emitter *emitter, const Type *type, const LLVMValueRef *base, LLVMValueRef count,
                         LLVMValueRef *out)
{
    LLVMBuilderRef builder = emitter->builder;
    uint32_t parts = part_count(type);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(builder), head = new_block(emitter), body = new_block(emitter),
                      done = new_block(emitter);
    LLVMValueRef one[2], square[2], product[2], next_square[2], next[2];
    set_one(emitter, type, one);
    LLVMBuildBr(builder, head);
    LLVMPositionBuilderAtEnd(builder, head);
    LLVMValueRef left = LLVMBuildPhi(builder, emitter->i64, "");
    for (uint32_t i = 0; i < parts; i++) {
        square[i] = LLVMBuildPhi(builder, part_type(emitter, type), "");
        out[i] = LLVMBuildPhi(builder, part_type(emitter, type), "");
    }
    LLVMValueRef more = LLVMBuildICmp(builder, LLVMIntNE, left, const_i64(emitter, 0), "");
    LLVMBuildCondBr(builder, more, body, done);
    LLVMPositionBuilderAtEnd(builder, body);
    LLVMValueRef odd = LLVMBuildTrunc(builder, left, emitter->i1, "");
    multiply(emitter, type, out, square, product);
    multiply(emitter, type, square, square, next_square);
    LLVMValueRef next_left = LLVMBuildLShr(builder, left, const_i64(emitter, 1), "");
    for (uint32_t i = 0; i < parts; i++)
        next[i] = LLVMBuildSelect(builder, odd, product[i], out[i], "");
    LLVMBasicBlockRef body_end = LLVMGetInsertBlock(builder);
    LLVMBuildBr(builder, head);
    LLVMAddIncoming(left, (LLVMValueRef[]){count, next_left}, (LLVMBasicBlockRef[]){before, body_end}, 2);
    for (uint32_t i = 0; i < parts; i++) {
        LLVMAddIncoming(square[i], (LLVMValueRef[]){base[i], next_square[i]}, (LLVMBasicBlockRef[]){before, body_end},
                        2);
        LLVMAddIncoming(out[i], (LLVMValueRef[]){one[i], next[i]}, (LLVMBasicBlockRef[]){before, body_end}, 2);
    }
    LLVMPositionBuilderAtEnd(builder, done);
}

static void squared_power(Emitter *emitter, const Type *type, const LLVMValueRef *base, LLVMValueRef number,
                          bool is_signed, LLVMValueRef *out)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef negative = LLVMBuildICmp(builder, LLVMIntSLT, number, const_i64(emitter, 0), "");
    LLVMValueRef count =
        is_signed ? LLVMBuildSelect(builder, negative, LLVMBuildNeg(builder, number, ""), number, "") : number;
    LLVMValueRef inverse[2];
    looped_power(emitter, type, base, count, out);
    if (!is_signed)
        return;
    invert(emitter, type, base, out, inverse);
    for (uint32_t i = 0; i < part_count(type); i++)
        out[i] = LLVMBuildSelect(builder, negative, inverse[i], out[i], "");
}

/* Squaring loses a bit every few steps: large exponents of a float go through pow. */
static LLVMValueRef float_power(Emitter *emitter, const Type *type, LLVMValueRef base, LLVMValueRef number,
                                bool is_signed)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMTypeRef part = part_type(emitter, type);
    LLVMBasicBlockRef small = new_block(emitter), large = new_block(emitter), done = new_block(emitter), ends[2];
    LLVMValueRef values[2], shifted = number;
    if (is_signed)
        shifted = LLVMBuildAdd(builder, number, const_i64(emitter, LARGEST_SQUARED), "");
    int64_t bound = is_signed ? 2 * LARGEST_SQUARED : LARGEST_SQUARED;
    LLVMBuildCondBr(builder, LLVMBuildICmp(builder, LLVMIntULE, shifted, const_i64(emitter, bound), ""), small, large);
    LLVMPositionBuilderAtEnd(builder, small);
    squared_power(emitter, type, &base, number, is_signed, &values[0]);
    ends[0] = LLVMGetInsertBlock(builder);
    LLVMBuildBr(builder, done);
    LLVMPositionBuilderAtEnd(builder, large);
    LLVMValueRef both[2] = {base, is_signed ? LLVMBuildSIToFP(builder, number, part, "")
                                            : LLVMBuildUIToFP(builder, number, part, "")};
    values[1] = emit_math(emitter, INTRINSIC_MATH_POW, type, 2, both);
    ends[1] = LLVMGetInsertBlock(builder);
    LLVMBuildBr(builder, done);
    LLVMPositionBuilderAtEnd(builder, done);
    LLVMValueRef result = LLVMBuildPhi(builder, part, "");
    LLVMAddIncoming(result, values, ends, 2);
    return result;
}

static void variable_power(Emitter *emitter, const Type *type, const LLVMValueRef *base, const IrValue *exponent,
                           LLVMValueRef *out)
{
    bool is_signed = exponent->type->kind == TYPE_INT;
    LLVMValueRef number =
        LLVMBuildIntCast2(emitter->builder, emitter->parts[exponent->id][0], emitter->i64, is_signed, "");
    if (type->kind == TYPE_FLOAT)
        out[0] = float_power(emitter, type, base[0], number, is_signed);
    else
        squared_power(emitter, type, base, number, is_signed, out);
}

/* base ** exponent by repeated squaring; exponent: an integer. */
static void integer_power(Emitter *emitter, const Type *type, const LLVMValueRef *base, const IrValue *exponent,
                          LLVMValueRef *out)
{
    bool is_small = exponent->op == IR_CONST && exponent->integer <= LARGEST_UNROLLED &&
                    exponent->integer >= (exponent->type->kind == TYPE_INT ? -LARGEST_UNROLLED : 0);
    if (is_small)
        unrolled_power(emitter, type, base, exponent->integer, out);
    else
        variable_power(emitter, type, base, exponent, out);
}

void emit_op_POWI(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    LLVMValueRef *base = operand_parts(emitter, value, 0);
    if (!type_is_half(value->type)) {
        integer_power(emitter, value->type, base, value->operands[1], out);
        return;
    }
    LLVMValueRef wide = float_cast(emitter, base[0], emitter->f32), result;
    integer_power(emitter, TYPE_OF(FLOAT32), &wide, value->operands[1], &result);
    out[0] = float_cast(emitter, result, part_type(emitter, value->type));
}

void emit_op_POW(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    LLVMValueRef *a = operand_parts(emitter, value, 0), *b = operand_parts(emitter, value, 1);
    LLVMValueRef both[2] = {a[0], b[0]};
    if (value->type->kind == TYPE_COMPLEX)
        complex_power(emitter, value->type, a, b, out);
    else if (value->type->kind == TYPE_FLOAT)
        out[0] = emit_math(emitter, INTRINSIC_MATH_POW, value->type, 2, both);
    else
        integer_power(emitter, value->type, a, value->operands[1], out);
}
