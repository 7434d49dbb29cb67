/* Takes the forms that ptxas gets wrong (ptxas_fault.def) out of a module. What is the same for the program is left as LLVM
 * made it. */
#include "codegen/nvptx/ptxas_fault.h"

#include "codegen/emit_tools.h"

/* --- high_word: differences of 32-bit values in 64 bits --------------------------------------------------------------------------- */
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

/* The same in words. Where the ranges prove that the difference is one of 32 bits, it is computed there; else the high word
 * is made of a comparison. */
static LLVMValueRef difference(Emitter *emitter, LLVMValueRef from, LLVMValueRef what, bool fits)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef x = as_word(emitter, from), y = as_word(emitter, what);
    if (fits)
        return LLVMBuildSExt(builder, LLVMBuildNSWSub(builder, x, y, ""), emitter->i64, "");
    LLVMValueRef low = LLVMBuildZExt(builder, LLVMBuildSub(builder, x, y, ""), emitter->i64, "");
    LLVMValueRef is_less = LLVMBuildICmp(builder, LLVMIntULT, x, y, "");
    LLVMValueRef high = LLVMConstInt(emitter->i64, 0xffffffff00000000, false);
    high = LLVMBuildSelect(builder, is_less, high, LLVMConstNull(emitter->i64), "");
    return LLVMBuildOr(builder, low, high, "");
}

static void ptxas_avoid_high_word(Emitter *emitter, LLVMValueRef instruction)
{
    if (LLVMGetInstructionOpcode(instruction) != LLVMSub || LLVMTypeOf(instruction) != emitter->i64)
        return;
    LLVMValueRef from = LLVMGetOperand(instruction, 0), what = LLVMGetOperand(instruction, 1);
    unsigned most = larger(bits_of(from, DEEPEST), bits_of(what, DEEPEST));
    if (most > 32 || LLVMIsAConstantInt(from))
        return;
    LLVMPositionBuilderBefore(emitter->builder, instruction);
    LLVMReplaceAllUsesWith(instruction, difference(emitter, from, what, most < 32));
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

void ptxas_avoid_faults(Emitter *emitter)
{
    LLVMValueRef function = LLVMGetFirstFunction(emitter->llvm_module);
    for (; function; function = LLVMGetNextFunction(function))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
            avoid_in_block(emitter, block);
}
