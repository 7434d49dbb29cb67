/* float16 and bfloat16 beside wider numbers: every conversion is rounded once. LLVM converts float16 by itself. For bfloat16
 * it would call functions that a CPU's library may lack, and older GPUs have no instructions, so there it is done on bits. */
#include "codegen/emit.h"
#include "codegen/emit_tools.h"
#include "codegen/op/value/parts.h"
#include "codegen/op/value/small_float.h"

static bool is_bfloat(LLVMTypeRef type) { return LLVMGetTypeKind(type) == LLVMBFloatTypeKind; }

static LLVMTypeRef i16_type(Emitter *emitter) { return LLVMInt16TypeInContext(emitter->context); }

static LLVMValueRef magnitude(Emitter *emitter, LLVMValueRef x)
{
    return call_llvm(emitter, "llvm.fabs", LLVMTypeOf(x), 1, &x);
}

bool has_bfloat_instructions(const Emitter *emitter)
{
    return emitter->target->kind == TARGET_NVPTX && emitter->target->gpu->sm >= 80 && !emitter->for_llvm7;
}

/* A bfloat16 is the upper half of a float32. */
static LLVMValueRef widen_bfloat(Emitter *emitter, LLVMValueRef in)
{
    LLVMBuilderRef builder = emitter->builder;
    if (has_bfloat_instructions(emitter))
        return LLVMBuildFPExt(builder, in, emitter->f32, "");
    LLVMValueRef bits = LLVMBuildBitCast(builder, in, i16_type(emitter), "");
    bits = LLVMBuildShl(builder, LLVMBuildZExt(builder, bits, emitter->i32, ""), const_i32(emitter, 16), "");
    return LLVMBuildBitCast(builder, bits, emitter->f32, "");
}

/* Halves go to the even neighbour; NaN keeps its upper bits and becomes quiet. */
static LLVMValueRef narrow_to_bfloat(Emitter *emitter, LLVMValueRef in)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMTypeRef bfloat = part_type(emitter, TYPE_OF(BFLOAT16));
    if (has_bfloat_instructions(emitter))
        return LLVMBuildFPTrunc(builder, in, bfloat, "");
    LLVMValueRef sixteen = const_i32(emitter, 16), bits = LLVMBuildBitCast(builder, in, emitter->i32, "");
    LLVMValueRef upper = LLVMBuildLShr(builder, bits, sixteen, "");
    LLVMValueRef odd = LLVMBuildAnd(builder, upper, const_i32(emitter, 1), "");
    LLVMValueRef raised = LLVMBuildAdd(builder, bits, LLVMBuildAdd(builder, odd, const_i32(emitter, 0x7fff), ""), "");
    LLVMValueRef quiet = LLVMBuildOr(builder, upper, const_i32(emitter, 0x40), "");
    LLVMValueRef is_nan = LLVMBuildFCmp(builder, LLVMRealUNO, in, in, "");
    LLVMValueRef result = LLVMBuildSelect(builder, is_nan, quiet, LLVMBuildLShr(builder, raised, sixteen, ""), "");
    return LLVMBuildBitCast(builder, LLVMBuildTrunc(builder, result, i16_type(emitter), ""), bfloat, "");
}

/* A float64 as a float32 whose last bit is 1 where it is not exact: rounding that once more rounds the float64 once. */
static LLVMValueRef round_to_odd(Emitter *emitter, LLVMValueRef in)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef narrow = LLVMBuildFPTrunc(builder, in, emitter->f32, "");
    LLVMValueRef back = LLVMBuildFPExt(builder, narrow, emitter->f64, "");
    LLVMValueRef bits = LLVMBuildBitCast(builder, narrow, emitter->i32, "");
    LLVMValueRef found = magnitude(emitter, back), wanted = magnitude(emitter, in);
    LLVMValueRef away = LLVMBuildFCmp(builder, LLVMRealOGT, found, wanted, "");
    LLVMValueRef lower = LLVMBuildSub(builder, bits, LLVMBuildZExt(builder, away, emitter->i32, ""), "");
    LLVMValueRef odd = LLVMBuildOr(builder, lower, const_i32(emitter, 1), "");
    LLVMValueRef is_inexact = LLVMBuildFCmp(builder, LLVMRealONE, back, in, "");
    bits = LLVMBuildSelect(builder, is_inexact, odd, bits, "");
    return LLVMBuildBitCast(builder, bits, emitter->f32, "");
}

LLVMValueRef float_cast(Emitter *emitter, LLVMValueRef in, LLVMTypeRef to)
{
    if (LLVMTypeOf(in) == to)
        return in;
    if (is_bfloat(LLVMTypeOf(in)))
        in = widen_bfloat(emitter, in);
    if (!is_bfloat(to))
        return LLVMBuildFPCast(emitter->builder, in, to, "");
    in = LLVMTypeOf(in) == emitter->f64 ? round_to_odd(emitter, in)
                                        : LLVMBuildFPCast(emitter->builder, in, emitter->f32, "");
    return narrow_to_bfloat(emitter, in);
}

/* --- integers ------------------------------------------------------------------------------------------------------- */

enum { DOUBLE_BITS = 53 };

/* A 64-bit integer whose conversion to float64 is exact and which lies on the same side of every bfloat16 and of the middle
 * of two: the bits that float64 lacks become one. */
static LLVMValueRef with_sticky_bit(Emitter *emitter, LLVMValueRef in, bool is_signed)
{
    LLVMBuilderRef builder = emitter->builder;
    enum { LOST = 64 - DOUBLE_BITS };
    LLVMValueRef mask = const_i64(emitter, (1 << LOST) - 1), zero = const_i64(emitter, 0);
    LLVMValueRef lost = LLVMBuildICmp(builder, LLVMIntNE, LLVMBuildAnd(builder, in, mask, ""), zero, "");
    LLVMValueRef sticky =
        LLVMBuildShl(builder, LLVMBuildZExt(builder, lost, emitter->i64, ""), const_i64(emitter, LOST), "");
    LLVMValueRef kept = LLVMBuildAnd(builder, in, LLVMBuildNot(builder, mask, ""), "");
    LLVMValueRef offset = const_i64(emitter, is_signed ? 1ll << DOUBLE_BITS : 0);
    LLVMValueRef limit = const_i64(emitter, is_signed ? 2ll << DOUBLE_BITS : 1ll << DOUBLE_BITS);
    LLVMValueRef is_small = LLVMBuildICmp(builder, LLVMIntULE, LLVMBuildAdd(builder, in, offset, ""), limit, "");
    return LLVMBuildSelect(builder, is_small, in, LLVMBuildOr(builder, kept, sticky, ""), "");
}

LLVMValueRef integer_to_float(Emitter *emitter, LLVMValueRef in, bool is_signed, LLVMTypeRef to)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMTypeRef wide = is_bfloat(to) ? emitter->f64 : to;
    if (is_bfloat(to) && LLVMGetIntTypeWidth(LLVMTypeOf(in)) == 64)
        in = with_sticky_bit(emitter, in, is_signed);
    LLVMValueRef number = is_signed ? LLVMBuildSIToFP(builder, in, wide, "") : LLVMBuildUIToFP(builder, in, wide, "");
    return float_cast(emitter, number, to);
}

/* --- fused multiply and add ------------------------------------------------------------------------------------------- */

/* a + b in float64, rounded to odd: the error of the rounded sum is found without another one. */
static LLVMValueRef add_to_odd(Emitter *emitter, LLVMValueRef a, LLVMValueRef b)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef sum = LLVMBuildFAdd(builder, a, b, ""), part = LLVMBuildFSub(builder, sum, a, "");
    LLVMValueRef of_a = LLVMBuildFSub(builder, a, LLVMBuildFSub(builder, sum, part, ""), "");
    LLVMValueRef error = LLVMBuildFAdd(builder, of_a, LLVMBuildFSub(builder, b, part, ""), "");
    LLVMValueRef zero = LLVMConstNull(emitter->f64), bits = LLVMBuildBitCast(builder, sum, emitter->i64, "");
    LLVMValueRef is_inexact = LLVMBuildFCmp(builder, LLVMRealONE, error, zero, "");
    LLVMValueRef too_large = LLVMBuildFCmp(builder, LLVMRealOLT, error, zero, "");
    too_large = LLVMBuildXor(builder, too_large, LLVMBuildFCmp(builder, LLVMRealOLT, sum, zero, ""), "");
    LLVMValueRef lower = LLVMBuildSub(builder, bits, LLVMBuildZExt(builder, too_large, emitter->i64, ""), "");
    LLVMValueRef odd = LLVMBuildOr(builder, lower, const_i64(emitter, 1), "");
    return LLVMBuildBitCast(builder, LLVMBuildSelect(builder, is_inexact, odd, bits, ""), emitter->f64, "");
}

LLVMValueRef small_fma(Emitter *emitter, LLVMTypeRef type, LLVMValueRef *arguments)
{
    LLVMValueRef wide[3];
    for (uint32_t i = 0; i < 3; i++)
        wide[i] = float_cast(emitter, arguments[i], emitter->f64);
    LLVMValueRef product = LLVMBuildFMul(emitter->builder, wide[0], wide[1], "");
    return float_cast(emitter, add_to_odd(emitter, product, wide[2]), type);
}
