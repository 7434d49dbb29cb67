/* Integer intrinsics of a GPU: by the names that NVPTX has for them, or in operations that both devices turn into good code. */
#include "codegen/emit.h"
#include "codegen/emit_tools.h"
#include "codegen/op/value/integer_emit.h"
#include "codegen/op/value/parts.h"

static bool is_signed(const IrValue *value, uint32_t operand)
{
    return value->operands[operand]->type->kind == TYPE_INT;
}

static bool on_gpu(const Emitter *emitter) { return emitter->target->kind == TARGET_NVPTX; }

static LLVMValueRef widen(Emitter *emitter, LLVMValueRef x, bool with_sign)
{
    unsigned bits = LLVMGetIntTypeWidth(LLVMTypeOf(x)) * 2;
    return LLVMBuildIntCast2(emitter->builder, x, LLVMIntTypeInContext(emitter->context, bits), with_sign, "");
}

static LLVMValueRef constant_like(LLVMValueRef x, uint64_t number)
{
    return LLVMConstInt(LLVMTypeOf(x), number, false);
}

/* --- bytes ---------------------------------------------------------------------------------------------------------------- */

/* Byte i of the result: the one of x and y that nibble i of the selector names; its sign alone where the nibble is above 7. */
static LLVMValueRef permuted_byte(Emitter *emitter, LLVMValueRef both, LLVMValueRef selector, unsigned i)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef nibble = LLVMBuildLShr(builder, selector, constant_like(selector, 4 * i), "");
    LLVMValueRef place = LLVMBuildShl(builder, LLVMBuildAnd(builder, nibble, constant_like(nibble, 7), ""),
                                      constant_like(nibble, 3), "");
    LLVMValueRef shifted = LLVMBuildLShr(builder, both, LLVMBuildZExt(builder, place, emitter->i64, ""), "");
    LLVMValueRef byte = LLVMBuildTrunc(builder, shifted, emitter->i8, "");
    LLVMValueRef sign = LLVMBuildAShr(builder, byte, constant_like(byte, 7), "");
    LLVMValueRef wants_sign = LLVMBuildAnd(builder, nibble, constant_like(nibble, 8), "");
    wants_sign = LLVMBuildICmp(builder, LLVMIntNE, wants_sign, constant_like(nibble, 0), "");
    byte = LLVMBuildZExt(builder, LLVMBuildSelect(builder, wants_sign, sign, byte, ""), emitter->i32, "");
    return LLVMBuildShl(builder, byte, const_i32(emitter, (int32_t)(8 * i)), "");
}

LLVMValueRef permute_bytes(Emitter *emitter, LLVMValueRef *x)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef low = widen(emitter, x[0], false), high = widen(emitter, x[1], false);
    LLVMValueRef both = LLVMBuildOr(builder, low, LLVMBuildShl(builder, high, const_i64(emitter, 32), ""), "");
    LLVMValueRef result = const_i32(emitter, 0);
    for (unsigned i = 0; i < 4; i++)
        result = LLVMBuildOr(builder, result, permuted_byte(emitter, both, x[2], i), "");
    return result;
}

static LLVMValueRef byte_perm(Emitter *emitter, LLVMValueRef *x)
{
    return on_gpu(emitter) ? call_llvm(emitter, "llvm.nvvm.prmt", NULL, 3, x) : permute_bytes(emitter, x);
}

/* The part of x with that many bits, number `index` from below, as an i32. */
static LLVMValueRef part_of(Emitter *emitter, LLVMValueRef x, unsigned bits, unsigned index, bool with_sign)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMTypeRef narrow = LLVMIntTypeInContext(emitter->context, bits);
    LLVMValueRef part = LLVMBuildLShr(builder, x, const_i32(emitter, (int32_t)(bits * index)), "");
    return LLVMBuildIntCast2(builder, LLVMBuildTrunc(builder, part, narrow, ""), emitter->i32, with_sign, "");
}

/* c plus the products of `count` parts of a with bytes of b, from byte `first` on. */
static LLVMValueRef dot_product(Emitter *emitter, const IrValue *value, LLVMValueRef *x, unsigned count, unsigned first)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef sum = x[2];
    for (unsigned i = 0; i < count; i++) {
        LLVMValueRef a = part_of(emitter, x[0], 32 / count, i, is_signed(value, 0));
        LLVMValueRef b = part_of(emitter, x[1], 8, first + i, is_signed(value, 1));
        sum = LLVMBuildAdd(builder, sum, LLVMBuildMul(builder, a, b, ""), "");
    }
    return sum;
}

static const char *dot_name(Emitter *emitter, const IrValue *value, unsigned count)
{
    return arena_format(emitter->arena, "llvm.nvvm.idp%ua.%c.%c", count, is_signed(value, 0) ? 's' : 'u',
                        is_signed(value, 1) ? 's' : 'u');
}

static LLVMValueRef dp4a(Emitter *emitter, const IrValue *value, LLVMValueRef *x)
{
    return on_gpu(emitter) ? call_llvm(emitter, dot_name(emitter, value, 4), NULL, 3, x)
                           : dot_product(emitter, value, x, 4, 0);
}

static LLVMValueRef dp2a(Emitter *emitter, const IrValue *value, LLVMValueRef *x)
{
    bool is_high = value->intrinsic == INTRINSIC_CUDA_DP2A_HI;
    LLVMValueRef arguments[4] = {x[0], x[1], LLVMConstInt(emitter->i1, is_high, false), x[2]};
    return on_gpu(emitter) ? call_llvm(emitter, dot_name(emitter, value, 2), NULL, 4, arguments)
                           : dot_product(emitter, value, x, 2, is_high ? 2 : 0);
}

/* --- shifts and products ---------------------------------------------------------------------------------------------------- */

/* Of the 64 bits (high, low), 32: the upper ones after a shift to the left, the lower ones after one to the right. */
static LLVMValueRef funnel_shift(Emitter *emitter, IntrinsicId id, LLVMValueRef *x)
{
    LLVMBuilderRef builder = emitter->builder;
    bool is_left = id == INTRINSIC_CUDA_FUNNELSHIFT_L || id == INTRINSIC_CUDA_FUNNELSHIFT_LC;
    bool is_clamped = id == INTRINSIC_CUDA_FUNNELSHIFT_LC || id == INTRINSIC_CUDA_FUNNELSHIFT_RC;
    LLVMValueRef arguments[3] = {x[1], x[0], x[2]};
    LLVMValueRef shifted = call_llvm(emitter, is_left ? "llvm.fshl" : "llvm.fshr", emitter->i32, 3, arguments);
    if (!is_clamped)
        return shifted;
    LLVMValueRef is_whole = LLVMBuildICmp(builder, LLVMIntUGE, x[2], const_i32(emitter, 32), "");
    return LLVMBuildSelect(builder, is_whole, is_left ? x[0] : x[1], shifted, "");
}

LLVMValueRef multiply_high(Emitter *emitter, bool with_sign, LLVMValueRef *x)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef a = widen(emitter, x[0], with_sign), b = widen(emitter, x[1], with_sign);
    LLVMValueRef product = LLVMBuildMul(builder, a, b, "");
    unsigned bits = LLVMGetIntTypeWidth(LLVMTypeOf(x[0]));
    return LLVMBuildTrunc(builder, LLVMBuildLShr(builder, product, constant_like(product, bits), ""), LLVMTypeOf(x[0]),
                          "");
}

/* The lower 24 bits of each, with the sign of bit 23 where the type has one. */
static LLVMValueRef multiply_24(Emitter *emitter, const IrValue *value, LLVMValueRef *x)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMTypeRef narrow = LLVMIntTypeInContext(emitter->context, 24);
    LLVMValueRef parts[2];
    for (uint32_t i = 0; i < 2; i++)
        parts[i] = LLVMBuildIntCast2(builder, LLVMBuildTrunc(builder, x[i], narrow, ""), emitter->i32,
                                     is_signed(value, i), "");
    return LLVMBuildMul(builder, parts[0], parts[1], "");
}

/* --- differences and averages ---------------------------------------------------------------------------------------------- */

LLVMValueRef sum_of_difference(Emitter *emitter, bool with_sign, LLVMValueRef *x)
{
    LLVMBuilderRef builder = emitter->builder;
    const char *greater = with_sign ? "llvm.smax" : "llvm.umax";
    const char *smaller = with_sign ? "llvm.smin" : "llvm.umin";
    LLVMValueRef high = call_llvm(emitter, greater, LLVMTypeOf(x[0]), 2, x);
    LLVMValueRef low = call_llvm(emitter, smaller, LLVMTypeOf(x[0]), 2, x);
    return LLVMBuildAdd(builder, LLVMBuildSub(builder, high, low, ""), x[2], "");
}

static LLVMValueRef average(Emitter *emitter, const IrValue *value, LLVMValueRef *x, bool round_up)
{
    LLVMBuilderRef builder = emitter->builder;
    bool with_sign = is_signed(value, 0);
    LLVMValueRef a = widen(emitter, x[0], with_sign), b = widen(emitter, x[1], with_sign);
    LLVMValueRef sum = LLVMBuildAdd(builder, a, b, "");
    if (round_up)
        sum = LLVMBuildAdd(builder, sum, constant_like(sum, 1), "");
    return LLVMBuildTrunc(builder, LLVMBuildAShr(builder, sum, constant_like(sum, 1), ""), LLVMTypeOf(x[0]), "");
}

bool emit_integer_intrinsic(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    LLVMValueRef x[3];
    for (uint32_t i = 0; i < value->operand_count && i < 3; i++)
        x[i] = part_count(value->operands[i]->type) ? operand_scalar(emitter, value, i) : NULL;
    switch (value->intrinsic) {
    case INTRINSIC_CUDA_BYTE_PERM: out[0] = byte_perm(emitter, x); return true;
    case INTRINSIC_CUDA_DP4A: out[0] = dp4a(emitter, value, x); return true;
    case INTRINSIC_CUDA_DP2A_LO:
    case INTRINSIC_CUDA_DP2A_HI: out[0] = dp2a(emitter, value, x); return true;
    case INTRINSIC_CUDA_FUNNELSHIFT_L:
    case INTRINSIC_CUDA_FUNNELSHIFT_R:
    case INTRINSIC_CUDA_FUNNELSHIFT_LC:
    case INTRINSIC_CUDA_FUNNELSHIFT_RC: out[0] = funnel_shift(emitter, value->intrinsic, x); return true;
    case INTRINSIC_CUDA_MULHI: out[0] = multiply_high(emitter, is_signed(value, 0), x); return true;
    case INTRINSIC_CUDA_MUL24: out[0] = multiply_24(emitter, value, x); return true;
    case INTRINSIC_CUDA_SAD: out[0] = sum_of_difference(emitter, is_signed(value, 0), x); return true;
    case INTRINSIC_CUDA_HADD: out[0] = average(emitter, value, x, false); return true;
    case INTRINSIC_CUDA_RHADD: out[0] = average(emitter, value, x, true); return true;
    default: return false;
    }
}
