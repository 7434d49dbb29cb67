/* What came after LLVM 7 and stands in a module behind our passes: integer minima and saturation, funnel shifts, freeze, and
 * whatever LLVM makes of bfloat16, which LLVM 7 does not have and which is only its bits here. */
#include "codegen/nvptx/nvvm/llvm7_rewrite.h"

#include <string.h>

#include "codegen/emit_tools.h"
#include "codegen/nvptx/nvvm/nvvm_ptx.h"

typedef LLVMValueRef (*Expander)(Emitter *emitter, LLVMValueRef call, LLVMValueRef *operands);

static LLVMValueRef choose(Emitter *emitter, LLVMIntPredicate predicate, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef is_first = LLVMBuildICmp(emitter->builder, predicate, a, b, "");
    return LLVMBuildSelect(emitter->builder, is_first, a, b, "");
}

static LLVMValueRef expand_smin(Emitter *emitter, LLVMValueRef call, LLVMValueRef *operands)
{
    (void)call;
    return choose(emitter, LLVMIntSLT, operands[0], operands[1]);
}

static LLVMValueRef expand_smax(Emitter *emitter, LLVMValueRef call, LLVMValueRef *operands)
{
    (void)call;
    return choose(emitter, LLVMIntSGT, operands[0], operands[1]);
}

static LLVMValueRef expand_umin(Emitter *emitter, LLVMValueRef call, LLVMValueRef *operands)
{
    (void)call;
    return choose(emitter, LLVMIntULT, operands[0], operands[1]);
}

static LLVMValueRef expand_umax(Emitter *emitter, LLVMValueRef call, LLVMValueRef *operands)
{
    (void)call;
    return choose(emitter, LLVMIntUGT, operands[0], operands[1]);
}

static LLVMValueRef expand_abs(Emitter *emitter, LLVMValueRef call, LLVMValueRef *operands)
{
    LLVMValueRef negative = LLVMBuildSub(emitter->builder, LLVMConstNull(LLVMTypeOf(call)), operands[0], "");
    return choose(emitter, LLVMIntSGT, operands[0], negative);
}

/* -1, 0 or 1. */
static LLVMValueRef three_way(Emitter *emitter, LLVMValueRef call, LLVMValueRef *operands, LLVMIntPredicate more,
                              LLVMIntPredicate less)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMTypeRef type = LLVMTypeOf(call);
    LLVMValueRef above = LLVMBuildZExt(builder, LLVMBuildICmp(builder, more, operands[0], operands[1], ""), type, "");
    LLVMValueRef below = LLVMBuildZExt(builder, LLVMBuildICmp(builder, less, operands[0], operands[1], ""), type, "");
    return LLVMBuildSub(builder, above, below, "");
}

static LLVMValueRef expand_scmp(Emitter *emitter, LLVMValueRef call, LLVMValueRef *operands)
{
    return three_way(emitter, call, operands, LLVMIntSGT, LLVMIntSLT);
}

static LLVMValueRef expand_ucmp(Emitter *emitter, LLVMValueRef call, LLVMValueRef *operands)
{
    return three_way(emitter, call, operands, LLVMIntUGT, LLVMIntULT);
}

/* --- saturation ------------------------------------------------------------------------------------------------------------ */

static LLVMValueRef expand_uadd_sat(Emitter *emitter, LLVMValueRef call, LLVMValueRef *operands)
{
    LLVMValueRef sum = LLVMBuildAdd(emitter->builder, operands[0], operands[1], "");
    LLVMValueRef is_over = LLVMBuildICmp(emitter->builder, LLVMIntULT, sum, operands[0], "");
    return LLVMBuildSelect(emitter->builder, is_over, LLVMConstAllOnes(LLVMTypeOf(call)), sum, "");
}

static LLVMValueRef expand_usub_sat(Emitter *emitter, LLVMValueRef call, LLVMValueRef *operands)
{
    (void)call;
    LLVMValueRef larger = choose(emitter, LLVMIntUGT, operands[0], operands[1]);
    return LLVMBuildSub(emitter->builder, larger, operands[1], "");
}

/* The result has the wrong sign where it overflows: `odd` is negative then. The limit is the one of the first operand's sign. */
static LLVMValueRef saturate(Emitter *emitter, LLVMValueRef result, LLVMValueRef first, LLVMValueRef odd)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMTypeRef type = LLVMTypeOf(result);
    LLVMValueRef zero = LLVMConstNull(type), one = LLVMConstInt(type, 1, false), ones = LLVMConstAllOnes(type);
    LLVMValueRef top = LLVMConstInt(type, LLVMGetIntTypeWidth(type) - 1, false);
    LLVMValueRef lowest = LLVMBuildShl(builder, one, top, "");
    LLVMValueRef highest = LLVMBuildXor(builder, lowest, ones, "");
    LLVMValueRef is_negative = LLVMBuildICmp(builder, LLVMIntSLT, first, zero, "");
    LLVMValueRef limit = LLVMBuildSelect(builder, is_negative, lowest, highest, "");
    LLVMValueRef is_over = LLVMBuildICmp(builder, LLVMIntSLT, odd, zero, "");
    return LLVMBuildSelect(builder, is_over, limit, result, "");
}

static LLVMValueRef expand_sadd_sat(Emitter *emitter, LLVMValueRef call, LLVMValueRef *operands)
{
    LLVMBuilderRef builder = emitter->builder;
    if (LLVMGetTypeKind(LLVMTypeOf(call)) != LLVMIntegerTypeKind)
        return NULL;
    LLVMValueRef sum = LLVMBuildAdd(builder, operands[0], operands[1], "");
    LLVMValueRef first = LLVMBuildXor(builder, sum, operands[0], "");
    LLVMValueRef second = LLVMBuildXor(builder, sum, operands[1], "");
    return saturate(emitter, sum, operands[0], LLVMBuildAnd(builder, first, second, ""));
}

static LLVMValueRef expand_ssub_sat(Emitter *emitter, LLVMValueRef call, LLVMValueRef *operands)
{
    LLVMBuilderRef builder = emitter->builder;
    if (LLVMGetTypeKind(LLVMTypeOf(call)) != LLVMIntegerTypeKind)
        return NULL;
    LLVMValueRef difference = LLVMBuildSub(builder, operands[0], operands[1], "");
    LLVMValueRef signs = LLVMBuildXor(builder, operands[0], operands[1], "");
    LLVMValueRef turns = LLVMBuildXor(builder, difference, operands[0], "");
    return saturate(emitter, difference, operands[0], LLVMBuildAnd(builder, signs, turns, ""));
}

/* A float as an integer, NaN as 0. PTX's conversion goes to the limits of 32 and 64 bits; smaller ones are between them. */
static LLVMValueRef expand_to_integer(Emitter *emitter, LLVMValueRef call, LLVMValueRef *operands, bool is_signed)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMTypeRef type = LLVMTypeOf(call), from = LLVMTypeOf(operands[0]);
    if (LLVMGetTypeKind(type) != LLVMIntegerTypeKind || LLVMGetIntTypeWidth(type) > 64 ||
        (from != emitter->f32 && from != emitter->f64))
        return NULL;
    unsigned bits = LLVMGetIntTypeWidth(type), wide_bits = bits > 32 ? 64 : 32;
    LLVMTypeRef wide = LLVMIntTypeInContext(emitter->context, wide_bits);
    const char *ptx = arena_format(emitter->arena, "cvt.rzi.%c%u.f%d $0, $1;", is_signed ? 's' : 'u', wide_bits,
                                   from == emitter->f64 ? 64 : 32);
    LLVMValueRef number = call_ptx(emitter, ptx, wide, operands, 1, PTX_COMPUTES);
    if (bits < wide_bits) {
        uint64_t highest = (1ull << (bits - is_signed)) - 1;
        LLVMIntPredicate less = is_signed ? LLVMIntSLT : LLVMIntULT;
        number = choose(emitter, less, number, LLVMConstInt(wide, highest, false));
        if (is_signed)
            number = choose(emitter, LLVMIntSGT, number, LLVMConstInt(wide, ~highest, true));
        number = LLVMBuildTrunc(builder, number, type, "");
    }
    LLVMValueRef is_number = LLVMBuildFCmp(builder, LLVMRealORD, operands[0], operands[0], "");
    return LLVMBuildSelect(builder, is_number, number, LLVMConstNull(type), "");
}

static LLVMValueRef expand_fptosi_sat(Emitter *emitter, LLVMValueRef call, LLVMValueRef *operands)
{
    return expand_to_integer(emitter, call, operands, true);
}

static LLVMValueRef expand_fptoui_sat(Emitter *emitter, LLVMValueRef call, LLVMValueRef *operands)
{
    return expand_to_integer(emitter, call, operands, false);
}

/* --- shifts ---------------------------------------------------------------------------------------------------------------- */

/* The upper (left) or lower part of two words side by side, shifted; by 0 it is one of them. */
static LLVMValueRef funnel(Emitter *emitter, LLVMValueRef call, LLVMValueRef *operands, bool is_left)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMTypeRef type = LLVMTypeOf(call);
    unsigned bits = LLVMGetTypeKind(type) == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(type) : 0;
    if (!bits || bits & (bits - 1))
        return NULL;
    LLVMValueRef most = LLVMConstInt(type, bits - 1, false), one = LLVMConstInt(type, 1, false);
    LLVMValueRef shift = LLVMBuildAnd(builder, operands[2], most, "");
    LLVMValueRef rest = LLVMBuildXor(builder, shift, most, "");
    LLVMValueRef upper = operands[0], lower = operands[1];
    if (is_left) {
        upper = LLVMBuildShl(builder, upper, shift, "");
        lower = LLVMBuildLShr(builder, LLVMBuildLShr(builder, lower, one, ""), rest, "");
    } else {
        upper = LLVMBuildShl(builder, LLVMBuildShl(builder, upper, one, ""), rest, "");
        lower = LLVMBuildLShr(builder, lower, shift, "");
    }
    return LLVMBuildOr(builder, upper, lower, "");
}

static LLVMValueRef expand_fshl(Emitter *emitter, LLVMValueRef call, LLVMValueRef *operands)
{
    return funnel(emitter, call, operands, true);
}

static LLVMValueRef expand_fshr(Emitter *emitter, LLVMValueRef call, LLVMValueRef *operands)
{
    return funnel(emitter, call, operands, false);
}

/* --- floats ------------------------------------------------------------------------------------------------------------------- */

static LLVMValueRef call_older(Emitter *emitter, const char *name, LLVMValueRef call, LLVMValueRef *operands)
{
    LLVMValueRef made = call_llvm(emitter, name, LLVMTypeOf(call), LLVMGetNumArgOperands(call), operands);
    return with_flags(made, LLVMCanValueUseFastMathFlags(call) ? LLVMGetFastMathFlags(call) : LLVMFastMathNone);
}

/* Of the two of a NaN and a number the number, as PTX has them. */
static LLVMValueRef expand_minimumnum(Emitter *emitter, LLVMValueRef call, LLVMValueRef *operands)
{
    return call_older(emitter, "llvm.minnum", call, operands);
}

static LLVMValueRef expand_maximumnum(Emitter *emitter, LLVMValueRef call, LLVMValueRef *operands)
{
    return call_older(emitter, "llvm.maxnum", call, operands);
}

static LLVMValueRef expand_roundeven(Emitter *emitter, LLVMValueRef call, LLVMValueRef *operands)
{
    return call_older(emitter, "llvm.rint", call, operands);
}

static LLVMTypeRef bits_of_bfloat(Emitter *emitter, LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMBFloatTypeKind ? LLVMInt16TypeInContext(emitter->context) : NULL;
}

/* A bfloat16 without its sign. LLVM finds these two in operations on the bits. */
static LLVMValueRef expand_fabs(Emitter *emitter, LLVMValueRef call, LLVMValueRef *operands)
{
    LLVMTypeRef bits = bits_of_bfloat(emitter, LLVMTypeOf(call));
    if (!bits)
        return call;
    LLVMValueRef kept = LLVMBuildBitCast(emitter->builder, operands[0], bits, "");
    kept = LLVMBuildAnd(emitter->builder, kept, LLVMConstInt(bits, 0x7fff, false), "");
    return LLVMBuildBitCast(emitter->builder, kept, LLVMTypeOf(call), "");
}

static LLVMValueRef expand_copysign(Emitter *emitter, LLVMValueRef call, LLVMValueRef *operands)
{
    LLVMTypeRef bits = bits_of_bfloat(emitter, LLVMTypeOf(call));
    if (!bits)
        return call;
    LLVMValueRef size = LLVMBuildBitCast(emitter->builder, operands[0], bits, "");
    LLVMValueRef sign = LLVMBuildBitCast(emitter->builder, operands[1], bits, "");
    size = LLVMBuildAnd(emitter->builder, size, LLVMConstInt(bits, 0x7fff, false), "");
    sign = LLVMBuildAnd(emitter->builder, sign, LLVMConstInt(bits, 0x8000, false), "");
    return LLVMBuildBitCast(emitter->builder, LLVMBuildOr(emitter->builder, size, sign, ""), LLVMTypeOf(call), "");
}

static void rewrite_negation(Emitter *emitter, LLVMValueRef instruction)
{
    LLVMTypeRef type = LLVMTypeOf(instruction), bits = bits_of_bfloat(emitter, type);
    if (!bits)
        return;
    LLVMPositionBuilderBefore(emitter->builder, instruction);
    LLVMValueRef made = LLVMBuildBitCast(emitter->builder, LLVMGetOperand(instruction, 0), bits, "");
    made = LLVMBuildXor(emitter->builder, made, LLVMConstInt(bits, 0x8000, false), "");
    LLVMReplaceAllUsesWith(instruction, LLVMBuildBitCast(emitter->builder, made, type, ""));
    LLVMInstructionEraseFromParent(instruction);
}

/* --- classes of floats ------------------------------------------------------------------------------------------------------ */

/* The bits of llvm.is.fpclass: NaNs first, then from minus infinity to infinity. */
enum { CLASS_SIGNALING, CLASS_QUIET, CLASS_FIRST_NUMBER, CLASS_LAST_NUMBER = 9, NUMBER_KINDS = 4 };

/* low <= bits < high, as unsigned numbers. */
static LLVMValueRef is_between(Emitter *emitter, LLVMValueRef bits, uint64_t low, uint64_t high)
{
    LLVMTypeRef type = LLVMTypeOf(bits);
    LLVMValueRef offset = LLVMBuildSub(emitter->builder, bits, LLVMConstInt(type, low, false), "");
    return LLVMBuildICmp(emitter->builder, LLVMIntULT, offset, LLVMConstInt(type, high - low, false), "");
}

/* Where a kind of number begins without its sign: zero, denormal, normal, infinity, then the NaNs. */
static void find_kinds(LLVMTypeRef type, unsigned bits, uint64_t starts[NUMBER_KINDS + 3])
{
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    unsigned fraction = kind == LLVMHalfTypeKind ? 10 : kind == LLVMBFloatTypeKind ? 7 : bits == 32 ? 23 : 52;
    uint64_t normal = 1ull << fraction, sign = 1ull << (bits - 1), infinity = sign - normal;
    const uint64_t found[NUMBER_KINDS + 3] = {0, 1, normal, infinity, infinity + 1, infinity + normal / 2, sign};
    for (int i = 0; i < NUMBER_KINDS + 3; i++)
        starts[i] = found[i];
}

/* A kind of number with the signs that are asked for; NULL: with none. */
static LLVMValueRef is_kind(Emitter *emitter, LLVMValueRef bits, LLVMValueRef size, uint64_t classes, int kind,
                            const uint64_t *starts)
{
    bool positive = classes >> (CLASS_LAST_NUMBER - (NUMBER_KINDS - 1) + kind) & 1;
    bool negative = classes >> (CLASS_FIRST_NUMBER + (NUMBER_KINDS - 1) - kind) & 1;
    if (!positive && !negative)
        return NULL;
    LLVMValueRef is_it = is_between(emitter, size, starts[kind], starts[kind + 1]);
    if (positive && negative)
        return is_it;
    LLVMIntPredicate sign = positive ? LLVMIntSGE : LLVMIntSLT;
    LLVMValueRef has_sign = LLVMBuildICmp(emitter->builder, sign, bits, LLVMConstNull(LLVMTypeOf(bits)), "");
    return LLVMBuildAnd(emitter->builder, is_it, has_sign, "");
}

static LLVMValueRef expand_is_fpclass(Emitter *emitter, LLVMValueRef call, LLVMValueRef *operands)
{
    (void)call;
    LLVMBuilderRef builder = emitter->builder;
    LLVMTypeRef type = LLVMTypeOf(operands[0]);
    uint64_t classes = LLVMConstIntGetZExtValue(operands[1]), starts[NUMBER_KINDS + 3];
    if (LLVMGetTypeKind(type) == LLVMVectorTypeKind)
        return NULL;
    unsigned width = (unsigned)LLVMSizeOfTypeInBits(emitter->data_layout, type);
    LLVMTypeRef integer = LLVMIntTypeInContext(emitter->context, width);
    find_kinds(type, width, starts);
    LLVMValueRef bits = LLVMBuildBitCast(builder, operands[0], integer, "");
    LLVMValueRef size = LLVMBuildAnd(builder, bits, LLVMConstInt(integer, starts[NUMBER_KINDS + 2] - 1, false), "");
    LLVMValueRef result = LLVMConstNull(emitter->i1);
    for (int kind = 0; kind < NUMBER_KINDS; kind++) {
        LLVMValueRef is_it = is_kind(emitter, bits, size, classes, kind, starts);
        result = is_it ? LLVMBuildOr(builder, result, is_it, "") : result;
    }
    for (int nan = CLASS_SIGNALING; nan <= CLASS_QUIET; nan++)
        if (classes >> nan & 1)
            result =
                LLVMBuildOr(builder, result,
                            is_between(emitter, size, starts[NUMBER_KINDS + nan], starts[NUMBER_KINDS + nan + 1]), "");
    return result;
}

/* --- all of them ------------------------------------------------------------------------------------------------------------ */

static LLVMValueRef expand_assume(Emitter *emitter, LLVMValueRef call, LLVMValueRef *operands)
{
    if (!LLVMGetNumOperandBundles(call)) /* which say what LLVM has found out about pointers */
        return call;
    return call_llvm(emitter, "llvm.assume", NULL, 1, operands);
}

static const struct {
    const char *name;
    Expander expand; /* NULL where it cannot; the call itself where that stays */
} expansions[] = {
    {"llvm.smin", expand_smin},
    {"llvm.smax", expand_smax},
    {"llvm.umin", expand_umin},
    {"llvm.umax", expand_umax},
    {"llvm.abs", expand_abs},
    {"llvm.scmp", expand_scmp},
    {"llvm.ucmp", expand_ucmp},
    {"llvm.uadd.sat", expand_uadd_sat},
    {"llvm.usub.sat", expand_usub_sat},
    {"llvm.sadd.sat", expand_sadd_sat},
    {"llvm.ssub.sat", expand_ssub_sat},
    {"llvm.fptosi.sat", expand_fptosi_sat},
    {"llvm.fptoui.sat", expand_fptoui_sat},
    {"llvm.fshl", expand_fshl},
    {"llvm.fshr", expand_fshr},
    {"llvm.minimumnum", expand_minimumnum},
    {"llvm.maximumnum", expand_maximumnum},
    {"llvm.roundeven", expand_roundeven},
    {"llvm.fabs", expand_fabs},
    {"llvm.copysign", expand_copysign},
    {"llvm.is.fpclass", expand_is_fpclass},
    {"llvm.assume", expand_assume},
};
enum { EXPANSION_COUNT = sizeof expansions / sizeof *expansions, MOST_OPERANDS = 4 };

static Expander find_expander(LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    unsigned id = LLVMIsAFunction(callee) ? LLVMGetIntrinsicID(callee) : 0;
    for (int i = 0; id && i < EXPANSION_COUNT; i++)
        if (id == LLVMLookupIntrinsicID(expansions[i].name, strlen(expansions[i].name)))
            return expansions[i].expand;
    return NULL;
}

/* Intrinsics that LLVM 7 or libNVVM know as they are: a name, or with a point at its end the beginning of names. */
static const char *const known[] = {
#define KNOWN(name) name,
#include "codegen/nvptx/nvvm/llvm7_known.def"
};

static bool is_known(const char *name)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t length = strlen(known[i]);
        if (known[i][length - 1] == '.' ? strncmp(name, known[i], length) == 0 : strcmp(name, known[i]) == 0)
            return true;
    }
    return strncmp(name, "llvm.", 5) != 0;
}

static bool rewrite_call(Emitter *emitter, LLVMValueRef call)
{
    LLVMValueRef operands[MOST_OPERANDS];
    Expander expand = find_expander(call);
    unsigned count = LLVMGetNumArgOperands(call);
    LLVMPositionBuilderBefore(emitter->builder, call);
    for (unsigned i = 0; expand && i < count && i < MOST_OPERANDS; i++)
        operands[i] = LLVMGetOperand(call, i);
    LLVMValueRef made = expand ? expand(emitter, call, operands) : call;
    if (!made || (made == call && !is_known(callee_name(call))))
        return fail_for_llvm7(emitter, call, callee_name(call));
    if (made == call)
        return true;
    if (LLVMTypeOf(call) != emitter->void_type)
        LLVMReplaceAllUsesWith(call, made);
    LLVMInstructionEraseFromParent(call);
    return true;
}

/* An undefined value has to become one value: a move that LLVM does not look into gives it. */
static bool rewrite_freeze(Emitter *emitter, LLVMValueRef instruction)
{
    LLVMTypeRef type = LLVMTypeOf(instruction);
    LLVMValueRef operand = LLVMGetOperand(instruction, 0);
    LLVMPositionBuilderBefore(emitter->builder, instruction);
    if (!LLVMTypeIsSized(type))
        return fail_for_llvm7(emitter, instruction, "freeze");
    uint64_t bits = LLVMSizeOfTypeInBits(emitter->data_layout, type);
    const char *ptx = arena_format(emitter->arena, "mov.b%u $0, $1;", bits == 1 ? 32 : bits < 16 ? 16 : (unsigned)bits);
    LLVMValueRef made = call_ptx(emitter, ptx, type, &operand, 1, PTX_COMPUTES);
    if (!made)
        return fail_for_llvm7(emitter, instruction, "freeze of more than 64 bits");
    LLVMReplaceAllUsesWith(instruction, made);
    LLVMInstructionEraseFromParent(instruction);
    return true;
}

static bool is_atomic(LLVMValueRef instruction)
{
    switch (LLVMGetInstructionOpcode(instruction)) {
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
    case LLVMFence: return true;
    case LLVMLoad:
    case LLVMStore: return LLVMGetOrdering(instruction) != LLVMAtomicOrderingNotAtomic;
    default: return false;
    }
}

static bool rewrite(Emitter *emitter, LLVMValueRef instruction)
{
    if (LLVMIsACallInst(instruction))
        return rewrite_call(emitter, instruction);
    if (is_atomic(instruction))
        return rewrite_atomic(emitter, instruction);
    if (LLVMGetInstructionOpcode(instruction) == LLVMFreeze)
        return rewrite_freeze(emitter, instruction);
    if (LLVMGetInstructionOpcode(instruction) == LLVMFNeg)
        rewrite_negation(emitter, instruction);
    return true;
}

bool rewrite_for_llvm7(Emitter *emitter, LLVMBasicBlockRef block)
{
    for (LLVMValueRef value = LLVMGetFirstInstruction(block), next; value; value = next) {
        next = LLVMGetNextInstruction(value);
        if (!rewrite(emitter, value))
            return false;
    }
    return true;
}

bool fail_for_llvm7(Emitter *emitter, LLVMValueRef where, const char *what)
{
    size_t size;
    LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(where));
    int sm = emitter->target->gpu->sm;
    return diag_fail(emitter->diag, NULL, DIAG_LLVM7, sm / 10, sm % 10, what, LLVMGetValueName2(function, &size));
}
