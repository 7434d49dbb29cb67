/* Takes the forms that ptxas gets wrong (ptxas_fault.def) out of a module. What is the same for the program is left as LLVM
 * made it. */
#include "codegen/nvptx/ptxas_fault.h"

#include "codegen/emit_tools.h"

/* --- negative numbers ------------------------------------------------------------------------------------------------------------- */
static bool is_constant(LLVMValueRef value, long long constant)
{
    return LLVMIsAConstantInt(value) && LLVMGetIntTypeWidth(LLVMTypeOf(value)) <= 64 &&
           LLVMConstIntGetSExtValue(value) == constant;
}

/* The number of which the value is the negative, as LLVM's passes write it or as the code generator's do; NULL: it is none. */
static LLVMValueRef negated(LLVMValueRef value)
{
    LLVMValueRef operands[2];
    if (!LLVMIsAInstruction(value) || LLVMGetNumOperands(value) != 2)
        return NULL;
    for (unsigned i = 0; i < 2; i++)
        operands[i] = LLVMGetOperand(value, i);
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMSub: return is_constant(operands[0], 0) ? operands[1] : NULL;
    case LLVMMul: return is_constant(operands[1], -1) ? operands[0] : is_constant(operands[0], -1) ? operands[1] : NULL;
    default: return NULL;
    }
}

/* --- high_word: differences, in 64 bits, of high words --------------------------------------------------------------------------- */
/* How far the search for a value's width goes through what it is computed from. */
enum { DEEPEST = 4 };

static unsigned smaller(unsigned a, unsigned b) { return a < b ? a : b; }
static unsigned larger(unsigned a, unsigned b) { return a > b ? a : b; }

static unsigned bits_of(LLVMValueRef value, int depth);

static unsigned bits_of_incoming(LLVMValueRef phi, int depth)
{
    unsigned most = 0;
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++)
        most = larger(most, bits_of(LLVMGetIncomingValue(phi, i), depth));
    return most;
}

static unsigned bits_of_zext(LLVMValueRef value, int depth)
{
    LLVMValueRef narrow = LLVMGetOperand(value, 0);
    unsigned width = LLVMGetIntTypeWidth(LLVMTypeOf(narrow));
    return smaller(bits_of(narrow, depth), LLVMGetNNeg(value) ? width - 1 : width);
}

/* What a shift or a division by a constant leaves of the dividend's bits. */
static unsigned bits_less(unsigned bits, LLVMValueRef by, bool is_shift)
{
    if (!LLVMIsAConstantInt(by))
        return bits;
    unsigned long long constant = LLVMConstIntGetZExtValue(by);
    unsigned less = is_shift ? (unsigned)smaller(constant > 64 ? 64 : (unsigned)constant, bits)
                             : 63 - (unsigned)__builtin_clzll(constant | 1);
    return bits > less ? bits - less : 0;
}

/* No more than this many of the lowest bits of an unsigned value are set. */
static unsigned bits_of(LLVMValueRef value, int depth)
{
    unsigned width = LLVMGetIntTypeWidth(LLVMTypeOf(value));
    if (LLVMIsAConstantInt(value) && width <= 64) {
        unsigned long long constant = LLVMConstIntGetZExtValue(value);
        return constant ? 64 - (unsigned)__builtin_clzll(constant) : 0;
    }
    if (!LLVMIsAInstruction(value) || !depth--)
        return width;
    if (LLVMIsAPHINode(value))
        return bits_of_incoming(value, depth);
#define OPERAND(i) LLVMGetOperand(value, i)
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMZExt: return bits_of_zext(value, depth);
    case LLVMTrunc: return smaller(width, bits_of(OPERAND(0), depth));
    case LLVMLShr: return bits_less(bits_of(OPERAND(0), depth), OPERAND(1), true);
    case LLVMUDiv: return bits_less(bits_of(OPERAND(0), depth), OPERAND(1), false);
    case LLVMAnd:
    case LLVMURem: return smaller(bits_of(OPERAND(0), depth), bits_of(OPERAND(1), depth));
    case LLVMOr:
    case LLVMXor: return larger(bits_of(OPERAND(0), depth), bits_of(OPERAND(1), depth));
    case LLVMSelect: return larger(bits_of(OPERAND(1), depth), bits_of(OPERAND(2), depth));
    default: return width;
    }
#undef OPERAND
}

static LLVMValueRef as_word(Emitter *emitter, LLVMValueRef value)
{
    if (LLVMIsAZExtInst(value) && LLVMTypeOf(LLVMGetOperand(value, 0)) == emitter->i32)
        return LLVMGetOperand(value, 0);
    return LLVMBuildTrunc(emitter->builder, value, emitter->i32, "");
}

/* Whether ptxas may see that a value is a product's high word: what it is computed from leads to a division, a shift or a
 * call, or too far to tell. is_wide: more than 32 bits for all that is known here; LLVM, which makes a division a product,
 * may know better. */
static bool may_be_high_word(LLVMValueRef value, bool is_wide, int depth)
{
    if (!LLVMIsAInstruction(value))
        return false;
    if (!depth--)
        return true;
    bool may = false;
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMUDiv:
    case LLVMSDiv: return true;
    case LLVMLShr:
    case LLVMAShr:
    case LLVMCall: return !is_wide;
    case LLVMZExt:
    case LLVMTrunc:
    case LLVMAnd: return may_be_high_word(LLVMGetOperand(value, 0), is_wide, depth);
    case LLVMSelect:
        return may_be_high_word(LLVMGetOperand(value, 1), is_wide, depth) ||
               may_be_high_word(LLVMGetOperand(value, 2), is_wide, depth);
    case LLVMPHI:
        for (unsigned i = 0; !may && i < LLVMCountIncoming(value); i++)
            may = may_be_high_word(LLVMGetIncomingValue(value, i), is_wide, depth);
        return may;
    default: return false;
    }
}

/* from - what, both of 64 bits, in words: the high one takes a comparison's borrow. */
static LLVMValueRef difference_of_words(Emitter *emitter, LLVMValueRef from, LLVMValueRef what)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef x = as_word(emitter, from), y = as_word(emitter, what), shift = LLVMConstInt(emitter->i64, 32, false);
    LLVMValueRef x_high = as_word(emitter, LLVMBuildLShr(builder, from, shift, ""));
    LLVMValueRef y_high = as_word(emitter, LLVMBuildLShr(builder, what, shift, ""));
    LLVMValueRef low = LLVMBuildZExt(builder, LLVMBuildSub(builder, x, y, ""), emitter->i64, "");
    LLVMValueRef borrow = LLVMBuildSExt(builder, LLVMBuildICmp(builder, LLVMIntULT, x, y, ""), emitter->i32, "");
    LLVMValueRef high = LLVMBuildAdd(builder, LLVMBuildSub(builder, x_high, y_high, ""), borrow, "");
    high = LLVMBuildZExt(builder, high, emitter->i64, "");
    return LLVMBuildOr(builder, low, LLVMBuildShl(builder, high, shift, ""), "");
}

/* Whether the value is from - what: a difference, or a sum with a negative number. */
static bool is_difference(LLVMValueRef value, LLVMValueRef *from, LLVMValueRef *what)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(value);
    if (opcode != LLVMSub && opcode != LLVMAdd)
        return false;
    *from = LLVMGetOperand(value, 0);
    *what = LLVMGetOperand(value, 1);
    if (opcode == LLVMSub)
        return true;
    LLVMValueRef first = negated(*from), second = negated(*what);
    if (!second && first)
        *from = *what;
    *what = second ? second : first;
    return *what != NULL;
}

/* Where both prove to be smaller than 2^31, their difference is one of 32 bits. In PTX no high word is left (ptxas_text.c). */
static void ptxas_avoid_high_word(Emitter *emitter, LLVMValueRef instruction)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef from, what, result;
    if (!emitter->for_nvvm || LLVMTypeOf(instruction) != emitter->i64 || !is_difference(instruction, &from, &what))
        return;
    unsigned bits = bits_of(from, DEEPEST);
    if (!may_be_high_word(from, bits > 32, DEEPEST))
        return;
    LLVMPositionBuilderBefore(builder, instruction);
    if (bits < 32 && bits_of(what, DEEPEST) < 32) {
        LLVMValueRef x = as_word(emitter, from), y = as_word(emitter, what);
        result = LLVMBuildNSWSub(builder, x, y, "");
        result = LLVMBuildSExt(builder, result, emitter->i64, "");
    } else {
        result = difference_of_words(emitter, from, what);
    }
    LLVMReplaceAllUsesWith(instruction, result);
    LLVMInstructionEraseFromParent(instruction);
}

/* --- shifted_negative: negative numbers whose lowest bits are cut off ------------------------------------------------------------ */
static LLVMValueRef negated_wide(Emitter *emitter, LLVMValueRef value)
{
    if (!LLVMIsATruncInst(value))
        return negated(value);
    LLVMValueRef wide = negated(LLVMGetOperand(value, 0));
    return wide ? LLVMBuildTrunc(emitter->builder, wide, LLVMTypeOf(value), "") : NULL;
}

/* -x is ~(x - 1), and what a shift leaves of ~y are the other bits of what it leaves of y. */
static void ptxas_avoid_shifted_negative(Emitter *emitter, LLVMValueRef instruction)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
    if (opcode != LLVMAShr && opcode != LLVMLShr)
        return;
    LLVMPositionBuilderBefore(builder, instruction);
    LLVMValueRef x = negated_wide(emitter, LLVMGetOperand(instruction, 0)), by = LLVMGetOperand(instruction, 1);
    if (!x)
        return;
    LLVMValueRef all = LLVMConstAllOnes(LLVMTypeOf(x)), less = LLVMBuildAdd(builder, x, all, "");
    LLVMValueRef left = LLVMBuildBinOp(builder, opcode, less, by, "");
    LLVMValueRef result = LLVMBuildXor(builder, left, LLVMBuildBinOp(builder, opcode, all, by, ""), "");
    LLVMReplaceAllUsesWith(instruction, result);
    LLVMInstructionEraseFromParent(instruction);
}

/* --- all of them ------------------------------------------------------------------------------------------------------------------ */
static void avoid_in_block(Emitter *emitter, LLVMBasicBlockRef block)
{
#define REWRITTEN(id, seen, what)                                                       \
    for (LLVMValueRef each = LLVMGetFirstInstruction(block), next; each; each = next) { \
        next = LLVMGetNextInstruction(each);                                            \
        ptxas_avoid_##id(emitter, each);                                                \
    }
#include "codegen/nvptx/ptxas_fault.def"
}

void ptxas_avoid_faults_of(void *emitter, LLVMValueRef function)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        avoid_in_block(emitter, block);
}

void ptxas_avoid_faults(Emitter *emitter)
{
    LLVMValueRef function = LLVMGetFirstFunction(emitter->llvm_module);
    for (; function; function = LLVMGetNextFunction(function))
        ptxas_avoid_faults_of(emitter, function);
}
