/* What libdevice's code asks of a GPU's instructions, on the host: calls of llvm.nvvm.OPERATION[.ROUNDING][.ftz][.TYPE], and
 * PTX written inline, become LLVM's own operations with the same results, so that a function of libdevice has the same
 * values on both devices. Approximate instructions are computed well: their last bits are the GPU's own. */
#include <fenv.h>
#include <stdio.h>
#include <string.h>

#include "codegen/emit.h"

enum { MOST_OPERANDS = 4 };

typedef enum Rounding { ROUND_NEAREST, ROUND_ZERO, ROUND_DOWN, ROUND_UP } Rounding;

typedef struct Leaf {
    const char *operation; /* "add", "f2i", with what follows */
    Rounding rounding;
    bool flushes; /* denormal float32 operands and results are zero */
    bool is_approximate;
    LLVMTypeRef type; /* of the result */
} Leaf;

typedef LLVMValueRef (*Lowering)(Emitter *emitter, const Leaf *leaf, LLVMValueRef *x);

/* Whether one of the words behind the name's dots is this one. */
static bool has_word(const char *name, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = name; (at = strchr(at, '.')); at++)
        if (!strncmp(at + 1, word, length) && strcspn(at + 1, ". ") == length)
            return true;
    return false;
}

/* --- small things ------------------------------------------------------------------------------------------------------------ */

static LLVMValueRef call_float(Emitter *emitter, const char *name, LLVMValueRef x)
{
    return call_llvm(emitter, name, LLVMTypeOf(x), 1, &x);
}

static LLVMValueRef call_float2(Emitter *emitter, const char *name, LLVMValueRef x, LLVMValueRef y)
{
    LLVMValueRef both[2] = {x, y};
    return call_llvm(emitter, name, LLVMTypeOf(x), 2, both);
}

static LLVMValueRef flushed(Emitter *emitter, LLVMValueRef x)
{
    if (LLVMTypeOf(x) != emitter->f32)
        return x;
    LLVMValueRef size = call_float(emitter, "llvm.fabs", x), smallest = LLVMConstReal(emitter->f32, 0x1p-126);
    LLVMValueRef is_denormal = LLVMBuildFCmp(emitter->builder, LLVMRealOLT, size, smallest, "");
    LLVMValueRef zero = call_float2(emitter, "llvm.copysign", LLVMConstNull(emitter->f32), x);
    return LLVMBuildSelect(emitter->builder, is_denormal, zero, x, "");
}

/* A function of host_rounding.c, which takes the mode last. */
static LLVMValueRef call_rounded(Emitter *emitter, const Leaf *leaf, const char *operation, uint32_t count,
                                 LLVMValueRef *x)
{
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    LLVMValueRef arguments[4];
    memcpy(arguments, x, count * sizeof *x);
    arguments[count] = const_i32(emitter, modes[leaf->rounding]);
    const char *symbol =
        arena_format(emitter->arena, "rounded_%s_%s", operation, leaf->type == emitter->f64 ? "f64" : "f32");
    return call_pure(emitter, symbol, leaf->type, count + 1, arguments);
}

/* --- arithmetic ---------------------------------------------------------------------------------------------------------------- */

static LLVMValueRef lower_add(Emitter *emitter, const Leaf *leaf, LLVMValueRef *x)
{
    return leaf->rounding ? call_rounded(emitter, leaf, "add", 2, x) : LLVMBuildFAdd(emitter->builder, x[0], x[1], "");
}

static LLVMValueRef lower_sub(Emitter *emitter, const Leaf *leaf, LLVMValueRef *x)
{
    LLVMValueRef sum[2] = {x[0], LLVMBuildFNeg(emitter->builder, x[1], "")};
    return lower_add(emitter, leaf, sum);
}

static LLVMValueRef lower_mul(Emitter *emitter, const Leaf *leaf, LLVMValueRef *x)
{
    return leaf->rounding ? call_rounded(emitter, leaf, "mul", 2, x) : LLVMBuildFMul(emitter->builder, x[0], x[1], "");
}

static LLVMValueRef lower_div(Emitter *emitter, const Leaf *leaf, LLVMValueRef *x)
{
    return leaf->rounding ? call_rounded(emitter, leaf, "div", 2, x) : LLVMBuildFDiv(emitter->builder, x[0], x[1], "");
}

static LLVMValueRef lower_fma(Emitter *emitter, const Leaf *leaf, LLVMValueRef *x)
{
    return leaf->rounding ? call_rounded(emitter, leaf, "fma", 3, x) : call_llvm(emitter, "llvm.fma", leaf->type, 3, x);
}

static LLVMValueRef lower_sqrt(Emitter *emitter, const Leaf *leaf, LLVMValueRef *x)
{
    return leaf->rounding ? call_rounded(emitter, leaf, "sqrt", 1, x) : call_float(emitter, "llvm.sqrt", x[0]);
}

/* The upper half of a float64's bits, the lower half zero; denormal numbers are zero. */
static LLVMValueRef upper_half(Emitter *emitter, LLVMValueRef bits)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef exponent = LLVMBuildAnd(builder, bits, const_i64(emitter, 0x7ffll << 52), "");
    LLVMValueRef is_small = LLVMBuildICmp(builder, LLVMIntEQ, exponent, const_i64(emitter, 0), "");
    LLVMValueRef sign = LLVMBuildAnd(builder, bits, const_i64(emitter, INT64_MIN), "");
    LLVMValueRef upper = LLVMBuildAnd(builder, bits, const_i64(emitter, (int64_t)0xffffffff00000000), "");
    return LLVMBuildSelect(builder, is_small, sign, upper, "");
}

static LLVMValueRef rounded_upper_half(Emitter *emitter, LLVMValueRef x)
{
    LLVMValueRef bits = LLVMBuildBitCast(emitter->builder, x, emitter->i64, "");
    bits = upper_half(emitter, LLVMBuildAdd(emitter->builder, bits, const_i64(emitter, 0x80000000), ""));
    return LLVMBuildBitCast(emitter->builder, bits, emitter->f64, "");
}

/* The approximate forms for float64 that flush: they look at the upper half of the operand and fill the upper half of the
 * result. */
static bool is_rough(Emitter *emitter, const Leaf *leaf)
{
    return leaf->is_approximate && leaf->flushes && leaf->type == emitter->f64;
}

static LLVMValueRef rough_operand(Emitter *emitter, LLVMValueRef x)
{
    LLVMValueRef bits = upper_half(emitter, LLVMBuildBitCast(emitter->builder, x, emitter->i64, ""));
    return LLVMBuildBitCast(emitter->builder, bits, emitter->f64, "");
}

static LLVMValueRef lower_rcp(Emitter *emitter, const Leaf *leaf, LLVMValueRef *x)
{
    bool rough = is_rough(emitter, leaf);
    LLVMValueRef quotient[2] = {LLVMConstReal(leaf->type, 1), rough ? rough_operand(emitter, x[0]) : x[0]};
    LLVMValueRef result = lower_div(emitter, leaf, quotient);
    return rough ? rounded_upper_half(emitter, result) : result;
}

/* Of a float32 in float64: there only the last rounding counts. */
static LLVMValueRef lower_rsqrt(Emitter *emitter, const Leaf *leaf, LLVMValueRef *x)
{
    LLVMBuilderRef builder = emitter->builder;
    bool rough = is_rough(emitter, leaf);
    LLVMValueRef wide = rough ? rough_operand(emitter, x[0]) : LLVMBuildFPCast(builder, x[0], emitter->f64, "");
    LLVMValueRef root = call_float(emitter, "llvm.sqrt", wide);
    LLVMValueRef result = LLVMBuildFDiv(builder, LLVMConstReal(emitter->f64, 1), root, "");
    return rough ? rounded_upper_half(emitter, result) : LLVMBuildFPCast(builder, result, leaf->type, "");
}

/* --- functions of one float ---------------------------------------------------------------------------------------------------- */

static LLVMValueRef lower_floor(Emitter *emitter, const Leaf *leaf, LLVMValueRef *x)
{
    (void)leaf;
    return call_float(emitter, "llvm.floor", x[0]);
}

static LLVMValueRef lower_ceil(Emitter *emitter, const Leaf *leaf, LLVMValueRef *x)
{
    (void)leaf;
    return call_float(emitter, "llvm.ceil", x[0]);
}

static LLVMValueRef lower_trunc(Emitter *emitter, const Leaf *leaf, LLVMValueRef *x)
{
    (void)leaf;
    return call_float(emitter, "llvm.trunc", x[0]);
}

static LLVMValueRef lower_round(Emitter *emitter, const Leaf *leaf, LLVMValueRef *x)
{
    (void)leaf;
    return call_float(emitter, "llvm.roundeven", x[0]);
}

static LLVMValueRef lower_fabs(Emitter *emitter, const Leaf *leaf, LLVMValueRef *x)
{
    (void)leaf;
    return call_float(emitter, "llvm.fabs", x[0]);
}

static LLVMValueRef lower_ex2(Emitter *emitter, const Leaf *leaf, LLVMValueRef *x)
{
    (void)leaf;
    return call_float(emitter, "llvm.exp2", x[0]);
}

static LLVMValueRef lower_lg2(Emitter *emitter, const Leaf *leaf, LLVMValueRef *x)
{
    (void)leaf;
    return call_float(emitter, "llvm.log2", x[0]);
}

static LLVMValueRef lower_sin(Emitter *emitter, const Leaf *leaf, LLVMValueRef *x)
{
    (void)leaf;
    return call_float(emitter, "llvm.sin", x[0]);
}

static LLVMValueRef lower_cos(Emitter *emitter, const Leaf *leaf, LLVMValueRef *x)
{
    (void)leaf;
    return call_float(emitter, "llvm.cos", x[0]);
}

/* NaN becomes 0. */
static LLVMValueRef lower_saturate(Emitter *emitter, const Leaf *leaf, LLVMValueRef *x)
{
    LLVMValueRef positive = call_float2(emitter, "llvm.maximumnum", x[0], LLVMConstNull(leaf->type));
    return call_float2(emitter, "llvm.minimumnum", positive, LLVMConstReal(leaf->type, 1));
}

static LLVMValueRef lower_fmin(Emitter *emitter, const Leaf *leaf, LLVMValueRef *x)
{
    return call_llvm(emitter, "llvm.minimumnum", leaf->type, 2, x);
}

static LLVMValueRef lower_fmax(Emitter *emitter, const Leaf *leaf, LLVMValueRef *x)
{
    return call_llvm(emitter, "llvm.maximumnum", leaf->type, 2, x);
}

/* --- conversions: "f2ull", "ui2d", "d2i" -------------------------------------------------------------------------------------- */

/* Out of range the nearest number. NaN is the smallest signed number, but 0 where only 32 bits are involved. */
static LLVMValueRef lower_to_integer(Emitter *emitter, const Leaf *leaf, LLVMValueRef *x)
{
    static const char *const roundings[] = {"llvm.roundeven", "llvm.trunc", "llvm.floor", "llvm.ceil"};
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef whole = call_float(emitter, roundings[leaf->rounding], x[0]);
    LLVMTypeRef overloads[2] = {leaf->type, LLVMTypeOf(x[0])};
    const char *name = leaf->operation[2] == 'u' ? "llvm.fptoui.sat" : "llvm.fptosi.sat";
    LLVMValueRef result = call_llvm_overloaded(emitter, name, overloads, 2, 1, &whole);
    if (leaf->type == emitter->i32 && overloads[1] == emitter->f32)
        return result;
    LLVMValueRef smallest = LLVMConstInt(leaf->type, 1ull << (LLVMGetIntTypeWidth(leaf->type) - 1), false);
    return LLVMBuildSelect(builder, LLVMBuildFCmp(builder, LLVMRealUNO, x[0], x[0], ""), smallest, result, "");
}

static LLVMValueRef lower_from_integer(Emitter *emitter, const Leaf *leaf, LLVMValueRef *x)
{
    bool is_unsigned = leaf->operation[0] == 'u';
    LLVMBuilderRef builder = emitter->builder;
    if (!leaf->rounding)
        return is_unsigned ? LLVMBuildUIToFP(builder, x[0], leaf->type, "")
                           : LLVMBuildSIToFP(builder, x[0], leaf->type, "");
    LLVMValueRef wide = LLVMBuildIntCast2(builder, x[0], emitter->i64, !is_unsigned, "");
    return call_rounded(emitter, leaf, is_unsigned ? "u64" : "i64", 1, &wide);
}

static LLVMValueRef lower_d2f(Emitter *emitter, const Leaf *leaf, LLVMValueRef *x)
{
    return leaf->rounding ? call_rounded(emitter, leaf, "f64", 1, x)
                          : LLVMBuildFPTrunc(emitter->builder, x[0], leaf->type, "");
}

static LLVMValueRef lower_f2h(Emitter *emitter, const Leaf *leaf, LLVMValueRef *x)
{
    LLVMValueRef half = LLVMBuildFPTrunc(emitter->builder, x[0], emitter->scalar_types[SCALAR_FLOAT16], "");
    return LLVMBuildBitCast(emitter->builder, half, leaf->type, "");
}

static LLVMValueRef lower_from_half(Emitter *emitter, const Leaf *leaf, LLVMValueRef *x)
{
    LLVMValueRef half = LLVMBuildBitCast(emitter->builder, x[0], emitter->scalar_types[SCALAR_FLOAT16], "");
    return LLVMBuildFPExt(emitter->builder, half, leaf->type, "");
}

static LLVMValueRef lower_half_of_bits(Emitter *emitter, const Leaf *leaf, LLVMValueRef *x)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef bits = LLVMBuildBitCast(builder, x[0], emitter->i64, "");
    if (has_word(leaf->operation, "hi"))
        bits = LLVMBuildLShr(builder, bits, const_i64(emitter, 32), "");
    return LLVMBuildTrunc(builder, bits, emitter->i32, "");
}

/* x: low half, high half. */
static LLVMValueRef lower_of_halves(Emitter *emitter, const Leaf *leaf, LLVMValueRef *x)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef low = LLVMBuildZExt(builder, x[0], emitter->i64, "");
    LLVMValueRef high = LLVMBuildZExt(builder, x[1], emitter->i64, "");
    high = LLVMBuildShl(builder, high, const_i64(emitter, 32), "");
    return LLVMBuildBitCast(builder, LLVMBuildOr(builder, high, low, ""), leaf->type, "");
}

/* --- integers -------------------------------------------------------------------------------------------------------------------- */

static LLVMValueRef lower_mulhi(Emitter *emitter, const Leaf *leaf, LLVMValueRef *x)
{
    LLVMBuilderRef builder = emitter->builder;
    unsigned width = LLVMGetIntTypeWidth(leaf->type);
    LLVMTypeRef wide = LLVMIntTypeInContext(emitter->context, width * 2);
    bool is_signed = !has_word(leaf->operation, "ui") && !has_word(leaf->operation, "ull");
    LLVMValueRef a = LLVMBuildIntCast2(builder, x[0], wide, is_signed, "");
    LLVMValueRef b = LLVMBuildIntCast2(builder, x[1], wide, is_signed, "");
    LLVMValueRef product = LLVMBuildMul(builder, a, b, "");
    return LLVMBuildTrunc(builder, LLVMBuildLShr(builder, product, LLVMConstInt(wide, width, false), ""), leaf->type,
                          "");
}

static LLVMValueRef lower_sad(Emitter *emitter, const Leaf *leaf, LLVMValueRef *x)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMIntPredicate above = has_word(leaf->operation, "ui") ? LLVMIntUGT : LLVMIntSGT;
    LLVMValueRef is_above = LLVMBuildICmp(builder, above, x[0], x[1], "");
    LLVMValueRef difference = LLVMBuildSelect(builder, is_above, LLVMBuildSub(builder, x[0], x[1], ""),
                                              LLVMBuildSub(builder, x[1], x[0], ""), "");
    return LLVMBuildAdd(builder, difference, x[2], "");
}

/* A digit of the selector picks a byte of y:x; its highest bit asks for eight copies of that byte's sign. */
static LLVMValueRef permuted_byte(Emitter *emitter, LLVMValueRef bytes, LLVMValueRef digit)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef place =
        LLVMBuildShl(builder, LLVMBuildAnd(builder, digit, const_i64(emitter, 7), ""), const_i64(emitter, 3), "");
    LLVMValueRef byte = LLVMBuildTrunc(builder, LLVMBuildLShr(builder, bytes, place, ""), emitter->i8, "");
    LLVMValueRef sign = LLVMBuildAShr(builder, byte, LLVMConstInt(emitter->i8, 7, false), "");
    LLVMValueRef wants_sign = LLVMBuildICmp(builder, LLVMIntNE, LLVMBuildAnd(builder, digit, const_i64(emitter, 8), ""),
                                            const_i64(emitter, 0), "");
    return LLVMBuildZExt(builder, LLVMBuildSelect(builder, wants_sign, sign, byte, ""), emitter->i32, "");
}

static LLVMValueRef lower_prmt(Emitter *emitter, const Leaf *leaf, LLVMValueRef *x)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef low = LLVMBuildZExt(builder, x[0], emitter->i64, "");
    LLVMValueRef high =
        LLVMBuildShl(builder, LLVMBuildZExt(builder, x[1], emitter->i64, ""), const_i64(emitter, 32), "");
    LLVMValueRef bytes = LLVMBuildOr(builder, high, low, ""), selector = LLVMBuildZExt(builder, x[2], emitter->i64, "");
    LLVMValueRef result = LLVMConstNull(leaf->type);
    for (int i = 0; i < 4; i++) {
        LLVMValueRef digit = LLVMBuildLShr(builder, selector, const_i64(emitter, 4 * i), "");
        LLVMValueRef byte = permuted_byte(emitter, bytes, digit);
        result = LLVMBuildOr(builder, result, LLVMBuildShl(builder, byte, const_i32(emitter, 8 * i), ""), "");
    }
    return result;
}

/* How far the highest one bit is from the top; -1 for 0. */
static LLVMValueRef lower_bfind(Emitter *emitter, const Leaf *leaf, LLVMValueRef *x)
{
    LLVMValueRef zero = LLVMConstNull(leaf->type), arguments[2] = {x[0], LLVMConstNull(emitter->i1)};
    LLVMValueRef count = call_llvm(emitter, "llvm.ctlz", leaf->type, 2, arguments);
    LLVMValueRef is_zero = LLVMBuildICmp(emitter->builder, LLVMIntEQ, x[0], zero, "");
    return LLVMBuildSelect(emitter->builder, is_zero, LLVMConstAllOnes(leaf->type), count, "");
}

/* --- PTX of several instructions: sums and products twice as wide as their operands ------------------------------------------- */

static LLVMValueRef wide_of_halves(Emitter *emitter, LLVMTypeRef wide, LLVMValueRef *halves)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef width = LLVMConstInt(wide, LLVMGetIntTypeWidth(wide) / 2, false);
    LLVMValueRef high = LLVMBuildShl(builder, LLVMBuildZExt(builder, halves[1], wide, ""), width, "");
    return LLVMBuildOr(builder, high, LLVMBuildZExt(builder, halves[0], wide, ""), "");
}

static LLVMValueRef halves_of_wide(Emitter *emitter, LLVMTypeRef halves, LLVMValueRef wide)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMTypeRef half = LLVMStructGetTypeAtIndex(halves, 0);
    LLVMValueRef width = LLVMConstInt(LLVMTypeOf(wide), LLVMGetIntTypeWidth(half), false);
    LLVMValueRef low = LLVMBuildTrunc(builder, wide, half, "");
    LLVMValueRef high = LLVMBuildTrunc(builder, LLVMBuildLShr(builder, wide, width, ""), half, "");
    LLVMValueRef result = LLVMBuildInsertValue(builder, LLVMGetPoison(halves), low, 0, "");
    return LLVMBuildInsertValue(builder, result, high, 1, "");
}

static LLVMTypeRef wide_type(Emitter *emitter, const Leaf *leaf)
{
    LLVMTypeRef half = LLVMStructGetTypeAtIndex(leaf->type, 0);
    return LLVMIntTypeInContext(emitter->context, LLVMGetIntTypeWidth(half) * 2);
}

static LLVMValueRef lower_wide_add(Emitter *emitter, const Leaf *leaf, LLVMValueRef *x)
{
    LLVMTypeRef wide = wide_type(emitter, leaf);
    LLVMValueRef a = wide_of_halves(emitter, wide, x), b = wide_of_halves(emitter, wide, x + 2);
    return halves_of_wide(emitter, leaf->type, LLVMBuildAdd(emitter->builder, a, b, ""));
}

static LLVMValueRef lower_wide_sub(Emitter *emitter, const Leaf *leaf, LLVMValueRef *x)
{
    LLVMTypeRef wide = wide_type(emitter, leaf);
    LLVMValueRef a = wide_of_halves(emitter, wide, x), b = wide_of_halves(emitter, wide, x + 2);
    return halves_of_wide(emitter, leaf->type, LLVMBuildSub(emitter->builder, a, b, ""));
}

static LLVMValueRef lower_wide_mul(Emitter *emitter, const Leaf *leaf, LLVMValueRef *x)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMTypeRef wide = wide_type(emitter, leaf);
    LLVMValueRef a = LLVMBuildZExt(builder, x[0], wide, ""), b = LLVMBuildZExt(builder, x[1], wide, "");
    return halves_of_wide(emitter, leaf->type, LLVMBuildMul(builder, a, b, ""));
}

static LLVMValueRef lower_wide_mad(Emitter *emitter, const Leaf *leaf, LLVMValueRef *x)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMTypeRef wide = wide_type(emitter, leaf);
    LLVMValueRef a = LLVMBuildZExt(builder, x[0], wide, ""), b = LLVMBuildZExt(builder, x[1], wide, "");
    LLVMValueRef sum =
        LLVMBuildAdd(builder, LLVMBuildMul(builder, a, b, ""), LLVMBuildZExt(builder, x[2], wide, ""), "");
    return halves_of_wide(emitter, leaf->type, sum);
}

static LLVMValueRef lower_select_equal(Emitter *emitter, const Leaf *leaf, LLVMValueRef *x)
{
    (void)leaf;
    LLVMValueRef is_equal = LLVMBuildFCmp(emitter->builder, LLVMRealUEQ, x[0], x[1], "");
    return LLVMBuildSelect(emitter->builder, is_equal, x[2], x[3], "");
}

/* --- all ------------------------------------------------------------------------------------------------------------------------- */

/* The first row whose text the name begins with. */
static const struct {
    const char *start;
    Lowering lowering;
} rows[] = {
    {"add.", lower_add},
    {"mul.", lower_mul},
    {"div.", lower_div},
    {"fma.", lower_fma},
    {"sqrt.", lower_sqrt},
    {"rcp.", lower_rcp},
    {"rsqrt.", lower_rsqrt},
    {"floor.", lower_floor},
    {"ceil.", lower_ceil},
    {"trunc.", lower_trunc},
    {"round.", lower_round},
    {"fabs.", lower_fabs},
    {"ex2.", lower_ex2},
    {"lg2.", lower_lg2},
    {"sin.", lower_sin},
    {"cos.", lower_cos},
    {"saturate.", lower_saturate},
    {"fmin.", lower_fmin},
    {"fmax.", lower_fmax},
    {"d2i.hi", lower_half_of_bits},
    {"d2i.lo", lower_half_of_bits},
    {"lohi.i2d", lower_of_halves},
    {"f2h.", lower_f2h},
    {"d2f.", lower_d2f},
    {"f2i.", lower_to_integer},
    {"f2ui.", lower_to_integer},
    {"f2ll.", lower_to_integer},
    {"f2ull.", lower_to_integer},
    {"d2i.", lower_to_integer},
    {"d2ui.", lower_to_integer},
    {"d2ll.", lower_to_integer},
    {"d2ull.", lower_to_integer},
    {"i2f.", lower_from_integer},
    {"ui2f.", lower_from_integer},
    {"ll2f.", lower_from_integer},
    {"ull2f.", lower_from_integer},
    {"i2d.", lower_from_integer},
    {"ui2d.", lower_from_integer},
    {"ll2d.", lower_from_integer},
    {"ull2d.", lower_from_integer},
    {"mulhi.", lower_mulhi},
    {"sad.", lower_sad},
    {"bfind.shiftamt.u32", lower_bfind},
    {"sub.", lower_sub},
    {"prmt", lower_prmt},
    {"convert.from.fp16.", lower_from_half},
};

/* PTX of several instructions, by what it does first beside declaring and moving, and by its operands. */
static const struct {
    const char *first;
    uint32_t operands;
    Lowering lowering;
} sequences[] = {
    {"add.cc.u32", 4, lower_wide_add},    {"sub.cc.u32", 4, lower_wide_sub},       {"mul.lo.u32", 2, lower_wide_mul},
    {"mad.lo.cc.u32", 3, lower_wide_mad}, {"setp.equ.f64", 4, lower_select_equal},
};

static Lowering find_lowering(const char *operation)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (!strncmp(operation, rows[i].start, strlen(rows[i].start)))
            return rows[i].lowering;
    return NULL;
}

/* The place of a sequence's first instruction that computes. */
static const char *first_instruction(const char *code)
{
    static const char space[] = " \t\n{;";
    code += strspn(code, space);
    while (*code == '.' || !strncmp(code, "mov.", 4)) {
        code += strcspn(code, ";");
        code += strspn(code, space);
    }
    return code;
}

static Lowering find_sequence(const char *code, uint32_t operands)
{
    const char *first = first_instruction(code);
    for (size_t i = 0; i < sizeof sequences / sizeof sequences[0]; i++)
        if (!strncmp(first, sequences[i].first, strlen(sequences[i].first)) && operands == sequences[i].operands)
            return sequences[i].lowering;
    return NULL;
}

static Leaf read_leaf(const char *operation, LLVMValueRef call)
{
    return (Leaf){.operation = operation,
                  .rounding = has_word(operation, "rz")   ? ROUND_ZERO
                              : has_word(operation, "rm") ? ROUND_DOWN
                              : has_word(operation, "rp") ? ROUND_UP
                                                          : ROUND_NEAREST,
                  .flushes = has_word(operation, "ftz"),
                  .is_approximate = has_word(operation, "approx"),
                  .type = LLVMTypeOf(call)};
}

static void replace_call(Emitter *emitter, const char *operation, Lowering lowering, LLVMValueRef call)
{
    Leaf leaf = read_leaf(operation, call);
    LLVMValueRef arguments[MOST_OPERANDS];
    LLVMPositionBuilderBefore(emitter->builder, call);
    for (unsigned i = 0; i < LLVMGetNumArgOperands(call) && i < MOST_OPERANDS; i++) {
        arguments[i] = LLVMGetOperand(call, i);
        if (leaf.flushes)
            arguments[i] = flushed(emitter, arguments[i]);
    }
    LLVMValueRef result = lowering(emitter, &leaf, arguments);
    LLVMReplaceAllUsesWith(call, leaf.flushes ? flushed(emitter, result) : result);
    LLVMInstructionEraseFromParent(call);
}

static bool fail(Emitter *emitter, const char *operation)
{
    return diag_fail(emitter->diag, NULL, DIAG_LLVM,
                     arena_format(emitter->arena, "the CPU device has no '%s'", operation));
}

static bool lower_function_calls(Emitter *emitter, LLVMValueRef function, const char *operation)
{
    Lowering lowering = find_lowering(operation);
    if (!lowering)
        return fail(emitter, operation);
    const char *kept = arena_string(emitter->arena, operation);
    for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetFirstUse(function))
        replace_call(emitter, kept, lowering, LLVMGetUser(use));
    LLVMDeleteFunction(function);
    return true;
}

static bool lower_inline_ptx(Emitter *emitter, LLVMValueRef instruction)
{
    LLVMValueRef called = LLVMIsACallInst(instruction) ? LLVMGetCalledValue(instruction) : NULL;
    if (!called || !LLVMIsAInlineAsm(called))
        return true;
    size_t length;
    const char *code = LLVMGetInlineAsmAsmString(called, &length);
    code = arena_format(emitter->arena, "%.*s", (int)length, code);
    bool is_sequence = code[strspn(code, " \t\n")] == '{';
    Lowering lowering = is_sequence ? find_sequence(code, LLVMGetNumArgOperands(instruction)) : find_lowering(code);
    if (!lowering)
        return fail(emitter, code);
    replace_call(emitter, is_sequence ? first_instruction(code) : code, lowering, instruction);
    return true;
}

static bool lower_function_body(Emitter *emitter, LLVMValueRef function)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef instruction = LLVMGetFirstInstruction(block), next; instruction; instruction = next) {
            next = LLVMGetNextInstruction(instruction);
            if (!lower_inline_ptx(emitter, instruction))
                return false;
        }
    return true;
}

bool lower_nvvm_intrinsics(Emitter *emitter)
{
    static const char *const prefixes[] = {"llvm.nvvm.", "llvm.convert.from."};
    for (LLVMValueRef function = LLVMGetFirstFunction(emitter->module), next; function; function = next) {
        next = LLVMGetNextFunction(function);
        size_t length;
        const char *name = LLVMGetValueName2(function, &length);
        bool is_nvvm = !strncmp(name, prefixes[0], strlen(prefixes[0]));
        if (!is_nvvm && strncmp(name, prefixes[1], strlen(prefixes[1])) != 0) {
            if (!lower_function_body(emitter, function))
                return false;
            continue;
        }
        if (!lower_function_calls(emitter, function, name + (is_nvvm ? strlen(prefixes[0]) : strlen("llvm."))))
            return false;
    }
    return true;
}
