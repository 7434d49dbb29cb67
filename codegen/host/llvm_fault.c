/* Narrow recurrences (LLVM 21 and 22; llvm-project #191498 mends it): where an index of a loop is cut to some bits, as in
 * rows[i][i % 4], the loop vectorizer takes the cut value for one that grows by a step, and tests at run time that it does
 * not wrap. Of two such tests it leaves one out when the other is of a wider value: i as 6 bits does not wrap, hence i as 2
 * bits does not, which is wrong, and what the loop loads is not what it names.
 *
 * Only widths that differ are confused. So that the vectorizer sees one width, values of less than 32 bits are hidden from it
 * behind a freeze, which means nothing else and is taken away by what runs behind it. A value of few bits wraps in nearly
 * every loop that is worth a vector: the test would have failed. */
#include "codegen/host/llvm_fault.h"

#include <stdbool.h>
#include <stdint.h>

/* Comparisons of one lane (LLVM 22, AVX-512): where of a comparison of 8 or more doubles only the first lane is asked for, as
 * behind the last step of a warp's search for its largest number, the code generator compares that lane alone. Of an operand
 * that is a permutation, vpermpd, it makes one of two lanes, vpermilpd, and hands on the numbers of lanes as they were, of which
 * that instruction reads another bit: lane 1 becomes lane 0. Such comparisons are written as what they become, one of two
 * numbers. */
/* How far the search for a phi goes; a value behind it counts as one that changes with the loop. */
enum { DEEPEST = 6, WIDEST_HIDDEN = 31 };

static bool is_integer(LLVMValueRef value) { return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMIntegerTypeKind; }

/* Whether the value may be a sum of multiples of loops' counters. */
static bool may_be_recurrence(LLVMValueRef value, int depth)
{
    if (!LLVMIsAInstruction(value))
        return false;
    if (LLVMIsAPHINode(value) || !depth)
        return true;
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMShl:
    case LLVMOr:
    case LLVMXor:
        return may_be_recurrence(LLVMGetOperand(value, 0), depth - 1) ||
               may_be_recurrence(LLVMGetOperand(value, 1), depth - 1);
    case LLVMAnd:
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMSExt: return may_be_recurrence(LLVMGetOperand(value, 0), depth - 1);
    default: return false;
    }
}

/* value & 0b11..1 of few bits. */
static bool is_cut_by_mask(LLVMValueRef value)
{
    LLVMValueRef mask = LLVMGetOperand(value, 1);
    if (!LLVMIsAConstantInt(mask) || LLVMGetIntTypeWidth(LLVMTypeOf(mask)) > 64)
        return false;
    unsigned long long bits = LLVMConstIntGetZExtValue(mask);
    return bits && !(bits & (bits + 1)) && !(bits >> WIDEST_HIDDEN);
}

/* The operand that hides the instruction from the vectorizer once it is frozen; -1: there is nothing to hide. */
static int operand_to_freeze(LLVMValueRef value)
{
    if (!is_integer(value))
        return -1;
    LLVMOpcode opcode = LLVMGetInstructionOpcode(value);
    bool is_mask = opcode == LLVMAnd && is_cut_by_mask(value);
    bool is_extension = (opcode == LLVMZExt || opcode == LLVMSExt) &&
                        LLVMGetIntTypeWidth(LLVMTypeOf(LLVMGetOperand(value, 0))) <= WIDEST_HIDDEN;
    return (is_mask || is_extension) && may_be_recurrence(LLVMGetOperand(value, 0), DEEPEST) ? is_mask : -1;
}

void llvm_avoid_faults(LLVMValueRef function)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetTypeContext(LLVMTypeOf(function)));
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef value = LLVMGetFirstInstruction(block); value; value = LLVMGetNextInstruction(value)) {
            int operand = operand_to_freeze(value);
            if (operand < 0)
                continue;
            LLVMPositionBuilderBefore(builder, value);
            LLVMSetOperand(value, (unsigned)operand,
                           LLVMBuildFreeze(builder, LLVMGetOperand(value, (unsigned)operand), ""));
        }
    LLVMDisposeBuilder(builder);
}

/* --- comparisons of one lane -------------------------------------------------------------------------------------------- */

enum { MOST_LANES = 64, LEAST_LANES = 8, MOST_USES = 256 };
static const uint64_t all_lanes = UINT64_MAX, first_lane = 1;

/* 0: it is no vector, or has too many. */
static unsigned lanes_of(LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    unsigned lanes = LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetVectorSize(type) : 0;
    return lanes <= MOST_LANES ? lanes : 0;
}

static uint64_t lane_of_number(LLVMValueRef number)
{
    uint64_t lane = LLVMIsAConstantInt(number) ? LLVMConstIntGetZExtValue(number) : MOST_LANES;
    return lane < MOST_LANES ? first_lane << lane : all_lanes;
}

static uint64_t lanes_asked_for(LLVMValueRef value, int depth, int *uses);

/* Which lanes of the operand a shuffle takes for those of its own that are asked for. */
static uint64_t lanes_shuffled(LLVMValueRef shuffle, LLVMValueRef operand, int depth, int *uses)
{
    uint64_t asked = lanes_asked_for(shuffle, depth, uses), taken = 0;
    unsigned lanes = lanes_of(operand), count = LLVMGetNumMaskElements(shuffle);
    if (!lanes || count > MOST_LANES)
        return all_lanes;
    for (unsigned i = 0; i < count; i++) {
        int from = asked >> i & 1 ? LLVMGetMaskValue(shuffle, i) : LLVMGetUndefMaskElem();
        if (from != LLVMGetUndefMaskElem() && LLVMGetOperand(shuffle, (unsigned)from >= lanes) == operand)
            taken |= first_lane << ((unsigned)from % lanes);
    }
    return taken;
}

static uint64_t lanes_used(LLVMValueRef user, LLVMValueRef value, int depth, int *uses)
{
    LLVMOpcode opcode = LLVMIsAInstruction(user) ? LLVMGetInstructionOpcode(user) : LLVMRet;
    if (opcode == LLVMExtractElement)
        return lane_of_number(LLVMGetOperand(user, 1));
    if (opcode == LLVMShuffleVector)
        return lanes_shuffled(user, value, depth, uses);
    bool is_each_lane = opcode == LLVMSelect || opcode == LLVMFCmp || opcode == LLVMICmp || opcode == LLVMFreeze ||
                        LLVMIsABinaryOperator(user) || LLVMIsAUnaryOperator(user) || LLVMIsACastInst(user);
    return is_each_lane && lanes_of(user) == lanes_of(value) ? lanes_asked_for(user, depth, uses) : all_lanes;
}

/* A bit for each; all of them where that is not found out. */
static uint64_t lanes_asked_for(LLVMValueRef value, int depth, int *uses)
{
    uint64_t asked = 0;
    if (!depth)
        return all_lanes;
    for (LLVMUseRef use = LLVMGetFirstUse(value); use && asked != all_lanes; use = LLVMGetNextUse(use))
        asked |= --*uses < 0 ? all_lanes : lanes_used(LLVMGetUser(use), value, depth - 1, uses);
    return asked;
}

static bool compares_one_lane(LLVMValueRef value)
{
    int uses = MOST_USES;
    if (!LLVMIsAFCmpInst(value) || lanes_of(value) < LEAST_LANES ||
        LLVMGetTypeKind(LLVMGetElementType(LLVMTypeOf(LLVMGetOperand(value, 0)))) != LLVMDoubleTypeKind)
        return false;
    return lanes_asked_for(value, DEEPEST, &uses) == first_lane;
}

static void compare_numbers(LLVMBuilderRef builder, LLVMValueRef value)
{
    LLVMValueRef lane = LLVMConstNull(LLVMInt32TypeInContext(LLVMGetTypeContext(LLVMTypeOf(value)))), numbers[2];
    LLVMPositionBuilderBefore(builder, value);
    for (unsigned i = 0; i < 2; i++)
        numbers[i] = LLVMBuildExtractElement(builder, LLVMGetOperand(value, i), lane, "");
    LLVMValueRef is_so = LLVMBuildFCmp(builder, LLVMGetFCmpPredicate(value), numbers[0], numbers[1], "");
    LLVMReplaceAllUsesWith(value, LLVMBuildInsertElement(builder, LLVMConstNull(LLVMTypeOf(value)), is_so, lane, ""));
    LLVMInstructionEraseFromParent(value);
}

/* --- bfloat16 between blocks (LLVM 22, AVX512_BF16): it is in a register as a float32, and what takes it rounds it again, by an
 * instruction that makes 0 of subnormal numbers. So its bits go from block to block. ------------------------------------ */

static bool is_bfloat(LLVMValueRef value) { return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMBFloatTypeKind; }

/* The bits of a bfloat16, made where it is made. */
static LLVMValueRef word_of(LLVMBuilderRef builder, LLVMValueRef value, LLVMTypeRef word)
{
    if (LLVMIsConstant(value))
        return LLVMConstBitCast(value, word);
    LLVMValueRef next = LLVMIsAInstruction(value)
                            ? LLVMGetNextInstruction(value)
                            : LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(LLVMGetParamParent(value)));
    LLVMPositionBuilderBefore(builder, next);
    return LLVMBuildBitCast(builder, value, word, "");
}

/* An operand that another block has made comes as its bits. */
static void take_words(LLVMBuilderRef builder, LLVMValueRef user, LLVMTypeRef word)
{
    for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(user); i++) {
        LLVMValueRef value = LLVMGetOperand(user, i);
        if (!LLVMIsAInstruction(value) || !is_bfloat(value) ||
            LLVMGetInstructionParent(value) == LLVMGetInstructionParent(user))
            continue;
        LLVMValueRef bits = word_of(builder, value, word);
        LLVMPositionBuilderBefore(builder, user);
        LLVMSetOperand(user, i, LLVMBuildBitCast(builder, bits, LLVMTypeOf(value), ""));
    }
}

static void join_words(LLVMBuilderRef builder, LLVMValueRef phi, LLVMTypeRef word)
{
    unsigned count = LLVMCountIncoming(phi);
    LLVMPositionBuilderBefore(builder, phi);
    LLVMValueRef joined = LLVMBuildPhi(builder, word, "");
    LLVMValueRef first = LLVMGetNextInstruction(phi);
    while (LLVMIsAPHINode(first))
        first = LLVMGetNextInstruction(first);
    LLVMPositionBuilderBefore(builder, first);
    LLVMReplaceAllUsesWith(phi, LLVMBuildBitCast(builder, joined, LLVMTypeOf(phi), ""));
    for (unsigned i = 0; i < count; i++) {
        LLVMValueRef bits = word_of(builder, LLVMGetIncomingValue(phi, i), word);
        LLVMBasicBlockRef block = LLVMGetIncomingBlock(phi, i);
        LLVMAddIncoming(joined, &bits, &block, 1);
    }
    LLVMInstructionEraseFromParent(phi);
}

static void pass_words(LLVMBuilderRef builder, LLVMValueRef function, LLVMTypeRef word)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef each = LLVMGetFirstInstruction(block), next; each; each = next) {
            next = LLVMGetNextInstruction(each);
            if (LLVMIsAPHINode(each) && is_bfloat(each))
                join_words(builder, each, word);
        }
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef each = LLVMGetFirstInstruction(block); each; each = LLVMGetNextInstruction(each))
            if (!LLVMIsAPHINode(each))
                take_words(builder, each, word);
}

void llvm_avoid_code_faults(LLVMModuleRef module)
{
    LLVMContextRef context = LLVMGetModuleContext(module);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
    for (LLVMValueRef function = LLVMGetFirstFunction(module); function; function = LLVMGetNextFunction(function)) {
        pass_words(builder, function, LLVMInt16TypeInContext(context));
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
            for (LLVMValueRef value = LLVMGetFirstInstruction(block), next; value; value = next) {
                next = LLVMGetNextInstruction(value);
                if (compares_one_lane(value))
                    compare_numbers(builder, value);
            }
    }
    LLVMDisposeBuilder(builder);
}
