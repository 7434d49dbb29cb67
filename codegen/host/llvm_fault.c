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
