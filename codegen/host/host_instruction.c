/* What the instructions of a GPU that libdevice uses are in LLVM's own operations, with the same results. Approximate ones are
 * computed well: their last bits are the GPU's own. */
#include <fenv.h>
#include <string.h>

#include "codegen/emit.h"
#include "codegen/emit_tools.h"
#include "codegen/host/object/host_nvvm.h"
#include "codegen/op/value/integer_emit.h"

bool has_word(const char *name, const char *word)
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

LLVMValueRef flushed(Emitter *emitter, LLVMValueRef x)
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

/* --- other functions of floats ---------------------------------------------------------------------------------------------------- */

/* What LLVM has an intrinsic for. */
static LLVMValueRef lower_alike(Emitter *emitter, const Leaf *leaf, LLVMValueRef *x)
{
    return call_llvm(emitter, leaf->llvm, leaf->type, leaf->operand_count, x);
}

/* NaN becomes 0. */
static LLVMValueRef lower_saturate(Emitter *emitter, const Leaf *leaf, LLVMValueRef *x)
{
    LLVMValueRef positive = call_float2(emitter, "llvm.maximumnum", x[0], LLVMConstNull(leaf->type));
    return call_float2(emitter, "llvm.minimumnum", positive, LLVMConstReal(leaf->type, 1));
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

static bool has_unsigned_word(const Leaf *leaf)
{
    return has_word(leaf->operation, "ui") || has_word(leaf->operation, "ull");
}

static LLVMValueRef lower_mulhi(Emitter *emitter, const Leaf *leaf, LLVMValueRef *x)
{
    return multiply_high(emitter, !has_unsigned_word(leaf), x);
}

static LLVMValueRef lower_sad(Emitter *emitter, const Leaf *leaf, LLVMValueRef *x)
{
    return sum_of_difference(emitter, !has_unsigned_word(leaf), x);
}

static LLVMValueRef lower_prmt(Emitter *emitter, const Leaf *leaf, LLVMValueRef *x)
{
    (void)leaf;
    return permute_bytes(emitter, x);
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
    LLVMValueRef product = LLVMBuildMul(builder, a, b, "");
    LLVMValueRef sum = LLVMBuildAdd(builder, product, LLVMBuildZExt(builder, x[2], wide, ""), "");
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
static const InstructionRow rows[] = {
    {"add.", lower_add, NULL},
    {"mul.", lower_mul, NULL},
    {"div.", lower_div, NULL},
    {"fma.", lower_fma, NULL},
    {"sqrt.", lower_sqrt, NULL},
    {"rcp.", lower_rcp, NULL},
    {"rsqrt.", lower_rsqrt, NULL},
    {"floor.", lower_alike, "llvm.floor"},
    {"ceil.", lower_alike, "llvm.ceil"},
    {"trunc.", lower_alike, "llvm.trunc"},
    {"round.", lower_alike, "llvm.roundeven"},
    {"fabs.", lower_alike, "llvm.fabs"},
    {"ex2.", lower_alike, "llvm.exp2"},
    {"lg2.", lower_alike, "llvm.log2"},
    {"sin.", lower_alike, "llvm.sin"},
    {"cos.", lower_alike, "llvm.cos"},
    {"saturate.", lower_saturate, NULL},
    {"fmin.", lower_alike, "llvm.minimumnum"},
    {"fmax.", lower_alike, "llvm.maximumnum"},
    {"d2i.hi", lower_half_of_bits, NULL},
    {"d2i.lo", lower_half_of_bits, NULL},
    {"lohi.i2d", lower_of_halves, NULL},
    {"f2h.", lower_f2h, NULL},
    {"d2f.", lower_d2f, NULL},
    {"f2i.", lower_to_integer, NULL},
    {"f2ui.", lower_to_integer, NULL},
    {"f2ll.", lower_to_integer, NULL},
    {"f2ull.", lower_to_integer, NULL},
    {"d2i.", lower_to_integer, NULL},
    {"d2ui.", lower_to_integer, NULL},
    {"d2ll.", lower_to_integer, NULL},
    {"d2ull.", lower_to_integer, NULL},
    {"i2f.", lower_from_integer, NULL},
    {"ui2f.", lower_from_integer, NULL},
    {"ll2f.", lower_from_integer, NULL},
    {"ull2f.", lower_from_integer, NULL},
    {"i2d.", lower_from_integer, NULL},
    {"ui2d.", lower_from_integer, NULL},
    {"ll2d.", lower_from_integer, NULL},
    {"ull2d.", lower_from_integer, NULL},
    {"mulhi.", lower_mulhi, NULL},
    {"sad.", lower_sad, NULL},
    {"bfind.shiftamt.u32", lower_bfind, NULL},
    {"sub.", lower_sub, NULL},
    {"prmt", lower_prmt, NULL},
    {"convert.from.fp16.", lower_from_half, NULL},
};

/* PTX of several instructions, by what it does first beside declaring and moving, and by its operands. */
static const struct {
    InstructionRow row;
    uint32_t operands;
} sequences[] = {
    {{"add.cc.u32", lower_wide_add, NULL}, 4},       {{"sub.cc.u32", lower_wide_sub, NULL}, 4},
    {{"mul.lo.u32", lower_wide_mul, NULL}, 2},       {{"mad.lo.cc.u32", lower_wide_mad, NULL}, 3},
    {{"setp.equ.f64", lower_select_equal, NULL}, 4},
};

static bool begins_with(const char *text, const InstructionRow *row)
{
    return !strncmp(text, row->start, strlen(row->start));
}

const InstructionRow *find_instruction(const char *operation)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (begins_with(operation, &rows[i]))
            return &rows[i];
    return NULL;
}

const InstructionRow *find_sequence(const char *first, uint32_t operands)
{
    for (size_t i = 0; i < sizeof sequences / sizeof sequences[0]; i++)
        if (begins_with(first, &sequences[i].row) && operands == sequences[i].operands)
            return &sequences[i].row;
    return NULL;
}
